import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { encode } from 'uint8-varint'
import { BULK_CHUNK_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import { ChunkReader } from '../../../lib/link/chunk-reader.ts'

const written = (chunks: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat(chunks.flatMap((chunk) => [encode(chunk.length), chunk]))

/** Pushes the bytes, cut at the given places. Returns the chunks that were read. */
function read(reader: ChunkReader, bytes: Uint8Array, cuts: readonly number[] = []): Buffer[] {
  const chunks: Buffer[] = []
  let chunk: Uint8Array[] = []
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  let start = 0
  for (const end of ends) {
    reader.push(bytes.subarray(start, end), (part, endsChunk) => {
      chunk.push(part)
      if (!endsChunk) return
      chunks.push(Buffer.concat(chunk))
      chunk = []
    })
    start = end
  }
  return chunks
}

describe('ChunkReader', () => {
  it('restores the chunks from any split of the bytes', () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 400 })
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), fc.array(fc.nat(5_000), { maxLength: 12 }), (chunks, cuts) => {
        const reader = new ChunkReader()
        const found = read(reader, written([...chunks, new Uint8Array(0)]), cuts)
        assert.deepEqual(
          found,
          chunks.map((bytes) => Buffer.from(bytes))
        )
        assert.equal(reader.isComplete, true)
      })
    )
  })

  it('is not complete before the empty chunk', () => {
    const reader = new ChunkReader()
    read(reader, written([Uint8Array.of(1, 2, 3)]))
    assert.equal(reader.isComplete, false)
  })

  it('accepts a chunk of the largest size and none larger', () => {
    const largest = new Uint8Array(BULK_CHUNK_BYTES_MAX)
    assert.equal(read(new ChunkReader(), written([largest]))[0]?.length, BULK_CHUNK_BYTES_MAX)
    assert.throws(() => read(new ChunkReader(), written([new Uint8Array(BULK_CHUNK_BYTES_MAX + 1)])), RangeError)
  })

  it('rejects data after the end, and lengths that do not end', () => {
    assert.throws(() => read(new ChunkReader(), Uint8Array.of(0, 0)), RangeError)
    assert.throws(() => read(new ChunkReader(), new Uint8Array(100).fill(0xff)), RangeError)
    assert.throws(() => read(new ChunkReader(), new Uint8Array(100).fill(0x80)), RangeError)
  })
})
