import { EMPTY_BYTES } from '../base/bytes.ts'
import { fromHex, toHex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { ChannelConfig, ChannelId, Voucher } from '../interface/channel.ts'
import type { DocumentPut } from '../interface/ledger.ts'
import type { ChannelBooks } from './pay-messages.ts'
import type { SettlementDomain } from './settlement-domain.ts'
import { Tab } from './tab.ts'
import { isSound } from './voucher.ts'

/** Documents of an owner: its channels, and the highest voucher of each, both by channel id. */
export const PAYEE_CHANNELS = 'payee-channels'
export const PAYEE_VOUCHERS = 'payee-vouchers'

/** What never changes of a channel at its owner. */
export interface PayeeChannelInfo {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  /** Peer id of the payer's node: calls are taken from no other. */
  readonly peer: string
}

/** Where captures of a channel are booked; the second only ever grows, so that its balance is S. */
export const receivableOf = (channelId: ChannelId): string => `receivable/${channelId}`
export const earnedOf = (channelId: ChannelId): string => `earned/${channelId}`

/** A channel at its owner: its tab and its highest voucher. */
export class PayeeChannel {
  readonly info: PayeeChannelInfo
  readonly tab: Tab
  #voucher: Voucher | undefined
  #isSaved = true
  /** What of its limit counts on the newest block only. */
  onLatest: Atoms = 0n

  constructor(info: PayeeChannelInfo, captured: Atoms, voucher?: Voucher) {
    this.info = info
    this.tab = new Tab({ ceiling: voucher?.ceiling ?? 0n, captured })
    this.#voucher = voucher
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

export function channelDocument({ channelId, config, peer }: PayeeChannelInfo): DocumentPut {
  return { collection: PAYEE_CHANNELS, key: channelId, value: JSON.stringify({ config, peer }) }
}

export function readChannel(channelId: ChannelId, document: string): PayeeChannelInfo {
  return { channelId, ...(JSON.parse(document) as Omit<PayeeChannelInfo, 'channelId'>) }
}
