import type { Atoms } from '../base/money.ts'
import type { ChannelConfig, ChannelId } from '../interface/channel.ts'
import type { Signer } from '../interface/signer.ts'
import { encodeAuthorization } from './authorization.ts'
import type { Purse } from './purse.ts'
import type { SettlementDomain } from './settlement-domain.ts'
import { signVoucher } from './voucher.ts'

/** Documents of a payer: its channels by channel id, and the last counter of a salt. */
export const PAYER_CHANNELS = 'payer-channels'
export const PAYER_STATE = 'payer'

/** Where a payer books: what is in a channel, and what went through it. The second only ever grows. */
export const depositedIn = (channelId: ChannelId): string => `channel/${channelId}`
export const spentThrough = (channelId: ChannelId): string => `spent/${channelId}`

/** A deposit that was signed and is not known to be mined: nothing else is signed before it is, or is void. */
export interface PendingDeposit {
  readonly amount: Atoms
  readonly salt: bigint
  /** Unix seconds. */
  readonly validBefore: number
}

export interface PayerChannelInfo {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  readonly counter: bigint
  /** Peer id of the owner. */
  readonly owner: string
}

/** A channel at its payer. */
export class PayerChannel {
  readonly info: PayerChannelInfo
  readonly purse: Purse
  pending: PendingDeposit | undefined
  /** The owner's books could not be explained: nothing more is paid through it. */
  isDisputed: boolean
  /** Of what was spent, so much is in the ledger or on its way there. */
  booked: Atoms = 0n
  /** Not to be topped up behind the calls before then, on the clock that never goes back. */
  topUpAfter = 0
  /** The owner has it on its books, as far as is known. */
  isKnown = true
  /** Its owner is being asked for its books. */
  hearing: Promise<void> | undefined
  #authorization: Promise<Uint8Array> | undefined
  #ceiling = -1n

  constructor(info: PayerChannelInfo, purse: Purse, pending: PendingDeposit | undefined, isDisputed: boolean) {
    this.info = info
    this.purse = purse
    this.pending = pending
    this.isDisputed = isDisputed
  }

  /** A voucher for all that is promised, as it is sent: the last one where it covers it, so that a window costs one signature. */
  authorization(domain: SettlementDomain, signer: Signer): Promise<Uint8Array> {
    const { ceiling } = this.purse
    if (this.#authorization !== undefined && this.#ceiling >= ceiling) return this.#authorization
    const authorization = signVoucher(domain, signer, this.info.channelId, ceiling).then(encodeAuthorization)
    this.#authorization = authorization
    this.#ceiling = ceiling
    authorization.catch(() => {
      if (this.#authorization === authorization) this.#authorization = undefined
    })
    return authorization
  }
}

interface KeptChannel extends Omit<PayerChannelInfo, 'channelId' | 'counter'> {
  readonly counter: string
  readonly ceiling: string
  readonly spent: string
  readonly deposit: string
  readonly pending?: { readonly amount: string; readonly salt: string; readonly validBefore: number }
  readonly isDisputed: boolean
}

export function payerDocument({ info, purse, pending, isDisputed }: PayerChannel): string {
  const { config, counter, owner } = info
  const kept: KeptChannel = {
    config,
    counter: counter.toString(),
    owner,
    ceiling: purse.ceiling.toString(),
    spent: purse.spent.toString(),
    deposit: purse.deposit.toString(),
    isDisputed,
    ...(pending && {
      pending: { ...pending, amount: pending.amount.toString(), salt: pending.salt.toString() }
    })
  }
  return JSON.stringify(kept)
}

export interface ReadPayerChannel {
  readonly info: PayerChannelInfo
  readonly ceiling: Atoms
  readonly spent: Atoms
  readonly deposit: Atoms
  readonly pending: PendingDeposit | undefined
  readonly isDisputed: boolean
}

export function readPayerChannel(channelId: ChannelId, document: string): ReadPayerChannel {
  const { config, counter, owner, pending, isDisputed, ...kept } = JSON.parse(document) as KeptChannel
  return {
    info: { channelId, config, counter: BigInt(counter), owner },
    ceiling: BigInt(kept.ceiling),
    spent: BigInt(kept.spent),
    deposit: BigInt(kept.deposit),
    pending: pending && { ...pending, amount: BigInt(pending.amount), salt: BigInt(pending.salt) },
    isDisputed
  }
}
