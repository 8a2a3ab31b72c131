import assert from 'node:assert/strict'
import { utf8 } from '../../../lib/base/bytes.ts'
import { watchBody } from '../../../lib/base/watch-body.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { within } from '../../helpers/eventually.ts'

/** A watched body, and its reported ends. */
function watched(body: AsyncIterable<Uint8Array>) {
  const ends: boolean[] = []
  return { ends, body: watchBody(body, (isComplete) => ends.push(isComplete)) }
}

describe('watchBody', () => {
  it('passes the body through and reports its end once', async () => {
    const { body, ends } = watched(streamOf('a', 'b'))
    assert.equal(await textOf(body), 'ab')
    assert.deepEqual(ends, [true])
    assert.deepEqual(await body.next(), { done: true, value: undefined })
    await body.return?.()
    assert.deepEqual(ends, [true])
  })

  it('reports a body that fails', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield utf8('a')
      throw new Error('broken')
    }
    const { body, ends } = watched(broken())
    await assert.rejects(textOf(body), /broken/)
    assert.deepEqual(ends, [false])
    assert.deepEqual(await body.next(), { done: true, value: undefined })
  })

  it('reports a cancelled body and ends its source, even before the first chunk', async () => {
    for (const chunksRead of [0, 1]) {
      let returned = 0
      const inner = streamOf('a', 'b')
      const source: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () => inner.next(),
          return: async () => {
            returned++
            return { done: true, value: undefined }
          }
        })
      }
      const { body, ends } = watched(source)
      for (let i = 0; i < chunksRead; i++) await body.next()
      await body.return?.()
      await body.return?.()
      assert.deepEqual([ends, returned], [[false], 1])
      assert.equal((await body.next()).done, true)
    }
  })

  it('reports a body cancelled during a read, before the source responds', async () => {
    const silence = Promise.withResolvers<void>()
    async function* silent(): AsyncGenerator<Uint8Array> {
      await silence.promise
      yield utf8('late')
    }
    const ends: boolean[] = []
    const body = watchBody(silent(), (isComplete) => {
      ends.push(isComplete)
      silence.reject(new Error('cancelled'))
    })
    const waiting = assert.rejects(body.next(), /cancelled/)
    await within('the end', 1_000, Promise.resolve(body.return?.()))
    await waiting
    assert.deepEqual(ends, [false])
  })
})
