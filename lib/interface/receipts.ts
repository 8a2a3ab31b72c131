import type { Atoms } from '../base/money.ts'
import type { ChannelId } from './channel.ts'
import type { ChargeRule } from './charge-rule.ts'

export interface ReceiptQuery {
  /** What this node paid for, or what it was paid for. */
  readonly role: 'payer' | 'owner'
  /** A name, or `name@<provider id>`. */
  readonly api?: string
  /** Milliseconds since the epoch: from, and up to but not at. */
  readonly since?: number
  readonly until?: number
  /** At most `RECEIPTS_PAGE_MAX`. */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
}

/** A call that was charged. */
export interface ReceiptRow {
  readonly requestId: string
  readonly api: string
  /** Peer id of the other side. A payer may have forgotten whose a closed channel was. */
  readonly peer?: string
  /** Known to the payer. */
  readonly channelId?: ChannelId
  readonly charged: Atoms
  /** By what rule. Absent where an earlier version charged. */
  readonly rule?: ChargeRule
  /** HTTP status of the answer. */
  readonly status: number
  /** Milliseconds since the epoch, by the owner's clock. */
  readonly at: number
  /**
   * At the payer: the owner's signature holds, does not, or cannot be told as the channel was forgotten. `own`: the owner's
   * book of calls, which is what it signs.
   */
  readonly signature: 'valid' | 'invalid' | 'unknown' | 'own'
  /** At the payer: the receipt as the owner sent it, `souk.Receipt` of `docs/reference/souk-pay.proto`. */
  readonly proof?: Uint8Array
}

/** Newest first. A page may be short although more follow. */
export interface ReceiptPage {
  readonly receipts: readonly ReceiptRow[]
  readonly next?: string
}
