import { type Clock, deadline } from '../lib/base/clock.ts'
import { within } from '../lib/base/within.ts'

/** The result of the promise, or undefined if the time is up first. */
export async function soon<T>(
  promise: Promise<T>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal
): Promise<T | undefined> {
  const limit = deadline(clock, ms, () => LATE, signal)
  try {
    return await within(promise, limit.signal)
  } catch (error) {
    if (error === LATE) return undefined
    throw error
  } finally {
    limit.clear()
  }
}

const LATE = new Error('the time is up')

/** An iterator whose first `next` has been called already. */
export function startingWith<T>(
  first: Promise<IteratorResult<T, undefined>>,
  rest: AsyncIterator<T, undefined>
): AsyncIterator<T, undefined> {
  let isFirst = true
  return {
    next() {
      if (!isFirst) return rest.next()
      isFirst = false
      return first
    },
    async return() {
      // The result may be unused, so its error must not be unhandled.
      first.catch(() => undefined)
      await rest.return?.()
      return { done: true, value: undefined }
    }
  }
}
