import { EMPTY_BYTES } from '../../base/bytes.ts'
import { fromHex, type Hex, toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, ChannelId, ChannelPhase, Voucher } from '../../interface/channel.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import { checkMove } from '../channel/check-move.ts'
import type { ChannelBooks } from '../channel/pay-messages.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { PayeeFunds } from './payee-funds.ts'
import { isSound } from '../signing/voucher.ts'

/** Collections of an owner's documents, keyed by channel id: its channels, and the highest voucher of each. */
export const PAYEE_CHANNELS = 'payee-channels'
export const PAYEE_VOUCHERS = 'payee-vouchers'

/** The immutable data of a channel at its owner. */
export interface PayeeChannelInfo {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  /** Peer id of the payer's node, the only node whose calls are admitted. Absent for an x402 client, which has no node. */
  readonly peer?: string
}

/** A refund that the owner has decided on. The nonce makes it payable only once, however often it is sent. */
export interface DecidedRefund {
  readonly amount: Atoms
  readonly nonce: bigint
  /** Hash of its transaction, once mined. Absent if the process ended in between. */
  readonly transaction?: Hex
}

/** The rarely changing part of a channel. It is durable before anything depends on it. */
export interface PayeeChannelState {
  readonly phase: ChannelPhase
  readonly refund?: DecidedRefund
  /** The claimed amount in a final block. Present once the channel is closed. */
  readonly claimed?: Atoms
  /** Number of deposits whose gas the owner paid. Absent: one. */
  readonly deposits?: number
  /** Number of earlier refunds whose gas the owner paid. The channel was opened again after each. */
  readonly refunds?: number
  /** Upper bound of the refund, if the payer asked for a part of the rest. */
  readonly refundMax?: Atoms
}

/** Ledger accounts of a channel's captures. The second only grows, so that its balance is S. */
export const receivableOf = (channelId: ChannelId): string => `receivable/${channelId}`
export const EARNED = 'earned/'
export const earnedOf = (channelId: ChannelId): string => `earned/${channelId}`

/** A channel at its owner, with its funds and its highest voucher. */
export class PayeeChannel {
  readonly info: PayeeChannelInfo
  readonly payeeFunds: PayeeFunds
  #voucher: Voucher | undefined
  #isSaved = true
  /** The part of its limit that rests on the newest block only. */
  onLatest: Atoms = 0n
  /** Account names, built once because each call is booked on both. */
  readonly receivable: string
  readonly earned: string
  /** True if the last read showed one state at the newest and at the final block. */
  isUnchanging: boolean
  /** True if a final block showed the deposit. Until then, an empty channel may be one whose deposit an endpoint does not show yet. */
  isFunded: boolean
  #state: PayeeChannelState

  constructor(
    info: PayeeChannelInfo,
    captured: Atoms,
    voucher?: Voucher,
    channelState: PayeeChannelState = { phase: 'open' }
  ) {
    this.info = info
    this.receivable = receivableOf(info.channelId)
    this.earned = earnedOf(info.channelId)
    this.#state = channelState
    // For a channel that an earlier process closed, the submitter finishes the transaction.
    this.isUnchanging = channelState.phase === 'closed'
    this.isFunded = channelState.phase === 'withdrawing'
    this.payeeFunds = new PayeeFunds({ ceiling: voucher?.ceiling ?? 0n, captured })
    this.#voucher = voucher
  }

  get phase(): ChannelPhase {
    return this.#state.phase
  }
  get channelState(): PayeeChannelState {
    return this.#state
  }

  /**
   * True if the channel is closed and all its charges are claimed for good. Until then the owner claims the rest or writes it off:
   * a call may end, and a claim may be mined, after the close.
   */
  get isFinal(): boolean {
    const { captured } = this.payeeFunds
    const { phase, claimed = captured } = this.#state
    return phase === 'closed' && this.isUnchanging && claimed >= captured
  }

  /** True if the channel admits no more calls. The unowed part goes back to the payer, or has gone. */
  get isLeft(): boolean {
    return this.phase === 'closing' || this.phase === 'closed'
  }

  /** Takes effect in memory at once; the caller saves the channel. */
  move(phase: ChannelPhase, more: Pick<PayeeChannelState, 'claimed' | 'refundMax'> = {}): void {
    checkMove(this.phase, phase)
    this.#state = { ...this.#state, phase, ...more }
  }

