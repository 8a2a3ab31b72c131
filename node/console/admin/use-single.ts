import { type DefaultError, useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useRef } from 'react'

/**
 * A mutation that runs once at a time. A button is disabled only when the page is drawn again, so the second click of a double click still
 * arrives, and would for example rotate a key again, and replace the new key by an error.
 */
export function useSingle<Output, Input>(
  options: UseMutationOptions<Output, DefaultError, Input> & {
    readonly mutationFn: (input: Input) => Promise<Output>
  }
): UseMutationResult<Output, DefaultError, Input> {
  const isRunning = useRef(false)
  const { mutationFn } = options
  const mutation = useMutation<Output, DefaultError, Input>({
    ...options,
    mutationFn: async (input) => {
      try {
        return await mutationFn(input)
      } finally {
        isRunning.current = false
      }
    }
  })
  const mutate: typeof mutation.mutate = (...given) => {
    if (isRunning.current) return
    isRunning.current = true
    mutation.mutate(...given)
  }
  return { ...mutation, mutate }
}
