import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { encode } from 'uint8-varint'
import { systemClock } from '../../../lib/base/clock.ts'
import {
  BATCH_BYTES_MAX,
  BATCH_CALLS_MIN,
  BATCH_FRAMES_MIN,
  BATCH_TURNS_MAX,
  FRAME_BYTES_MAX
} from '../../../lib/base/limits/link.ts'
import { FrameReader } from '../../../lib/link/frame-reader.ts'
import { FrameWriter } from '../../../lib/link/frame-writer.ts'

/** A stream that records the sent bytes, and is full when the test requests it. */
class Sink {
  readonly sends: Buffer[] = []
  isFull = false
  send(bytes: Uint8Array): boolean {
    this.sends.push(Buffer.from(bytes))
    return !this.isFull
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const fail = (error: Error) => assert.fail(error)

function read(reader: FrameReader, ...chunks: readonly Uint8Array[]): Buffer[] {
  const frames: Buffer[] = []
  for (const chunk of chunks) reader.push(chunk, (frame) => frames.push(Buffer.from(frame)))
  return frames
}

describe('FrameWriter and FrameReader', () => {
  it('transfer every frame for any split of the bytes', async () => {
    const frame = fc.uint8Array({ maxLength: 3_000 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 10 }),
        fc.array(fc.nat(10_000), { maxLength: 10 }),
        async (frames, cuts) => {
          const sink = new Sink()
          const writer = new FrameWriter(sink, systemClock, fail)
          for (const bytes of frames) writer.write(bytes)
          await turn()
          const all = Buffer.concat(sink.sends)
          const ends = [0, ...cuts.map((cut) => cut % (all.length + 1)), all.length].toSorted((a, b) => a - b)
          const chunks = ends.slice(1).map((end, i) => all.subarray(ends[i], end))
          assert.deepEqual(
            read(new FrameReader(), ...chunks),
            frames.map((bytes) => Buffer.from(bytes))
          )
        }
      )
    )
  })
})

describe('FrameWriter', () => {
  it('sends all frames of one event-loop turn together', async () => {
    const sink = new Sink()
    const writer = new FrameWriter(sink, systemClock, fail)
    writer.write(Uint8Array.of(1))
    writer.write(Uint8Array.of(2))
    await Promise.resolve()
    writer.write(Uint8Array.of(3))
    await turn()
    assert.deepEqual(sink.sends, [Buffer.of(1, 1, 1, 2, 1, 3)])
  })

  it('sends the frame of a single call at once, after the waiting ones', () => {
    const sink = new Sink()
    const writer = new FrameWriter(sink, systemClock, fail)
    writer.write(Uint8Array.of(1), 1)
    assert.deepEqual(sink.sends, [Buffer.of(1, 1)])
    writer.write(Uint8Array.of(2))
    writer.write(Uint8Array.of(3), 1)
    assert.deepEqual(sink.sends.slice(1), [Buffer.of(1, 2, 1, 3)])
  })

  it('sends the frames of many calls together, after a few turns or once they are enough', async () => {
    const sink = new Sink()
    const writer = new FrameWriter(sink, systemClock, fail)
    writer.write(Uint8Array.of(1), BATCH_CALLS_MIN)
    await turn()
    assert.equal(sink.sends.length, 0)
    writer.write(Uint8Array.of(2), BATCH_CALLS_MIN)
    for (let i = 1; i < BATCH_TURNS_MAX; i++) await turn()
    assert.deepEqual(sink.sends, [Buffer.of(1, 1, 1, 2)])
    for (let i = 0; i < BATCH_FRAMES_MIN; i++) writer.write(Uint8Array.of(i), BATCH_CALLS_MIN)
    await turn()
    assert.equal(sink.sends[1]?.length, 2 * BATCH_FRAMES_MIN)
    writer.write(Uint8Array.of(3), BATCH_CALLS_MIN - 1)
    await turn()
    assert.deepEqual(sink.sends[2], Buffer.of(1, 3))
  })

  it('sends a full batch at once', () => {
    const sink = new Sink()
    const writer = new FrameWriter(sink, systemClock, fail)
    writer.write(new Uint8Array(BATCH_BYTES_MAX))
    assert.equal(sink.sends.length, 1)
    assert.equal(writer.queuedBytes, 0)
  })

  it('queues and counts frames while the stream is full, and sends them when it drained', async () => {
    const sink = new Sink()
    sink.isFull = true
    const writer = new FrameWriter(sink, systemClock, fail)
    writer.write(Uint8Array.of(1))
    await turn()
    writer.write(Uint8Array.of(2))
    writer.write(new Uint8Array(BATCH_BYTES_MAX))
    await turn()
    assert.equal(sink.sends.length, 1)
    assert.equal(writer.queuedBytes, 2 + 3 + BATCH_BYTES_MAX)
    sink.isFull = false
    writer.drained()
    assert.equal(sink.sends.length, 2)
    assert.equal(writer.queuedBytes, 0)
  })

  it('reports a send that throws', async () => {
    const errors: Error[] = []
    const broken = new Error('closed')
    const writer = new FrameWriter({ send: () => assert.fail(broken) }, systemClock, (error) => errors.push(error))
    writer.write(Uint8Array.of(1))
    await turn()
    assert.deepEqual(errors, [broken])
  })
})

describe('FrameReader', () => {
  it('accepts a frame of the largest size and none larger', () => {
    const largest = Buffer.concat([encode(FRAME_BYTES_MAX), Buffer.alloc(FRAME_BYTES_MAX, 3)])
    assert.equal(read(new FrameReader(), largest)[0]?.length, FRAME_BYTES_MAX)
    assert.throws(() => read(new FrameReader(), encode(FRAME_BYTES_MAX + 1)), RangeError)
  })

  it('rejects a length that does not end, without waiting for more', () => {
    assert.throws(() => read(new FrameReader(), new Uint8Array(4).fill(0xff)), RangeError)
    assert.throws(() => read(new FrameReader(), Uint8Array.of(0x80), Uint8Array.of(0x80, 0x80, 0x80)), RangeError)
  })
})
