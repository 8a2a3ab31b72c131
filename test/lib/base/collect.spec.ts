import assert from 'node:assert/strict'
import { collect } from '../../../lib/base/collect.ts'

const tooLarge = () => new Error('too large')

/** A sender that uses one buffer for all its chunks. */
async function* countingBytes(count: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(1)
  for (let each = 0; each < count; each++) {
    chunk[0] = each
    yield chunk
  }
}

describe('a whole body', () => {
  it('holds the bytes of its chunks, and none of the chunks, which may have one byte each', async () => {
    const bytes = await collect(countingBytes(1_000), 1_000, tooLarge)
    assert.deepEqual([...bytes], [...Uint8Array.from({ length: 1_000 }, (_, at) => at)])
  })

  it('may be empty, or as long as allowed', async () => {
    assert.equal((await collect(countingBytes(0), 0, tooLarge)).length, 0)
    assert.equal((await collect(countingBytes(1), 1, tooLarge)).length, 1)
    await assert.rejects(collect(countingBytes(2), 1, tooLarge), /too large/)
  })
})
