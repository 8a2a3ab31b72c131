import { INLINE_BODY_BYTES_MAX, LINK_QUEUE_BYTES_MAX } from '../base/limits.ts'
import type { BulkSink, BulkSource, Channel } from '../interface/link.ts'
import type { Payload } from '../interface/payload.ts'

/** Whether a body rides in its frame: small, whole, and the link is not backed up already. */
export function ridesInline(body: Payload, channel: Channel): body is Uint8Array {
  return (
    body instanceof Uint8Array && body.length <= INLINE_BODY_BYTES_MAX && channel.queuedBytes < LINK_QUEUE_BYTES_MAX
  )
}

/** Sends a body to its end; an error on either side is told to both. */
export async function pump(body: Payload, sink: BulkSink): Promise<void> {
  try {
    if (body instanceof Uint8Array) await sink.write(body)
    else for await (const chunk of body) await sink.write(chunk)
    await sink.end()
  } catch (error) {
    sink.abort(error instanceof Error ? error : new Error('the body failed', { cause: error }))
    throw error
  }
}

/** A received body that says when it is over, however it ends. */
export async function* watched(source: BulkSource, onOver: (isComplete: boolean) => void): AsyncGenerator<Uint8Array> {
  let isComplete = false
  try {
    yield* source
    isComplete = true
  } finally {
    onOver(isComplete)
  }
}
