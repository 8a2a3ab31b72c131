import type { Atoms } from '../base/money.ts'
import type { ChannelConfig, ChannelId } from './channel.ts'
import type { ChargeRule } from './charge-rule.ts'

export interface ReceiptQuery {
  /** Calls that this node paid for (`payer`), or was paid for (`owner`). */
  readonly role: 'payer' | 'owner'
  /** A name, or `name@<provider id>`. */
  readonly api?: string
  /** Milliseconds since the epoch: `since` inclusive, `until` exclusive. */
  readonly since?: number
  readonly until?: number
  /** At most `RECEIPTS_PAGE_MAX`. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly cursor?: string
}

/** A charged call. */
export interface ReceiptRow {
  readonly requestId: string
  readonly api: string
  /** Peer id of the other side. Absent where the payer no longer knows the owner of a closed channel. */
  readonly peer?: string
  /** Known to the payer. */
  readonly channelId?: ChannelId
  readonly charged: Atoms
  /** Reason for the charge. Absent in records of earlier versions. */
  readonly rule?: ChargeRule
  /** HTTP status of the response. */
  readonly status: number
  /** Milliseconds since the epoch. At the payer: when it made the call. At the owner: when the call ended. */
  readonly at: number
  /**
   * At the payer: whether the owner's signature is valid; `unknown` where the channel's data was deleted. `own`: the
   * row comes from the owner's own call records.
   */
  readonly signature: 'valid' | 'invalid' | 'unknown' | 'own'
  /** At the payer: the receipt as the owner sent it, `souk.Receipt` of `docs/reference/souk-pay.proto`. */
  readonly proof?: Uint8Array
  /** At the payer, where it knows the channel: with the proof, all that a third party needs to check the receipt. */
  readonly config?: ChannelConfig
}

/** Newest first. A page may be short although more follow. */
export interface ReceiptPage {
  readonly receipts: readonly ReceiptRow[]
  readonly next?: string
}
