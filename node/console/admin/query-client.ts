import { QueryClient } from '@tanstack/react-query'
import { Problem } from './client.ts'

/** Error codes that are retried automatically. Other errors do not go away by themselves. */
const PASSING = new Set(['offline', 'overloaded', 'internal_error'])

export function createQueryClient(): QueryClient {
  return new QueryClient({
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
}
