import type { Clock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { isSoukError, SoukError } from '../base/errors.ts'
import { STREAM_IDLE_MS } from '../base/limits/call.ts'
import { INLINE_BODY_BYTES_MAX, LINK_QUEUE_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSink, BulkSource, Channel } from '../interface/link.ts'
import type { Payload } from '../interface/payload.ts'

/** Cancels the rest of a body after its call. Created once, because an error captures its stack. */
export const CALL_ENDED = new Error('the call has ended')

/** Whether a body is sent inside its frame: it is small, whole, and the link has no backlog. */
export function ridesInline(body: Payload, channel: Channel): body is Uint8Array {
  return (
    body instanceof Uint8Array && body.length <= INLINE_BODY_BYTES_MAX && channel.queuedBytes < LINK_QUEUE_BYTES_MAX
  )
}

/** The chunks of a body, for `pipe`. A whole body is one chunk. */
export function chunksOf(body: Payload): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  return body instanceof Uint8Array ? [body] : body
}

/**
 * The end of a `pipe`: sends all chunks. Resolves to false when the reader stopped, or read nothing for
 * `STREAM_IDLE_MS`. An error of the body aborts the stream and is thrown.
 */
export function sendTo(sink: BulkSink, clock: Clock) {
  return async (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<boolean> => {
    const deadlines = new Deadlines<BulkSink>(clock, (late) =>
      late.abort(new Error('the reader read nothing for too long'))
    )
    const patient = async (step: Promise<void>): Promise<boolean> => {
      deadlines.add(sink, STREAM_IDLE_MS)
      try {
        await step
        return true
      } catch {
        return false
      } finally {
        deadlines.delete(sink)
      }
    }
    try {
      // Leaving the loop early calls the body's `return`.
      for await (const chunk of chunks) {
        if (!(await patient(sink.write(chunk)))) return false
      }
      return await patient(sink.end())
    } catch (error) {
      sink.abort(error instanceof Error ? error : new Error('the body failed', { cause: error }))
      throw error
    } finally {
      deadlines.retire()
    }
  }
}

/** The chunks of a response body. Ends a body of which nothing arrives for `STREAM_IDLE_MS` while its reader waits. */
export class ResponseBodies {
  readonly #deadlines: Deadlines<BulkSource>

  constructor(clock: Clock) {
    this.#deadlines = new Deadlines(clock, (source) =>
      source.abort(new SoukError('upstream_timeout', 'The owner stopped sending the response.', { source: 'owner' }))
    )
  }

  chunksOf(source: BulkSource): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const chunks = source[Symbol.asyncIterator]()
        return {
          next: async () => {
            this.#deadlines.add(source, STREAM_IDLE_MS)
            try {
              return await chunks.next()
            } finally {
              this.#deadlines.delete(source)
            }
          },
          return: async () => {
            await chunks.return?.()
            return { done: true, value: undefined }
          }
        }
      }
    }
  }

  /** No body will be added. */
  retire(): void {
    this.#deadlines.retire()
  }
}

/** The error of a response body that broke off: the peer aborted it, or the link broke. */
export function responseError(cause: unknown): SoukError {
  if (isSoukError(cause)) return cause
  return new SoukError('call_interrupted', 'The response broke off before its end.', { cause })
}

/** The body of a peer's request. */
export interface RequestBody extends BulkSource {
  /** A reader waits for the sender. */
  readonly isWaiting: boolean
}

/**
 * Reports a body that breaks off as the sender's fault. When the link broke too, the call was interrupted and may be
 * repeated. Not a generator, because its `return` would wait for a pending `next`.
 */
export function requestBody(source: BulkSource, channel: Channel): RequestBody {
  let waiting = 0
  return {
    get isWaiting() {
      return waiting > 0
    },
    abort: (error) => source.abort(error),
    [Symbol.asyncIterator]() {
      const chunks = source[Symbol.asyncIterator]()
      return {
        async next() {
          waiting++
          try {
            return await chunks.next()
          } catch (cause) {
            if (isSoukError(cause)) throw cause
            throw channel.open
              ? new SoukError('invalid_request', 'The request body broke off before its end.', {
                  cause,
                  source: 'ingress'
                })
              : new SoukError('call_interrupted', 'The link broke before the request body was complete.', {
                  cause,
                  source: 'ingress'
                })
          } finally {
            waiting--
          }
        },
        async return() {
          await chunks.return?.()
          return { done: true, value: undefined }
        }
      }
    }
  }
}
