import { type Clock, sleep } from '../../base/clock.ts'
import { ignore } from './ignore.ts'

/** Passes on what an iterable yields, and `undefined` whenever it has yielded nothing for `ms`. */
export async function* withPauses<T>(
  items: AsyncIterable<T>,
  ms: number,
  clock: Clock
): AsyncGenerator<T | undefined, void> {
  const iterator = items[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const pause = new AbortController()
      const isOver = sleep(clock, ms, pause.signal).then(() => undefined, ignore)
      const result = await Promise.race([next, isOver]).finally(() => pause.abort())
      if (result?.done === true) return
      if (result !== undefined) next = iterator.next()
      yield result?.value
    }
  } finally {
    next.catch(ignore)
    // It returns after its next item, for which nobody needs to wait.
    iterator.return?.().catch(ignore)
  }
}
