import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, ChannelId, ChannelPhase } from '../../interface/channel.ts'
import type { Signer } from '../../interface/signer.ts'
import { encodeAuthorization } from '../signing/authorization.ts'
import { checkMove } from '../channel/check-move.ts'
import type { Purse } from './purse.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { signVoucher } from '../signing/voucher.ts'

/** Documents of a payer: its channels by channel id, and the last counter of a salt. */
export const PAYER_CHANNELS = 'payer-channels'
export const PAYER_STATE = 'payer'

/** Where a payer books: what is in a channel, and what went through it. The second only ever grows. */
export const depositedIn = (channelId: ChannelId): string => `channel/${channelId}`
/** What an owner earned and did not fetch: it came back with the rest. */
export const unclaimedOf = (channelId: ChannelId): string => `unclaimed/${channelId}`
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

/** What of a channel changes seldom, and is durable before anything follows from it. */
export interface PayerStanding {
  readonly phase: ChannelPhase
  /** The owner's books could not be explained; when the channel is closed: and it took more than was agreed to. */
  readonly isDisputed: boolean
  /** What came back in the end. */
  readonly returned?: Atoms
}

/** A channel at its payer. */
export class PayerChannel {
  readonly info: PayerChannelInfo
  readonly purse: Purse
  pending: PendingDeposit | undefined
  /** Of what was spent, so much is in the ledger or on its way there. */
  booked: Atoms = 0n
  /** Not to be topped up behind the calls before then, on the clock that never goes back. */
  topUpAfter = 0
  /** The owner has it on its books, as far as is known. */
  isKnown = true
  /** Its owner is being asked for its books. */
  hearing: Promise<void> | undefined
  /** From when on a withdrawal can be finished, by the chain's own time; milliseconds since the epoch. */
  withdrawableAt: number | undefined
  /** Where its calls are booked, named once. */
  readonly deposited: string
  readonly spent: string
  #standing: PayerStanding
  #authorization: Promise<Uint8Array> | undefined
  #ceiling = -1n

  constructor(info: PayerChannelInfo, purse: Purse, pending: PendingDeposit | undefined, standing: PayerStanding) {
    this.info = info
    this.deposited = depositedIn(info.channelId)
    this.spent = spentThrough(info.channelId)
    this.purse = purse
    this.pending = pending
    this.#standing = standing
  }

  get standing(): PayerStanding {
    return this.#standing
  }
  get phase(): ChannelPhase {
    return this.#standing.phase
  }
  get isDisputed(): boolean {
    return this.#standing.isDisputed
  }

  /** Nothing is promised or signed on it any more unless it is open. @throws SoukError `settlement_unavailable`, `settlement_pending` */
  checkOpen(): void {
    if (this.phase === 'open') return
    if (this.isDisputed) throw disputed()
    if (this.phase === 'withdrawing') throw withdrawing()
    throw new SoukError('settlement_pending', 'The channel to this owner is being closed. Then another can be opened.')
  }

  /** Counts at once; whoever calls saves it. */
  move(phase: ChannelPhase, returned?: Atoms): void {
    checkMove(this.phase, phase)
    this.#standing = { ...this.#standing, phase, ...(returned === undefined ? {} : { returned }) }
  }

  /** The owner's books cannot be explained. Counts at once; whoever calls saves it. Tells whether it is news. */
  dispute(): boolean {
    if (this.isDisputed) return false
    this.#standing = { ...this.#standing, isDisputed: true }
    if (this.phase === 'open' || this.phase === 'closing') this.move('disputed')
    return true
  }

  /** The chain shows that its owner took no more than was agreed to. Counts at once; whoever calls saves it. */
  settle(): void {
    this.#standing = { ...this.#standing, isDisputed: false }
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

/** Said by every call that would pay such an owner: its fault, so that others come first where there are any. */
export function disputed(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'This owner says that more was paid than this node ever promised; nothing more is paid to it.',
    { source: 'owner' }
  )
}

function withdrawing(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'The deposit at this owner is being withdrawn. Then another channel can be opened.'
  )
}

interface KeptChannel extends Omit<PayerChannelInfo, 'channelId' | 'counter'> {
  readonly counter: string
  readonly ceiling: string
  readonly spent: string
  readonly deposit: string
  readonly pending?: { readonly amount: string; readonly salt: string; readonly validBefore: number }
  readonly phase: ChannelPhase
  readonly isDisputed: boolean
  readonly returned?: string
  readonly withdrawableAt?: number
}

/** @param standing As it is to be written down; default: as it is */
export function payerDocument(channel: PayerChannel, standing = channel.standing): string {
  const { info, purse, pending, withdrawableAt } = channel
  const { config, counter, owner } = info
  const { phase, isDisputed, returned } = standing
  const kept: KeptChannel = {
    config,
    counter: counter.toString(),
    owner,
    ceiling: purse.ceiling.toString(),
    spent: purse.spent.toString(),
    deposit: purse.deposit.toString(),
    phase,
    isDisputed,
    ...(returned === undefined ? {} : { returned: returned.toString() }),
    ...(withdrawableAt === undefined ? {} : { withdrawableAt }),
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
  readonly standing: PayerStanding
  readonly withdrawableAt: number | undefined
}

export function readPayerChannel(channelId: ChannelId, document: string): ReadPayerChannel {
  const { config, counter, owner, pending, phase, isDisputed, returned, ...kept } = JSON.parse(document) as KeptChannel
  return {
    info: { channelId, config, counter: BigInt(counter), owner },
    ceiling: BigInt(kept.ceiling),
    spent: BigInt(kept.spent),
    deposit: BigInt(kept.deposit),
    pending: pending && { ...pending, amount: BigInt(pending.amount), salt: BigInt(pending.salt) },
    standing: { phase, isDisputed, ...(returned === undefined ? {} : { returned: BigInt(returned) }) },
    withdrawableAt: kept.withdrawableAt
  }
}
