import { type UseMutationResult, useQueryClient } from '@tanstack/react-query'
import { useSingle } from './use-single.ts'

/** A change at the node. Afterwards the changed resources are refetched. */
export function useWrite<Input, Output>(
  write: (input: Input) => Promise<Output>,
  /** Names of changed resources, as in `queries.ts`. */
  changes: readonly string[],
  onDone?: (output: Output) => void
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient()
  return useSingle({
    mutationFn: write,
    onSuccess: async (output) => {
      await Promise.all(changes.map((name) => client.invalidateQueries({ queryKey: [name] })))
      onDone?.(output)
    }
  })
}
