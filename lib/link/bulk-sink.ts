import type { Stream } from '@libp2p/interface'
import { pEvent } from 'p-event'
import { encode } from 'uint8-varint'
import { Uint8ArrayList } from 'uint8arraylist'
import { EMPTY_BYTES } from '../base/bytes.ts'
import { BULK_CHUNK_BYTES_SENT, LINK_BUFFER_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSink } from '../interface/link.ts'

export const BULK_PROTOCOL = '/souk/bulk/1.0.0'

/**
 * The sending end of a body over a libp2p stream, in chunks: the tag, the body, and an empty chunk. The empty chunk
 * marks a clean end. The end of the stream does not: libp2p also ends streams cleanly when it closes their connection. A peer that
 * read the body to its end closes its own end.
 */
export function bulkSink(stream: Stream, tag: Uint8Array): BulkSink {
  stream.maxWriteBufferLength = LINK_BUFFER_BYTES_MAX
  const send = (chunk: Uint8Array) => stream.send(new Uint8ArrayList(encode(chunk.length), chunk))
  // The peer waits for the tag. It follows the first frame of its stream into the queue of the connection, even where that is full.
  stream.writableNeedsDrain = false
  send(tag)
  return {
    get isRead() {
      return stream.remoteWriteStatus === 'closed' && stream.status !== 'reset'
    },
    async write(chunk) {
      for (let at = 0; at < chunk.length; at += BULK_CHUNK_BYTES_SENT) {
        send(chunk.subarray(at, at + BULK_CHUNK_BYTES_SENT))
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
 * Waits until the stream has sent most of what it was given. One chunk stays queued, so that it is there when the stream has its turn. The
 * `drain` event fires when the reader grants any space at all. The stream's own `onDrain()` resolves at once after its first use.
 */
async function roomIn(stream: Stream): Promise<void> {
  while (stream.writeBufferLength >= BULK_CHUNK_BYTES_SENT) {
    if (stream.status !== 'open') throw closedByReader()
    await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch((event: unknown) => {
      throw closedByReader(event)
    })
  }
}

function closedByReader(event?: unknown): Error {
  return new Error('the reader closed the stream', { cause: event })
}
