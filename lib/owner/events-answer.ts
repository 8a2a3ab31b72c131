import { EMPTY_BYTES } from '../base/bytes.ts'
import type { CallAnswer } from '../interface/call.ts'

/** What a payment for events is answered with, where nothing was charged. It is in no book: asked again, it is answered anew. */
export function eventsAnswer(status: number): CallAnswer {
  return { status, headers: [], body: EMPTY_BYTES, charged: 0n, receipt: EMPTY_BYTES, ownerMs: 0, upstreamMs: 0 }
}
