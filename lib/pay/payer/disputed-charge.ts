import { fromHex, type Hex, toHex } from '../../base/hex.ts'
import { DISPUTE_KEPT_MS } from '../../base/limits/pay.ts'
import { formatRequestId, requestIdBytes } from '../../base/request-id.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChargeRule } from '../../interface/charge-rule.ts'
import type { DisputeState } from '../../interface/disputes.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Expected, ReceiptFault } from './receipt-fault.ts'

/** Collection of a payer's disputed charges, by request id. */
export const PAYER_DISPUTES = 'payer-disputes'

/** Ledger account of charges that the owner has not proved. */
export const disputedIn = (channelId: ChannelId): string => `disputed/${channelId}`

/** A charge without a valid receipt. */
export interface DisputedCharge {
  /** A valid receipt states this. `charged` is the disputed amount. */
  readonly expected: Expected
  /** Peer id. */
  readonly owner: string
  readonly fault: ReceiptFault
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly state: DisputeState
  /** The owner kept the amount when the channel was closed. */
  readonly isTaken: boolean
}

interface KeptDispute {
  readonly api: string
  readonly channelId: ChannelId
  readonly requestHash: Hex
  readonly rules: readonly ChargeRule[]
  readonly status?: number | undefined
  readonly charged: string
  readonly price: string
  readonly owner: string
  readonly fault: ReceiptFault
  readonly at: number
  readonly state: DisputeState
  readonly isTaken: boolean
}

/** @param now an ended dispute is deleted `DISPUTE_KEPT_MS` later */
export function disputeDocument({ expected, ...dispute }: DisputedCharge, now: number): DocumentPut {
  const { requestId, api, channelId, requestHash, rules, status, charged, price } = expected
  const amounts = { charged: charged.toString(), price: price.toString() }
  const kept: KeptDispute = { api, channelId, requestHash: toHex(requestHash), rules, status, ...amounts, ...dispute }
  const document = { collection: PAYER_DISPUTES, key: formatRequestId(requestId), value: JSON.stringify(kept) }
  return dispute.state === 'open' ? document : { ...document, expiresAt: now + DISPUTE_KEPT_MS }
}

export function readDispute(key: string, value: string): DisputedCharge {
  const { api, channelId, requestHash, rules, status, charged, price, ...dispute } = JSON.parse(value) as KeptDispute
  const hash = fromHex(requestHash, HASH_BYTES)
  const amounts = { charged: BigInt(charged), price: BigInt(price) }
  return {
    expected: { requestId: requestIdBytes(key), api, channelId, requestHash: hash, rules, status, ...amounts },
    ...dispute
  }
}

const HASH_BYTES = 32
