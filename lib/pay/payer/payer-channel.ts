import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, ChannelId, ChannelPhase } from '../../interface/channel.ts'
import type { Signer } from '../../interface/signer.ts'
import { encodeAuthorization } from '../signing/authorization.ts'
import { checkMove } from '../channel/check-move.ts'
import type { PayerFunds } from './payer-funds.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { SpendingPace } from './spending-pace.ts'
import { signVoucher } from '../signing/voucher.ts'

/** Collections of a payer's documents: its channels by channel id, and the last counter of a salt. */
export const PAYER_CHANNELS = 'payer-channels'
export const PAYER_STATE = 'payer'

/** The payer's ledger accounts: a channel's balance, and its total spending. The second only grows. */
export const depositedIn = (channelId: ChannelId): string => `channel/${channelId}`
/** Earnings that the owner did not claim. They came back with the rest. */
export const unclaimedOf = (channelId: ChannelId): string => `unclaimed/${channelId}`
/** Charges that the owner served on credit and could not collect, because the deposit was never mined. */
export const uncollectedFrom = (channelId: ChannelId): string => `uncollected/${channelId}`
export const spentThrough = (channelId: ChannelId): string => `spent/${channelId}`

/** A signed deposit that is not known to be mined. No other deposit is signed until it is mined or void. */
export interface PendingDeposit {
  readonly amount: Atoms
  readonly salt: bigint
  /** Unix seconds. */
  readonly validBefore: number
  /** True if it was mined and booked, and a reorganisation removed it. */
  readonly isBooked?: true
}

export interface PayerChannelInfo {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  readonly counter: bigint
  /** Peer id of the owner. */
  readonly owner: string
}

/** Channel state that changes seldom. It is durable before anything depends on it. */
export interface PayerChannelState {
  readonly phase: ChannelPhase
  /** True if the owner's books could not be explained. For a closed channel: the owner took more than was agreed to. */
  readonly isDisputed: boolean
  /** Amount that finally came back. */
  readonly returned?: Atoms
}

/** A channel at its payer. */
export class PayerChannel {
  readonly info: PayerChannelInfo
  readonly payerFunds: PayerFunds
  pending: PendingDeposit | undefined
  /** Mined deposits that a reorganisation may still remove. */
  mined: readonly PendingDeposit[] = []
  /** True if the owner refused a call that this state covers. The chain is read before the next call. */
  isInDoubt = false
  /** The owner's refusals cause no read of the chain before this time, on the monotonic clock. */
  doubtAfter = 0
  /** The part of the spending that is in the ledger or queued for it. */
  booked: Atoms = 0n
  readonly pace = new SpendingPace()
  /** No background top-up before this time, on the monotonic clock. */
  topUpAfter = 0
  /** True while the owner is assumed to know the channel. */
  isKnown = true
  /** Earliest time to finish a withdrawal: chain time, milliseconds since the epoch. */
  withdrawableAt: number | undefined
  /** Ledger accounts of its calls; the names are built once. */
  readonly deposited: string
  readonly spent: string
  #state: PayerChannelState
  #authorization: Promise<Uint8Array> | undefined
  #ceiling = -1n
  #signed: Uint8Array | undefined

  constructor(
    info: PayerChannelInfo,
    payerFunds: PayerFunds,
    pending: PendingDeposit | undefined,
    channelState: PayerChannelState
  ) {
    this.info = info
    this.deposited = depositedIn(info.channelId)
    this.spent = spentThrough(info.channelId)
    this.payerFunds = payerFunds
    this.pending = pending
    this.#state = channelState
  }

  get channelState(): PayerChannelState {
    return this.#state
  }
  get phase(): ChannelPhase {
    return this.#state.phase
  }
  get isDisputed(): boolean {
    return this.#state.isDisputed
  }

  /** Only an open channel may promise or sign. @throws SoukError `settlement_unavailable`, `settlement_pending` */
  checkOpen(): void {
    if (this.phase === 'open') return
    if (this.isDisputed) throw disputed()
    if (this.phase === 'withdrawing') throw withdrawing()
    throw new SoukError(
      'settlement_pending',
      'The channel to this owner is being closed. Afterwards, a call opens another one.'
    )
  }

  /** Takes effect in memory at once; the caller saves the channel. */
  move(phase: ChannelPhase, returned?: Atoms): void {
    checkMove(this.phase, phase)
    this.#state = { ...this.#state, phase, ...(returned === undefined ? {} : { returned }) }
  }

  /** Marks the owner's books as unexplained, in memory; the caller saves the channel. Returns false if they were before. */
  dispute(): boolean {
    if (this.isDisputed) return false
    this.#state = { ...this.#state, isDisputed: true }
    if (this.phase === 'open' || this.phase === 'closing') this.move('disputed')
    return true
  }

