import { BULK_CHUNK_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSink, BulkSource } from '../interface/link.ts'

/** Bytes queued for the reader before `write` waits. */
const CAPACITY_BYTES = 4 * BULK_CHUNK_BYTES_MAX

/** Both ends of a body, in memory. */
export interface BulkPipe {
  readonly sink: BulkSink
  readonly source: BulkSource
  /** The connection broke: both ends get the error, unless the sender had ended. */
  break(error: Error): void
}

export function bulkPipe(onOver: () => void): BulkPipe {
  let chunks: Uint8Array[] = []
  let bytes = 0
  let isEnded = false
  let isRead = false
  let failure: Error | undefined
  let moved = Promise.withResolvers<void>()
  const move = () => {
    moved.resolve()
    moved = Promise.withResolvers()
  }
  const fail = (error: Error) => {
    if (failure !== undefined || (isEnded && chunks.length === 0)) return
    failure = error
    chunks = []
    onOver()
    move()
  }
  const isFull = () => bytes >= CAPACITY_BYTES && failure === undefined
  const checkWritable = () => {
    if (failure !== undefined) throw new Error('the reader closed the stream', { cause: failure })
    if (isEnded) throw new Error('the stream has ended')
  }

  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    for (;;) {
      if (failure !== undefined) throw failure
      const chunk = chunks.shift()
      if (chunk !== undefined) {
        bytes -= chunk.length
        move()
        return { done: false, value: chunk }
      }
      if (isEnded) {
        isRead = true
        onOver()
        return { done: true, value: undefined }
      }
      await moved.promise
    }
  }
  return {
    sink: {
      get isRead() {
        return isRead
      },
      async write(chunk) {
        checkWritable()
        // A copy, because the writer may reuse its buffer.
        chunks.push(chunk.slice())
        bytes += chunk.length
        move()
        while (isFull()) await moved.promise
        checkWritable()
      },
      async end() {
        checkWritable()
        isEnded = true
        move()
      },
      abort: (error) => fail(new Error('the sender aborted', { cause: error }))
    },
    source: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          fail(new Error('the reader stopped'))
          return { done: true, value: undefined }
        }
      }),
      abort: fail
    },
    break(error) {
      if (!isEnded) fail(error)
    }
  }
}
