import { RECEIPT_TIME_OFF_MS_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { HashedRequest } from '../../base/request-hash.ts'
import { madeAt } from '../../base/request-id.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChargeRule } from '../../interface/charge-rule.ts'
import { type Receipt, readReceipt } from '../signing/receipt.ts'

/**
 * Why a receipt does not prove a charge:
 * - `missing`: there is none.
 * - `malformed`: it cannot be read, or its rule is unknown.
 * - `request`: it is for another call, channel, API or request hash.
 * - `price`: it states another charge than the response, or more than the price.
 * - `rule`: its rule does not fit the request.
 * - `status`: it charges for a call that failed, by its status or by that of the response.
 * - `time`: its time is further from the call's than any owner's clock that accepts the call.
 * - `signature`: the channel's owner did not sign it.
 */
export type ReceiptFault = 'missing' | 'malformed' | 'request' | 'price' | 'rule' | 'status' | 'time' | 'signature'

/** A valid receipt of one call states this. */
export interface Expected {
  readonly requestId: Uint8Array
  readonly api: string
  readonly channelId: ChannelId
  readonly requestHash: Uint8Array
  readonly rules: readonly ChargeRule[]
  /** The response's HTTP status. Absent in disputes of earlier versions. */
  readonly status?: number | undefined
  /** The charge of the response. */
  readonly charged: Atoms
  /** The most that the call may cost. */
  readonly price: Atoms
}

/** Reads a receipt and compares it with the call. The caller checks its signature. */
export function readProof(bytes: Uint8Array, expected: Expected): Receipt | ReceiptFault {
  if (bytes.length === 0) return 'missing'
  const receipt = readReceipt(bytes)
  if (receipt === undefined) return 'malformed'
  const { body } = receipt
  const isAboutIt =
    body.channelId === expected.channelId &&
    body.api === expected.api &&
    Buffer.compare(body.requestId, expected.requestId) === 0 &&
    Buffer.compare(body.requestHash, expected.requestHash) === 0
  if (!isAboutIt) return 'request'
  if (body.charged !== expected.charged || body.charged > expected.price) return 'price'
  if (body.charged > 0n && (body.rule === undefined || !expected.rules.includes(body.rule))) return 'rule'
  if (body.charged > 0n && hasFailed(body, expected)) return 'status'
  if (Math.abs(body.at - madeAt(expected.requestId)) > RECEIPT_TIME_OFF_MS_MAX) return 'time'
  return receipt
}

/** A payment for events uses the status to say whether more events come. */
function hasFailed({ rule, status }: Receipt['body'], { status: shown = status }: Expected): boolean {
  return rule !== 'events' && Math.max(status, shown) >= FAILED_STATUS_MIN
}

/** The rules that can apply to a request. */
export function rulesFor({ stream, service, subscription }: HashedRequest): readonly ChargeRule[] {
  if (stream !== undefined) return EVENTS
  return service === undefined && subscription === undefined ? OF_CALLS : PLAN
}

const FAILED_STATUS_MIN = 400
const EVENTS = ['events'] as const
const PLAN = ['plan'] as const
const OF_CALLS = ['success', 'partial-data', 'cost', 'stream-open'] as const
