import { EMPTY_BYTES } from '../../base/bytes.ts'
import { fromHex, toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, ChannelId, ChannelPhase, Voucher } from '../../interface/channel.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import { checkMove } from '../channel/check-move.ts'
import type { ChannelBooks } from '../channel/pay-messages.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { Tab } from './tab.ts'
import { isSound } from '../signing/voucher.ts'

/** Documents of an owner: its channels, and the highest voucher of each, both by channel id. */
export const PAYEE_CHANNELS = 'payee-channels'
export const PAYEE_VOUCHERS = 'payee-vouchers'

/** What never changes of a channel at its owner. */
export interface PayeeChannelInfo {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  /** Peer id of the payer's node: calls are taken from no other. Absent for a client of x402, which has no node. */
  readonly peer?: string
}

/** A refund that was decided on: with the nonce it can be paid once only, however often it is sent. */
export interface DecidedRefund {
  readonly amount: Atoms
  readonly nonce: bigint
}

/** What of a channel changes seldom, and is durable before anything follows from it. */
export interface PayeeStanding {
  readonly phase: ChannelPhase
  readonly refund?: DecidedRefund
  /** What had been claimed when it was closed. */
  readonly claimed?: Atoms
  /** Deposits that the owner paid the gas of, where that is more than one. */
  readonly deposits?: number
}

/** Where captures of a channel are booked; the second only ever grows, so that its balance is S. */
export const receivableOf = (channelId: ChannelId): string => `receivable/${channelId}`
export const EARNED = 'earned/'
export const earnedOf = (channelId: ChannelId): string => `earned/${channelId}`

/** A channel at its owner: its tab and its highest voucher. */
export class PayeeChannel {
  readonly info: PayeeChannelInfo
  readonly tab: Tab
  #voucher: Voucher | undefined
  #isSaved = true
  /** What of its limit counts on the newest block only. */
  onLatest: Atoms = 0n
  /** Named once: each call is booked on both. */
  readonly receivable: string
  readonly earned: string
  /** It is closed, and its last state on the chain cannot be taken back any more. */
  isFinal: boolean
  #standing: PayeeStanding

  constructor(info: PayeeChannelInfo, captured: Atoms, voucher?: Voucher, standing: PayeeStanding = { phase: 'open' }) {
    this.info = info
    this.receivable = receivableOf(info.channelId)
    this.earned = earnedOf(info.channelId)
    this.#standing = standing
    // What an earlier process closed, the submitter sees through to its end.
    this.isFinal = standing.phase === 'closed'
    this.tab = new Tab({ ceiling: voucher?.ceiling ?? 0n, captured })
    this.#voucher = voucher
  }

  get phase(): ChannelPhase {
    return this.#standing.phase
  }
  get standing(): PayeeStanding {
    return this.#standing
  }
  /** Nothing more is let in: what is not owed goes back to the payer, or has. */
  get isLeft(): boolean {
    return this.phase === 'closing' || this.phase === 'closed'
  }

  /** Counts at once; whoever calls saves it. */
  move(phase: ChannelPhase, claimed?: Atoms): void {
    checkMove(this.phase, phase)
    this.#standing = { ...this.#standing, phase, ...(claimed === undefined ? {} : { claimed }) }
  }

  /** Whoever calls saves it, and only then has it paid. */
  decide(refund: DecidedRefund): void {
    this.#standing = { ...this.#standing, refund }
  }

  get deposits(): number {
    return this.#standing.deposits ?? 1
  }

  /** One more deposit; whoever calls saves it, and only then submits it. */
  countDeposit(): void {
    this.#standing = { ...this.#standing, deposits: this.deposits + 1 }
  }

  get voucher(): Voucher | undefined {
    return this.#voucher
  }

  get books(): ChannelBooks {
    const { ceiling, captured, reserved } = this.tab
    return { ceiling, captured, reserved, signature: this.#voucher?.signature ?? EMPTY_BYTES }
  }

  /** Takes a voucher where it is higher; false where the contract would not take it. A lower one is not looked at. */
  take(voucher: Voucher, domain: SettlementDomain): boolean {
    if (voucher.ceiling <= this.tab.ceiling) return true
    if (!isSound(domain, voucher, this.info.config.payerAuthorizer)) return false
    this.tab.raise(voucher.ceiling)
    this.#voucher = voucher
    this.#isSaved = false
    return true
  }

  /** The voucher as a document, where it is newer than what was last given away to be written. */
  unsaved(): DocumentPut[] {
    if (this.#isSaved || this.#voucher === undefined) return []
    this.#isSaved = true
    return [voucherDocument(this.#voucher)]
  }

  /** What was given away was not written. */
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
  readonly refund?: { readonly amount: string; readonly nonce: string }
  readonly claimed?: string
  readonly deposits?: number
}

export function channelDocument({ info, standing }: PayeeChannel): DocumentPut {
  const { channelId, config, peer } = info
  const { phase, refund, claimed, deposits } = standing
  const kept: KeptChannel = {
    config,
    ...(peer === undefined ? {} : { peer }),
    phase,
    ...(refund && { refund: { amount: refund.amount.toString(), nonce: refund.nonce.toString() } }),
    ...(claimed === undefined ? {} : { claimed: claimed.toString() }),
    ...(deposits === undefined ? {} : { deposits })
  }
  return { collection: PAYEE_CHANNELS, key: channelId, value: JSON.stringify(kept) }
}

export function readChannel(
  channelId: ChannelId,
  document: string
): { readonly info: PayeeChannelInfo; readonly standing: PayeeStanding } {
  const { config, peer, phase, refund, claimed, deposits } = JSON.parse(document) as KeptChannel
  return {
    info: { channelId, config, ...(peer === undefined ? {} : { peer }) },
    standing: {
      phase,
      ...(refund && { refund: { amount: BigInt(refund.amount), nonce: BigInt(refund.nonce) } }),
      ...(claimed === undefined ? {} : { claimed: BigInt(claimed) }),
      ...(deposits === undefined ? {} : { deposits })
    }
  }
}