  /** Raises the finally claimed amount in memory. Returns true if it was lower: the caller then saves the channel. */
  claimedAt(claimed: Atoms): boolean {
    if (claimed <= (this.#state.claimed ?? claimed)) return false
    this.#state = { ...this.#state, claimed }
    return true
  }

  /** State of this closed channel after it is opened again. The gas that the owner paid for it still counts. */
  reopened(): PayeeChannelState {
    const refunds = this.refunds + (this.#state.refund === undefined ? 0 : 1)
    return { phase: 'open', deposits: this.deposits, refunds }
  }

  /** Stores the refund in memory. The caller saves the channel before it pays the refund. */
  decide(refund: DecidedRefund): void {
    this.#state = { ...this.#state, refund }
  }

  get deposits(): number {
    return this.#state.deposits ?? 1
  }

  get refunds(): number {
    return this.#state.refunds ?? 0
  }

  /** Counts one more deposit in memory, or one less that was not sent. The caller saves the channel before it submits a deposit. */
  countDeposits(change: 1 | -1): void {
    this.#state = { ...this.#state, deposits: this.deposits + change }
  }

  get voucher(): Voucher | undefined {
    return this.#voucher
  }

  get books(): ChannelBooks {
    const { ceiling, captured, reserved } = this.payeeFunds
    return { ceiling, captured, reserved, signature: this.#voucher?.signature ?? EMPTY_BYTES }
  }

  /** Accepts a higher voucher; returns false if the contract would reject it. A voucher that is not higher is ignored. */
  take(voucher: Voucher, domain: SettlementDomain): boolean {
    if (voucher.ceiling <= this.payeeFunds.ceiling) return true
    if (!isSound(domain, voucher, this.info.config.payerAuthorizer)) return false
    this.payeeFunds.raise(voucher.ceiling)
    this.#voucher = voucher
    this.#isSaved = false
    return true
  }

  /** The voucher as a document, if it is newer than the last one returned for saving. */
  unsaved(): DocumentPut[] {
    if (this.#isSaved || this.#voucher === undefined) return []
    this.#isSaved = true
    return [voucherDocument(this.#voucher)]
  }

  /** Marks the voucher as unsaved after a failed write. */
  notSaved(): void {
    this.#isSaved = false
  }
}

function voucherDocument({ channelId, ceiling, signature }: Voucher): DocumentPut {
  const value = JSON.stringify({ ceiling: ceiling.toString(), signature: toHex(signature) })
  return { collection: PAYEE_VOUCHERS, key: channelId, value }
}

const SIGNATURE_BYTES = 65

export function readVoucher(channelId: ChannelId, document: string): Voucher {
  const { ceiling, signature } = JSON.parse(document) as { ceiling: string; signature: string }
  return { channelId, ceiling: BigInt(ceiling), signature: fromHex(signature, SIGNATURE_BYTES) }
}

interface KeptChannel extends Omit<PayeeChannelInfo, 'channelId'> {
  readonly phase: ChannelPhase
  readonly refund?: { readonly amount: string; readonly nonce: string; readonly transaction?: Hex }
  readonly claimed?: string
  readonly deposits?: number
  readonly refunds?: number
  readonly refundMax?: string
}

export function channelDocument({ info, channelState }: PayeeChannel): DocumentPut {
  const { channelId, config, peer } = info
  const { phase, refund, claimed, deposits, refunds, refundMax } = channelState
  const kept: KeptChannel = {
    config,
    ...(peer === undefined ? {} : { peer }),
    phase,
    ...(refund && { refund: { ...refund, amount: refund.amount.toString(), nonce: refund.nonce.toString() } }),
    ...(claimed === undefined ? {} : { claimed: claimed.toString() }),
    ...(deposits === undefined ? {} : { deposits }),
    ...(refunds === undefined ? {} : { refunds }),
    ...(refundMax === undefined ? {} : { refundMax: refundMax.toString() })
  }
  return { collection: PAYEE_CHANNELS, key: channelId, value: JSON.stringify(kept) }
}

export function readChannel(
  channelId: ChannelId,
  document: string
): { readonly info: PayeeChannelInfo; readonly channelState: PayeeChannelState } {
  const { config, peer, phase, refund, claimed, deposits, refunds, refundMax } = JSON.parse(document) as KeptChannel
  return {
    info: { channelId, config, ...(peer === undefined ? {} : { peer }) },
    channelState: {
      phase,
      ...(refund && { refund: { ...refund, amount: BigInt(refund.amount), nonce: BigInt(refund.nonce) } }),
      ...(claimed === undefined ? {} : { claimed: BigInt(claimed) }),
      ...(deposits === undefined ? {} : { deposits }),
      ...(refunds === undefined ? {} : { refunds }),
      ...(refundMax === undefined ? {} : { refundMax: BigInt(refundMax) })
    }
  }
}
