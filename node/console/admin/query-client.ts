import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { Problem } from './client.ts'

/** Error codes that are retried automatically. Other errors do not go away by themselves. */
const PASSING = new Set(['offline', 'overloaded', 'internal_error'])

export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    // The session has ended, for example in another tab. Then `App` shows the sign-in page.
    if (error instanceof Problem && error.code === 'admin_token_invalid')
      void client.invalidateQueries({ queryKey: ['session'] })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (failures, error) => error instanceof Problem && PASSING.has(error.code) && failures < 2,
        // The node is on this machine, so it is reachable even if the browser is offline.
        networkMode: 'always'
      },
      mutations: { networkMode: 'always' }
    }
  })
  return client
}
