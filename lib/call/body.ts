import type { Clock } from '../base/clock.ts'
import { INLINE_BODY_BYTES_MAX, LINK_QUEUE_BYTES_MAX, STREAM_IDLE_MS } from '../base/limits.ts'
import type { BulkSink, Channel } from '../interface/link.ts'
import type { Payload } from '../interface/payload.ts'

/** Whether a body rides in its frame: small, whole, and the link is not backed up already. */
export function ridesInline(body: Payload, channel: Channel): body is Uint8Array {
  return (
    body instanceof Uint8Array && body.length <= INLINE_BODY_BYTES_MAX && channel.queuedBytes < LINK_QUEUE_BYTES_MAX
  )
}

/**
 * Sends a body to its end. Resolves false when the reader stopped it, or took nothing for `STREAM_IDLE_MS`; what the body
 * throws is told to the reader and thrown on.
 */
export async function pump(body: Payload, sink: BulkSink, clock: Clock): Promise<boolean> {
  const patient = async (step: Promise<void>): Promise<boolean> => {
    const timer = clock.after(STREAM_IDLE_MS, () => sink.abort(new Error('the reader took nothing for too long')))
    const isTaken = await step.then(
      () => true,
      () => false
    )
    timer.cancel()
    return isTaken
  }
  try {
    // Leaving the loop early ends the body by its `return`.
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      if (!(await patient(sink.write(chunk)))) return false
    }
  } catch (error) {
    sink.abort(error instanceof Error ? error : new Error('the body failed', { cause: error }))
    throw error
  }
  return patient(sink.end())
}
