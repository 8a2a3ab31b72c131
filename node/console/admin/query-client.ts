import { QueryClient } from '@tanstack/react-query'
import { Problem } from './client.ts'

/** Worth another try without anybody asking: nothing else changes by itself. */
const PASSING = new Set(['offline', 'overloaded', 'internal_error'])

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (failures, error) => error instanceof Problem && PASSING.has(error.code) && failures < 2,
        // The node is on this machine: being offline says nothing about it.
        networkMode: 'always'
      },
      mutations: { networkMode: 'always' }
    }
  })
}
