import { EMPTY_BYTES } from '../../base/bytes.ts'
import { type Clock, deadline } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import { ignore } from '../../base/ignore.ts'
import { DEPOSIT_GAS } from '../../base/limits/chain.ts'
import { CHANNELS_MAX, CHANNELS_PER_PEER_MAX, DEPOSIT_MARGIN_MS, DEPOSIT_WAIT_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import { KeyedMutex } from '../../base/mutex.ts'
import type { Chain } from '../../interface/chain.ts'
import type { ChannelConfig, ChannelId } from '../../interface/channel.ts'
import type { ContractPayments } from '../chain/contract-payments.ts'
import type { ChannelWatch, Redeemer } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import { CEILING_MAX } from '../signing/authorization.ts'
import { checkChannel } from '../channel/check-channel.ts'
import type { DepositCredit } from './deposit-credit.ts'
import type { PayeeChannel, PayeeChannelInfo, PayeeChannelState } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import type { DepositRequest, Terms } from '../channel/pay-messages.ts'
import { depositNonce } from '../chain/settlement-calls.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { signerOf } from '../signing/signature.ts'
import { within } from '../../base/within.ts'
import type { GiveBack, UnearnedGas } from './unearned-gas.ts'
import type { TokenDomain } from '../signing/token-domain.ts'

export interface DepositServiceInit {
  readonly terms: Terms
  readonly chain: Pick<Chain, 'parameters' | 'authorizationUsed' | 'code'>
  readonly redeemer: Pick<Redeemer, 'checkGas' | 'costOf' | 'deposit' | 'depositHash' | 'isDepositing' | 'refreshGas'>
  readonly unearned: Pick<UnearnedGas, 'takeFor'>
  readonly contractPayments: ContractPayments
  readonly credit: Pick<DepositCredit, 'give' | 'end'>
  readonly watch: Pick<ChannelWatch, 'refresh'>
  readonly channels: PayeeChannels
  readonly domain: SettlementDomain
  readonly token: TokenDomain
  readonly clock: Clock
  readonly splitterOf: (payout: Address) => Address
  readonly payouts: () => Iterable<Address>
}

const UNEARNED =
  'The channel earned less than the gas of its deposits cost, and the owner pays for no more deposits today. ' +
  'Spend what is in the channel, or deposit more later.'

/** A new channel, before its deposit is submitted. */
const UNPAID: PayeeChannelState = { phase: 'open', deposits: 0 }

export type Deposit = Omit<DepositRequest, 'counter'>

/** Registers a channel that is on chain already. */
export const noDeposit = (config: ChannelConfig): Deposit => ({
  config,
  amount: 0n,
  validAfter: 0,
  validBefore: 0,
  salt: 0n,
  signature: EMPTY_BYTES
})

export interface Brought {
  readonly channel: PayeeChannel
  /** The hash of the deposit's transaction, once it is sent. Undefined if there was no deposit, or if it was on chain already. */
  readonly transaction: () => Hex | undefined
  /** The total of calls that are admitted before the deposit is mined. 0 if nothing is being submitted. */
  readonly credit: Atoms
}

/** A deposit on its way: `submitting` resolves when the contract would accept it, and never if it was sent before. */
interface Submission {
  readonly submitting: Promise<void>
  readonly mined: Promise<Hex | undefined>
}

/** The owner's deposit service: checks channel and authorisation, and submits the deposit. */
export class DepositService {
  readonly #init: DepositServiceInit
  /** Keyed by channel id and salt of the deposit. */
  readonly #running = new Map<string, Submission>()
  /** Channels with a credit, until the submission of their deposit ends. */
  readonly #onCredit = new Map<ChannelId, Promise<void>>()
  readonly #registering = new KeyedMutex()

  constructor(init: DepositServiceInit) {
    this.#init = init
  }

  /** Waits while a deposit of the channel is submitted on credit. @throws SoukError `settlement_pending` */
  async settled(channelId: ChannelId): Promise<void> {
    const settled = this.#onCredit.get(channelId)
    if (settled !== undefined) await this.#inTime(settled)
  }

  /**
   * Submits a deposit. Without an amount, only registers a channel that is on chain already. If the request is early and the owner
   * gives a credit, resolves when the first deposit of a new channel is about to be sent, otherwise when it is mined.
   * @param peer the node whose calls the channel may pay; undefined if the payer is a client without a node
   * @throws SoukError `payment_rejected`, `overloaded`, `settlement_pending`, `settlement_unavailable`
   */
  async bring(deposit: Deposit, peer: string | undefined): Promise<Brought> {
    const { chain, domain, splitterOf, payouts, redeemer } = this.#init
    const { config, amount } = deposit
    const channelId = domain.channelId(config)
    const receivers = new Set([...payouts()].map(splitterOf))
    checkChannel(config, { terms: this.#termsOf(config, channelId), token: chain.parameters.usdc.address, receivers })
    if (amount > 0n) this.#checkAuthorization(deposit, channelId)
    await redeemer.refreshGas(DEPOSIT_GAS)
    const info = { channelId, config, ...(peer === undefined ? {} : { peer }) }
    // Two requests would register it twice, and calls of one would be missing in the other.
    const { channel, isKnown } = await this.#registering.run(channelId, () => this.#register(info, amount))
    const task = this.#submit(channel, deposit, isKnown)
    if (deposit.isEarly === true && amount > 0n) {
      const credit = isKnown ? channel.payeeFunds.credit : await this.#lend(channel, deposit, task)
      if (credit > 0n) return { channel, credit, transaction: () => redeemer.depositHash(config, deposit.salt) }
    }
    const transaction = await this.#inTime(task.mined)
    return { channel, credit: 0n, transaction: () => transaction }
  }

  async #register(info: PayeeChannelInfo, amount: Atoms): Promise<{ channel: PayeeChannel; isKnown: boolean }> {
    const { channels } = this.#init
    const { channelId, peer } = info
    const known = channels.get(channelId)
    if (known !== undefined && !mayReopen(known, peer)) return { channel: known, isKnown: true }
    this.#checkRoom(peer)
    if (amount === 0n) await this.#checkFilled(channelId)
    const channel = await channels.add(info, known?.reopened() ?? (amount > 0n ? UNPAID : undefined))
    return { channel, isKnown: false }
  }

  /** An open channel keeps its delay when the owner raises the delay for new ones: otherwise its payer could deposit no more. */
  #termsOf({ withdrawDelay }: ChannelConfig, channelId: ChannelId): Terms {
    const { terms, channels } = this.#init
    return channels.get(channelId)?.isLeft === false ? { ...terms, withdrawDelay } : terms
  }

  async #inTime<T>(mined: Promise<T>): Promise<T> {
    const limit = deadline(this.#init.clock, DEPOSIT_WAIT_MS, pending)
    try {
      return await within(mined, limit.signal)
    } finally {
      limit.clear()
    }
  }

  /** The credit of a new channel whose deposit the contract would accept; 0 if the caller has to wait for the deposit. */
  async #lend(channel: PayeeChannel, { salt }: Deposit, { mined, submitting }: Submission): Promise<Atoms> {
    const { redeemer, credit, watch } = this.#init
    const { channelId } = channel.info
    const [isSubmitting] = await Promise.all([
      Promise.race([submitting.then(() => true), mined.then(() => false)]),
      // A call is admitted only with a view of the chain. If this read fails, the call reads again.
      watch.refresh([channelId]).catch(ignore)
    ])
    if (!isSubmitting) return 0n
    const given = credit.give(channel, salt, redeemer.costOf(DEPOSIT_GAS))
    const settled = mined
      .catch(ignore)
      .then(() => credit.end(channelId))
      .catch(ignore)
    this.#onCredit.set(channelId, settled)
    void settled.then(() => this.#onCredit.delete(channelId))
    return given
  }

  /** Checks the chain before the first write, because anybody can name channels that do not exist. */
  async #checkFilled(channelId: ChannelId): Promise<void> {
    const { channels, watch, terms } = this.#init
    await watch.refresh([channelId])
    if (channels.shownAt(channelId) <= 0n) throw empty()
    const { balance, claimed } = channels.snapshot(channelId)?.latest ?? { balance: 0n, claimed: 0n }
    // Only this owner claims, so it knew the channel before. Others could register any number for the gas alone.
    if (claimed > 0n || balance >= terms.depositMin) return
    throw new SoukError('payment_rejected', `The channel’s deposit is under ${terms.depositMin} atoms.`)
  }

  /** @throws SoukError `payment_rejected` */
  #checkAuthorization({ config, amount, validAfter, validBefore, salt, signature }: Deposit, id: ChannelId): void {
    const { terms, token, chain, clock } = this.#init
    const must = (holds: boolean, otherwise: string): void => {
      if (!holds) throw new SoukError('payment_rejected', `The deposit is refused: ${otherwise}.`)
    }
    must(
      amount >= terms.depositMin && amount <= CEILING_MAX,
      `it is under ${terms.depositMin} atoms, or above the highest amount`
    )
    must(validAfter * 1_000 <= clock.now(), 'it is not valid yet')
    must(validBefore * 1_000 >= clock.now() + DEPOSIT_MARGIN_MS, 'it is not valid for long enough')
    const authorization = {
      from: config.payer,
      to: chain.parameters.collector.address,
      value: amount,
      validAfter,
      validBefore,
      nonce: depositNonce(id, salt)
    }
    must(signerOf(token.receive(authorization), signature) === config.payer, 'it is not signed by the payer')
  }

  /** @throws SoukError `overloaded`, `settlement_unavailable` */
  #checkRoom(peer: string | undefined): void {
    const { channels, redeemer } = this.#init
    const isTooMany = peer !== undefined && channels.countOf(peer) >= CHANNELS_PER_PEER_MAX
    if (channels.size >= CHANNELS_MAX || isTooMany) {
      throw new SoukError('overloaded', 'The owner accepts no more channels at the moment. Try again later.')
    }
    redeemer.checkGas(DEPOSIT_GAS)
  }

  /** A repeated request joins the running submission. Nobody has to wait for it. */
  #submit(channel: PayeeChannel, deposit: Deposit, isFurther: boolean): Submission {
    const key = `${channel.info.channelId}/${deposit.salt}`
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const { promise: submitting, resolve: onSubmitting } = Promise.withResolvers<void>()
    const mined = this.#bring(channel, deposit, isFurther, onSubmitting).finally(() => this.#running.delete(key))
    // A caller that waits for the deposit gets the error.
    mined.catch(ignore)
    const submission = { mined, submitting }
    this.#running.set(key, submission)
    return submission
  }

  /** Idempotent, also after a restart: a repeated request returns the same transaction. */
  async #bring(
    channel: PayeeChannel,
    deposit: Deposit,
    isFurther: boolean,
    onSubmitting: () => void
  ): Promise<Hex | undefined> {
    const { channels, watch } = this.#init
    const { channelId } = channel.info
    let transaction: Hex | undefined
    try {
      if (deposit.amount > 0n) transaction = await this.#send(channel, deposit, isFurther, onSubmitting)
      await watch.refresh([channelId])
    } finally {
      // A rejected deposit leaves no channel behind.
      if (!isFurther && channels.shownAt(channelId) <= 0n) await channels.remove(channelId)
    }
    if (channels.get(channelId) !== channel) throw empty()
    return transaction
  }

  async #send(
    channel: PayeeChannel,
    { config, ...deposit }: Deposit,
    isFurther: boolean,
    onSubmitting: () => void
  ): Promise<Hex | undefined> {
    const { redeemer, chain, contractPayments } = this.#init
    // A second transaction for a deposit that is on chain could only fail.
    const nonce = depositNonce(channel.info.channelId, deposit.salt)
    const [isUsed, code] = await Promise.all([chain.authorizationUsed(config.payer, nonce), chain.code(config.payer)])
    if (isUsed) return undefined
    let giveBack: GiveBack | undefined
    let isCounted = false
    const name = `${config.payer}/${nonce}`
    const admit = async () => {
      if (code !== '0x') {
        contractPayments.take(name)
        isCounted = true
      }
      giveBack = await this.#admit(channel, isFurther)
      onSubmitting()
    }
    try {
      const { hash } = await redeemer.deposit(config, deposit, undefined, admit)
      if (isCounted) contractPayments.giveBack(name)
      return hash
    } catch (error) {
      const isUnsent =
        !redeemer.isDepositing(config, deposit.salt) && redeemer.depositHash(config, deposit.salt) === undefined
      if (isUnsent && isCounted) contractPayments.giveBack(name)
      if (isUnsent) await giveBack?.()
      throw error
    }
  }

  /**
   * Each deposit costs gas, so the channel must first have earned the gas of its earlier deposits. Called when the contract would
   * accept the deposit. The result is for a deposit that is not sent after all: it costs no gas, so it uses no allowance.
   */
  async #admit(channel: PayeeChannel, isFurther: boolean): Promise<GiveBack> {
    const { channels, redeemer, unearned } = this.#init
    const spent = redeemer.costOf(BigInt(channel.deposits) * DEPOSIT_GAS)
    const giveBack = isFurther ? await unearned.takeFor(channel, spent, UNEARNED) : undefined
    channel.countDeposits(1)
    await channels.save(channel)
    return async () => {
      channel.countDeposits(-1)
      await channels.save(channel)
      await giveBack?.()
    }
  }
}

/**
 * Whether the request opens a closed channel again: a client without a node has only one channel with an owner. False for a channel that is
 * open. @throws SoukError `payment_rejected`
 */
function mayReopen({ info, isLeft, phase }: PayeeChannel, peer: string | undefined): boolean {
  if (info.peer !== peer) throw new SoukError('payment_rejected', 'The channel belongs to another payer.')
  if (!isLeft) return false
  if (peer === undefined && phase === 'closed') return true
  throw new SoukError('payment_rejected', 'The channel is closed, or about to be.')
}

const pending = () => new SoukError('settlement_pending', 'The deposit is not mined yet. Repeat the request.')
const empty = () => new SoukError('payment_rejected', 'The channel holds no deposit.')
