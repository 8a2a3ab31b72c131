import { deadline } from '../lib/index.ts'
import type { Clock, Payload } from '../lib/interface/index.ts'

/** The first part of a body. */
export interface Beginning {
  readonly bytes: Buffer
  /** Why it is not the whole body: it has more bytes, it took too long, or it broke. */
  readonly cut?: 'long' | 'late' | 'broken'
  /** Why it broke. */
  readonly error?: unknown
}

export interface BeginningOptions {
  readonly bytesMax: number
  readonly ms: number
  readonly clock: Clock
  /** Ends the reading, as the time limit does. */
  readonly signal?: AbortSignal | undefined
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined
}

/** Reads a body until its end, the size limit or the time limit. Cancels the rest, also at the API. Never rejects. */
export async function bodyBeginning(body: Payload, options: BeginningOptions): Promise<Beginning> {
  const { bytesMax, ms, clock, signal, onChunk } = options
  if (body instanceof Uint8Array) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, bytesMax))
    onChunk?.(bytes)
    return bytes.length === body.length ? { bytes } : { bytes, cut: 'long' }
  }
  const chunks = body[Symbol.asyncIterator]()
  // Chunks are copied, because a small one may keep a large buffer in memory.
  const buffer = Buffer.allocUnsafeSlow(bytesMax)
  let length = 0
  const beginning = () => buffer.subarray(0, length)
  const limit = deadline(clock, ms, () => new Error('the body took too long'), signal)
  try {
    for (;;) {
      const next = await nextWithin(chunks, limit.signal)
      if (next === undefined) return { bytes: beginning(), cut: 'late' }
      if (next.done === true) return { bytes: beginning() }
      onChunk?.(next.value)
      const part = next.value.subarray(0, bytesMax - length)
      buffer.set(part, length)
      length += part.length
      if (part.length < next.value.length) return { bytes: beginning(), cut: 'long' }
    }
  } catch (error) {
    return { bytes: beginning(), cut: 'broken', error }
  } finally {
    limit.clear()
    void chunks.return?.().catch(() => undefined)
  }
}

/**
 * The next chunk, or undefined if the signal aborts first. Not by `Promise.race` with one promise for all chunks: that promise would
 * keep each chunk in memory.
 */
function nextWithin(
  chunks: AsyncIterator<Uint8Array>,
  signal: AbortSignal
): Promise<IteratorResult<Uint8Array> | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(undefined)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    const done = () => signal.removeEventListener('abort', onAbort)
    chunks.next().then(resolve, reject).finally(done)
  })
}
