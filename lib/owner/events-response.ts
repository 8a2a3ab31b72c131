import { EMPTY_BYTES } from '../base/bytes.ts'
import type { CallResponse } from '../interface/call.ts'

/** The response to a payment for events where nothing was charged. It is not stored; a repeat gets a new one. */
export function eventsResponse(status: number): CallResponse {
  return { status, headers: [], body: EMPTY_BYTES, charged: 0n, receipt: EMPTY_BYTES, ownerMs: 0, upstreamMs: 0 }
}
