import { type Clock, sleep } from '../../base/clock.ts'
import { ignore } from '../../base/ignore.ts'

/** Passes on what an iterable yields, and `undefined` whenever it has yielded nothing for `ms`. */
export async function* withPauses<T>(
  items: AsyncIterable<T>,
  ms: number,
  clock: Clock
): AsyncGenerator<T | undefined, void> {
  const iterator = items[Symbol.asyncIterator]()
  const start = () => {
    const started = iterator.next()
    // It may reject while the consumer is busy, before anybody awaits it.
    started.catch(ignore)
    return started
  }
  let next = start()
  try {
    for (;;) {
      const pause = new AbortController()
      const isOver = sleep(clock, ms, pause.signal).then(() => undefined, ignore)
      const result = await Promise.race([next, isOver]).finally(() => pause.abort())
      if (result?.done === true) return
      if (result !== undefined) next = start()
      yield result?.value
    }
  } finally {
    // It returns after its next item, for which nobody needs to wait.
    iterator.return?.().catch(ignore)
  }
}
