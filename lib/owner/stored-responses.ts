import { EMPTY_BYTES } from '../base/bytes.ts'
import { CHARGE_MEMBER, SoukError, type SoukErrorOptions } from '../base/errors.ts'
import { STORED_BODY_BYTES_MAX } from '../base/limits/store.ts'
import { type Atoms, formatUsdc } from '../base/money.ts'
import { requestHash } from '../base/request-hash.ts'
import type { AdapterReply } from '../interface/adapter.ts'
import type { CallResponse, IncomingCall } from '../interface/call.ts'
import type { ChargeRule } from '../interface/charge-rule.ts'
import type { CallRecord } from '../interface/store.ts'
import type { Replay } from '../interface/payment-scheme.ts'

/** Responses to repeated calls. */

export function ruleOf({ rule, price, headers, body }: AdapterReply): ChargeRule {
  if (rule !== undefined) return rule
  if (price !== undefined) return 'cost'
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return !(body instanceof Uint8Array) && /^text\/event-stream\b/i.test(type) ? 'stream-open' : 'success'
}

export function storable({ status, headers, body }: AdapterReply): CallRecord['response'] {
  const isKept = body instanceof Uint8Array && body.length <= STORED_BODY_BYTES_MAX
  return isKept ? { status, headers, body } : undefined
}

/** @throws SoukError `idempotency_mismatch` */
export function checkSame(call: IncomingCall, hash: Uint8Array): void {
  if (!Buffer.from(hash).equals(requestHash(call))) throw new SoukError('idempotency_mismatch')
}

/** The stored response for another call with the same idempotency key. Not charged again. */
export function answeredBefore(record: CallRecord): CallResponse {
  return { ...storedResponse(record), charged: 0n, replayed: true }
}

export function responseOf(record: CallRecord, call: IncomingCall): CallResponse {
  checkSame(call, record.requestHash)
  return storedResponse(record, chargeOf(record.charged))
}

function storedResponse(record: CallRecord, options: SoukErrorOptions = {}): CallResponse {
  if (record.code !== undefined) throw new SoukError(record.code, undefined, { status: record.status })
  const { response, charged, ownerMs, upstreamMs } = record
  if (response === undefined) {
    const price = charged === 0n ? 'not charged' : `charged ${formatUsdc(charged)} USDC`
    const detail = `The call has ended and was ${price}, but its response was not stored.`
    throw new SoukError('call_interrupted', detail, options)
  }
  return { ...response, charged, receipt: EMPTY_BYTES, ownerMs, upstreamMs }
}

export function replayed({ response, settled }: Replay, { idempotencyKey }: IncomingCall): CallResponse {
  const answer = { ...response, ...settled, ownerMs: 0, upstreamMs: 0 }
  return idempotencyKey === undefined ? answer : { ...answer, replayed: true }
}

/** A response for a second reader. A stream can be read only once. */
export function repeatable(answer: CallResponse): CallResponse {
  if (answer.body instanceof Uint8Array) return answer
  const detail = 'The response is a stream, and it was interrupted.'
  throw new SoukError('call_interrupted', detail, chargeOf(answer.charged))
}

/** Without it, the failure of a repeat would tell the consumer that the call was not charged. */
function chargeOf(charged: Atoms): Pick<SoukErrorOptions, 'members'> {
  return charged === 0n ? {} : { members: { [CHARGE_MEMBER]: formatUsdc(charged) } }
}
