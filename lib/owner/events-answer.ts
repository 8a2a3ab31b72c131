import { EMPTY_BYTES } from '../base/bytes.ts'
import type { CallAnswer } from '../interface/call.ts'

/** The response to a payment for events where nothing was charged. It is not stored; a repeat gets a new one. */
export function eventsAnswer(status: number): CallAnswer {
  return { status, headers: [], body: EMPTY_BYTES, charged: 0n, receipt: EMPTY_BYTES, ownerMs: 0, upstreamMs: 0 }
}
