/**
 * A streamed body that says once when it is over, however it ends: read to its end, failed, or given up by the iterator's
 * `return`. An async generator would not do: `return` before the first `next` skips its `finally`, and `return` while a
 * `next` is waiting waits as well, for as long as the sender is silent.
 */
export function watchBody(
  body: AsyncIterable<Uint8Array>,
  onOver: (isComplete: boolean) => void
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
        throw error
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
