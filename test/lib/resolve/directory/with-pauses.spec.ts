import assert from 'node:assert/strict'
import { withPauses } from '../../../../lib/resolve/directory/with-pauses.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'

const PAUSE_MS = 100

describe('an iterable with its pauses', () => {
  it('yields each item, and each pause', async () => {
    const clock = manualClock()
    const more = Promise.withResolvers<void>()
    const items = async function* () {
      yield 1
      await more.promise
      yield 2
    }
    const seen: Array<number | undefined> = []
    const ended = (async () => {
      for await (const item of withPauses(items(), PAUSE_MS, clock)) seen.push(item)
    })()
    await settle()
    await clock.advance(PAUSE_MS)
    await clock.advance(PAUSE_MS)
    assert.deepEqual(seen, [1, undefined, undefined])
    more.resolve()
    await ended
    assert.deepEqual(seen, [1, undefined, undefined, 2])
  })

  it('throws the error of the iterable', async () => {
    const items = async function* () {
      yield 1
      throw new Error('no more items')
    }
    const seen = withPauses(items(), PAUSE_MS, manualClock())
    assert.deepEqual(await seen.next(), { value: 1, done: false })
    // The iterable fails now, while nobody waits for its next item.
    await new Promise(setImmediate)
    await assert.rejects(seen.next(), /no more items/)
  })

  it('ends at once in a pause, and ends the iterable after its next item', async () => {
    const clock = manualClock()
    const next = Promise.withResolvers<void>()
    let hasEnded = false
    const items = async function* () {
      try {
        await next.promise
        yield 1
      } finally {
        hasEnded = true
      }
    }
    const ended = (async () => {
      for await (const item of withPauses(items(), PAUSE_MS, clock)) if (item === undefined) break
    })()
    await settle()
    await clock.advance(PAUSE_MS)
    await ended
    next.resolve()
    await settle()
    assert.ok(hasEnded)
  })
})
