import type { Stream } from '@libp2p/interface'
import { pEvent } from 'p-event'
import { encode } from 'uint8-varint'
import { Uint8ArrayList } from 'uint8arraylist'
import { EMPTY_BYTES } from '../base/bytes.ts'
import { BULK_CHUNK_BYTES_MAX, LINK_BUFFER_BYTES_MAX } from '../base/limits.ts'
import type { BulkSink } from '../interface/link.ts'

/**
 * The sending end of a body over a libp2p stream, in chunks: the tag, the body, and an empty one. That last chunk is what
 * makes an end a clean one. The end of the stream is not: libp2p ends the streams of a connection that it closes as if
 * they were done.
 */
export function bulkSink(stream: Stream, tag: Uint8Array): BulkSink {
  stream.maxWriteBufferLength = LINK_BUFFER_BYTES_MAX
  const send = (chunk: Uint8Array) => stream.send(new Uint8ArrayList(encode(chunk.length), chunk))
  send(tag)
  return {
    async write(chunk) {
      for (let at = 0; at < chunk.length; at += BULK_CHUNK_BYTES_MAX) {
        send(chunk.subarray(at, at + BULK_CHUNK_BYTES_MAX))
        await roomIn(stream)
      }
    },
    async end() {
      send(EMPTY_BYTES)
      await stream.close().catch((event: unknown) => {
        throw closedByReader(event)
      })
    },
    abort: (error) => stream.abort(error)
  }
}

/**
 * A stream says that it drained when the reader gives it any room at all, so what is left in its buffer is looked at, not
 * only the event; and its own `onDrain()` resolves at once after its first use.
 */
async function roomIn(stream: Stream): Promise<void> {
  while (stream.writableNeedsDrain || stream.writeBufferLength >= BULK_CHUNK_BYTES_MAX) {
    if (stream.status !== 'open') throw closedByReader()
    await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch((event: unknown) => {
      throw closedByReader(event)
    })
  }
}

function closedByReader(event?: unknown): Error {
  return new Error('the stream was closed by its reader', { cause: event })
}
