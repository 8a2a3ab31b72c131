import { BULK_CHUNK_BYTES_MAX } from '../base/limits.ts'
import type { BulkSink, BulkSource } from '../interface/link.ts'

/** What may wait for the reader before `write` does. */
const CAPACITY_BYTES = 4 * BULK_CHUNK_BYTES_MAX

/** A body's two ends, in memory. */
export interface BulkPipe {
  readonly sink: BulkSink
  readonly source: BulkSource
  /** The connection broke: both ends see the error, unless the sender was done. */
  break(error: Error): void
}

export function bulkPipe(onOver: () => void): BulkPipe {
  let chunks: Uint8Array[] = []
  let bytes = 0
  let isEnded = false
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
    if (failure !== undefined) throw new Error('the stream was closed by its reader', { cause: failure })
    if (isEnded) throw new Error('the stream was ended')
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
        onOver()
        return { done: true, value: undefined }
      }
      await moved.promise
    }
  }
  return {
    sink: {
      async write(chunk) {
        checkWritable()
        // A copy: the writer may use its bytes again.
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
      abort: (error) => fail(new Error('the sender gave up', { cause: error }))
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
