import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import type { AdapterRequest } from '../../lib/interface/adapter.ts'
import type { Payload } from '../../lib/interface/payload.ts'

/**
 * A body of at most `INLINE_BODY_BYTES_MAX` as a whole, so that it can be sent again: after a redirect, a lost connection, or with a new
 * token. A longer one is streamed.
 * @throws SoukError if the body fails, and `overloaded`
 */
export async function wholeIfSmall({ body, memory }: Pick<AdapterRequest, 'body' | 'memory'>): Promise<Payload> {
  if (body instanceof Uint8Array) return body
  const source = body[Symbol.asyncIterator]()
  const whole = Buffer.allocUnsafe(INLINE_BODY_BYTES_MAX)
  let length = 0
  for (;;) {
    const next = await nextOf(source)
    if (next.done === true) return whole.subarray(0, length)
    const chunk = next.value
    if (length + chunk.length > whole.length) return continued([whole.subarray(0, length), chunk], source)
    try {
      memory?.take(chunk.length)
    } catch (error) {
      await source.return?.()
      throw error
    }
    whole.set(chunk, length)
    length += chunk.length
  }
}

/**
 * Marks a failing body as the sender's fault, not the upstream's. Not a generator, because one that never started would not close
 * its source.
 */
export function sourced(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => nextOf(source),
      async return() {
        await source.return?.()
        return { done: true, value: undefined }
      }
    })
  }
}

async function nextOf(source: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await source.next()
  } catch (error) {
    throw isSoukError(error) ? error : new SoukError('call_interrupted', undefined, { cause: error })
  }
}

/** The rest is not marked here: `sourced` marks it where it is sent. */
function continued(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  const waiting = first.filter((chunk) => chunk.length > 0)
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = waiting.shift()
        return value === undefined ? rest.next() : { done: false, value }
      },
      async return() {
        await rest.return?.()
        return { done: true, value: undefined }
      }
    })
  }
}