  /**
   * Clears the dispute, because the chain shows that the owner took no more than was agreed to. In memory; the caller saves the
   * channel.
   */
  settle(): void {
    this.#state = { ...this.#state, isDisputed: false }
  }

  /** True if it is open, funded, known to the owner and in agreement with the owner's books. */
  get isReady(): boolean {
    const { deposit, credit, isWhole } = this.payerFunds
    return this.phase === 'open' && this.isKnown && !this.isInDoubt && isWhole && (deposit > 0n || credit > 0n)
  }

  /** The last voucher, encoded. Undefined if it does not cover all promised amounts, or is not signed yet. */
  get signed(): Uint8Array | undefined {
    return this.#ceiling >= this.payerFunds.ceiling ? this.#signed : undefined
  }

  /**
   * A voucher for all promised amounts, encoded. Reuses the last voucher while it suffices, so that a window costs one signature.
   */
  authorization(domain: SettlementDomain, signer: Signer): Promise<Uint8Array> {
    const { ceiling } = this.payerFunds
    if (this.#authorization !== undefined && this.#ceiling >= ceiling) return this.#authorization
    const authorization = signVoucher(domain, signer, this.info.channelId, ceiling).then(encodeAuthorization)
    this.#authorization = authorization
    this.#ceiling = ceiling
    this.#signed = undefined
    const settle = (signed?: Uint8Array): void => {
      if (this.#authorization !== authorization) return
      this.#signed = signed
      if (signed === undefined) this.#authorization = undefined
    }
    authorization.then(settle, () => settle())
    return authorization
  }
}

/** The error of every call that would pay a disputed owner. Its source is the owner, so that other owners are tried first. */
export function disputed(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'This owner took or reports more than this node promised, so this node pays it no more. A copy of this node that runs with the same wallet can be the cause. See: souk channel list --all',
    { source: 'owner' }
  )
}

function withdrawing(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'The deposit at this owner is being withdrawn. Afterwards, a call opens another channel.'
  )
}

interface KeptDeposit extends Pick<PendingDeposit, 'validBefore' | 'isBooked'> {
  readonly amount: string
  readonly salt: string
}

interface KeptChannel extends Omit<PayerChannelInfo, 'channelId' | 'counter'> {
  readonly counter: string
  readonly ceiling: string
  readonly spent: string
  readonly deposit: string
  readonly pending?: KeptDeposit
  readonly mined?: readonly KeptDeposit[]
  readonly phase: ChannelPhase
  readonly isDisputed: boolean
  readonly returned?: string
  readonly withdrawableAt?: number
}

/** @param channelState the state to write; default: the channel's current state */
export function payerDocument(channel: PayerChannel, channelState = channel.channelState): string {
  const { info, payerFunds, pending, mined, withdrawableAt } = channel
  const { config, counter, owner } = info
  const { phase, isDisputed, returned } = channelState
  const kept: KeptChannel = {
    config,
    counter: counter.toString(),
    owner,
    ceiling: payerFunds.ceiling.toString(),
    spent: payerFunds.spent.toString(),
    deposit: payerFunds.deposit.toString(),
    phase,
    isDisputed,
    ...(returned === undefined ? {} : { returned: returned.toString() }),
    ...(withdrawableAt === undefined ? {} : { withdrawableAt }),
    ...(pending && { pending: keptDeposit(pending) }),
    ...(mined.length > 0 && { mined: mined.map(keptDeposit) })
  }
  return JSON.stringify(kept)
}

const keptDeposit = ({ amount, salt, ...rest }: PendingDeposit): KeptDeposit => ({
  ...rest,
  amount: amount.toString(),
  salt: salt.toString()
})

const readDeposit = ({ amount, salt, ...rest }: KeptDeposit): PendingDeposit => ({
  ...rest,
  amount: BigInt(amount),
  salt: BigInt(salt)
})

export interface ReadPayerChannel {
  readonly info: PayerChannelInfo
  readonly ceiling: Atoms
  readonly spent: Atoms
  readonly deposit: Atoms
  readonly pending: PendingDeposit | undefined
  readonly mined: readonly PendingDeposit[]
  readonly channelState: PayerChannelState
  readonly withdrawableAt: number | undefined
}

export function readPayerChannel(channelId: ChannelId, document: string): ReadPayerChannel {
  const { config, counter, owner, pending, phase, isDisputed, returned, ...kept } = JSON.parse(document) as KeptChannel
  return {
    info: { channelId, config, counter: BigInt(counter), owner },
    ceiling: BigInt(kept.ceiling),
    spent: BigInt(kept.spent),
    deposit: BigInt(kept.deposit),
    pending: pending && readDeposit(pending),
    mined: (kept.mined ?? []).map(readDeposit),
    channelState: { phase, isDisputed, ...(returned === undefined ? {} : { returned: BigInt(returned) }) },
    withdrawableAt: kept.withdrawableAt
  }
}
