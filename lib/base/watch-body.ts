/**
 * Wraps a streamed body and reports its end once: read to its end, failed, or cancelled by the iterator's `return`. An
 * async generator cannot do this. Its `finally` does not run for a `return` before the first `next`, and a `return`
 * during a `next` waits for the sender.
 *
 * @param errorOf - the error that the reader gets for a failure of `body`. Default: the failure
 */
export function watchBody(
  body: AsyncIterable<Uint8Array>,
  onOver: (isComplete: boolean) => void,
  errorOf: (failure: unknown) => unknown = (failure) => failure
): AsyncIterableIterator<Uint8Array, undefined> {
  let source: AsyncIterator<Uint8Array> | undefined
  let isOver = false
  const over = (isComplete: boolean) => {
    if (isOver) return
    isOver = true
    onOver(isComplete)
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      if (isOver) return { done: true, value: undefined }
      source ??= body[Symbol.asyncIterator]()
      try {
        const result = await source.next()
        if (result.done !== true) return result
      } catch (error) {
        over(false)
        throw errorOf(error)
      }
      over(true)
      return { done: true, value: undefined }
    },
    async return() {
      const wasOver = isOver
      over(false)
      if (!wasOver) await (source ?? body[Symbol.asyncIterator]()).return?.()
      return { done: true, value: undefined }
    }
  }
}
