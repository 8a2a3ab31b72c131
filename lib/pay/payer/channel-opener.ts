import type { Logger } from '@libp2p/interface'
import { max, min } from '../../base/bigints.ts'
import type { Clock } from '../../base/clock.ts'
import { reasonOf, SILENT_LOG } from '../../base/component-log.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { ignore } from '../../base/ignore.ts'
import {
  COUNTERS_TRIED_MAX,
  DEPOSIT_MARGIN_MS,
  DEPOSIT_VALID_MS,
  LEAVE_PAUSE_MS,
  WITHDRAW_DELAY_AGREED_S_MAX
} from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import type { Random } from '../../base/random.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import type { Chain, ChannelState } from '../../interface/chain.ts'
import type { ChannelConfig } from '../../interface/channel.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { Link } from '../../interface/link.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import { channelSalt } from '../signing/channel-salt.ts'
import type { DailyCap } from './daily-cap.ts'
import { type PayClient, unreadable } from '../channel/pay-client.ts'
import type { ChannelBooks, Terms } from '../channel/pay-messages.ts'
import type { PayRules } from './pay-rules.ts'
import { depositedIn, PayerChannel, type PayerChannelInfo, type PendingDeposit } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'
import { PayerFunds } from './payer-funds.ts'
import { RetryQueue } from '../channel/retry-queue.ts'
import { depositNonce } from '../chain/settlement-calls.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import type { TokenDomain } from '../signing/token-domain.ts'

export interface ChannelOpenerInit {
  readonly link: Pick<Link, 'self'>
  readonly ask: PayClient
  readonly chain: Pick<Chain, 'parameters' | 'channels' | 'balance' | 'block' | 'authorizationUsed'>
  readonly signer: Signer
  readonly domain: SettlementDomain
  readonly token: TokenDomain
  readonly channels: PayerChannels
  readonly ledger: Pick<Ledger, 'book'>
  readonly rules: PayRules
  readonly cap: DailyCap
  readonly clock: Clock
  readonly random: Random
  /** Default: none. */
  readonly log?: Logger
}

const OPEN = { phase: 'open', isDisputed: false } as const

/** Opens and funds channels: the payer signs one deposit, and the owner submits it. */
export class ChannelOpener {
  readonly #init: ChannelOpenerInit
  readonly #log: Logger
  readonly #funding = new SingleFlight<PayerChannel, void>()
  readonly #followUps: RetryQueue<PayerChannel>

  constructor(init: ChannelOpenerInit) {
    this.#init = init
    // A call that needs the deposit reports the error.
    this.#followUps = new RetryQueue({ clock: init.clock, pauseMs: LEAVE_PAUSE_MS, onError: () => {} })
    this.#log = init.log ?? SILENT_LOG
  }

  /**
   * @param price of the first call. The deposit covers it
   * @throws SoukError `insufficient_funds`, `settlement_pending`, `settlement_unavailable`, `payment_rejected`
   */
  async open(owner: string, receiver: Address, price: Atoms): Promise<PayerChannel> {
    const { channels, signer, chain, domain, link } = this.#init
    const terms = await this.#terms(owner)
    for (let tries = 0; tries < COUNTERS_TRIED_MAX; tries++) {
      const counter = await channels.nextCounter()
      const config: ChannelConfig = {
        payer: signer.address,
        payerAuthorizer: signer.address,
        receiver,
        receiverAuthorizer: terms.settlement,
        token: chain.parameters.usdc.address,
        withdrawDelay: terms.withdrawDelay,
        salt: channelSalt(link.self, counter)
      }
      const info = { channelId: domain.channelId(config), config, counter, owner }
      const [state] = (await chain.channels([info.channelId], 'latest')).channels
      if (state === undefined || isUnused(state))
        return this.#begin(info, await this.#amountFor(price, terms.depositMin))
      if (state.balance > state.claimed && state.withdrawal === undefined) return this.#adopt(info, state)
    }
    throw new SoukError(
      'settlement_unavailable',
      'Every channel number tried is in use on chain. Try again to test further numbers.'
    )
  }

  async #begin(info: PayerChannelInfo, amount: Atoms): Promise<PayerChannel> {
    const { channels, rules, cap } = this.#init
    const payerFunds = new PayerFunds({ ceiling: 0n, spent: 0n, deposit: 0n, isWhole: true }, rules, cap)
    const channel = new PayerChannel(info, payerFunds, this.#newDeposit(amount), OPEN)
    // The channel is on disk before the deposit is signed. A deposit without a record would be lost to this node.
    await channels.add(channel)
    if (this.#log.enabled) this.#log('opens channel %s to %s', info.channelId, info.owner)
    await this.fund(channel)
    return channel
  }

  /** Restores a channel that was opened before this node lost its ledger. The owner's books supply the rest. */
  async #adopt(info: PayerChannelInfo, { balance, claimed }: ChannelState): Promise<PayerChannel> {
    const { channels, rules, cap, ledger, clock } = this.#init
    const { channelId } = info
    const payerFunds = new PayerFunds(
      { ceiling: claimed, spent: claimed, deposit: balance, isWhole: false },
      rules,
      cap
    )
    const channel = new PayerChannel(info, payerFunds, undefined, OPEN)
    const postings = [
      { account: depositedIn(channelId), amount: balance },
      { account: 'wallet', amount: -balance }
    ]
    await ledger.book({ kind: 'deposit', reference: `${channelId}/found`, at: clock.now(), postings })
    await channels.add(channel)
    if (this.#log.enabled) this.#log('found channel %s to %s with %s USDC', channelId, info.owner, formatUsdc(balance))
    return channel
  }

  /** Continues to look for deposits that an earlier process left pending. They are sent again only when a call needs them. */
  start(): void {
    for (const channel of this.#init.channels.all()) {
      if (channel.pending !== undefined && channel.phase === 'open') {
        this.#followUps.start(channel, () => this.conclude(channel))
      }
    }
  }

  /** Pending deposits are looked for at the next start. */
  stop(): Promise<void> {
    return this.#followUps.stop()
  }

  /**
   * Finishes a pending deposit, or makes one. Concurrent callers share it. If the owner gives a credit for the first deposit of a
   * channel, resolves at once and finishes in the background.
   * @param missing the deposit is at least this
   * @param wish the deposit is this, if that is more and the wallet has it
   * @throws as `open`
   */
  fund(channel: PayerChannel, missing: Atoms = 0n, wish: Atoms = 0n): Promise<void> {
    return this.#funding.run(channel, () => this.#fund(channel, missing, wish))
  }

  /**
   * Deposits before it is needed, unless the wallet then had less than `keep`, for channels to other owners. Returns false in that case.
   * @throws as `open`
   */
  async fundAhead(channel: PayerChannel, wish: Atoms, keep: Atoms): Promise<boolean> {
    const { chain, signer, rules } = this.#init
    // Not as a part of `fund`: a call that needs the deposit meanwhile must not share this refusal.
    const spare = (await chain.balance(signer.address, 'latest')) - keep
    if (spare < rules.deposit) return false
    await this.fund(channel, 0n, min(wish, spare))
    return true
  }

  /** Finishes a pending deposit: when this resolves, it is mined. @throws as `open` */
  async finish(channel: PayerChannel, signal?: AbortSignal): Promise<void> {
    await this.#funding.get(channel)?.catch(ignore)
    const { pending } = channel
    if (pending !== undefined) await this.#funding.run(channel, () => this.#bring(channel, pending, signal))
  }

  /** Finds out the outcome of a pending deposit. @throws SoukError `settlement_pending` if it is not known yet */
  async conclude(channel: PayerChannel): Promise<void> {
    await this.#funding.get(channel)?.catch(ignore)
    const { pending } = channel
    if (pending !== undefined && (await this.#fate(channel, pending)) === 'unknown') throw onItsWay()
  }

  /** Registers a channel again at an owner that lost its books. @throws as `open` */
  async introduce(channel: PayerChannel): Promise<void> {
    await this.#offer(channel, undefined)
  }

  /** Finds deposits that a reorganisation removed. The first of them is pending again. @throws as `Chain` */
  async recheck(channel: PayerChannel): Promise<void> {
    await this.#funding.get(channel)?.catch(ignore)
    const hasExpired = await this.#expiry()
    for (const deposit of channel.mined) {
      if (await this.#isMined(channel, deposit)) {
        if (hasExpired(deposit)) channel.mined = channel.mined.filter((other) => other !== deposit)
        continue
      }
      if (channel.pending !== undefined) return
      await this.#init.channels.onRemoved(channel, deposit)
      this.#log('channel %s: the chain lost a deposit of %s USDC', channel.info.channelId, formatUsdc(deposit.amount))
    }
  }

  /** The owner's books of the channel. @throws SoukError the owner's refusal */
  async books({ info }: PayerChannel): Promise<ChannelBooks> {
    const reply = await this.#init.ask(info.owner, { kind: 'state', channelId: info.channelId })
    if (reply.kind !== 'state') throw unreadable()
    return reply.state
  }

  async #fund(channel: PayerChannel, missing: Atoms, wish: Atoms): Promise<void> {
    const { channels, clock } = this.#init
    const { payerFunds } = channel
    const expiry = (channel.pending?.validBefore ?? 0) * 1_000 - DEPOSIT_MARGIN_MS
    if (channel.pending !== undefined && clock.now() >= expiry) {
      const fate = await this.#fate(channel, channel.pending)
      if (fate === 'mined') return
      if (fate === 'unknown') throw onItsWay()
    }
    if (channel.pending === undefined) {
      channel.checkOpen()
      const { depositMin } = await this.#terms(channel.info.owner)
      const amount = await this.#amountFor(missing, depositMin, wish)
      // The channel may have ended meanwhile. Nothing would look for a deposit into it.
      channel.checkOpen()
      channel.pending = this.#newDeposit(amount)
      await channels.save(channel)
    }
    const { pending } = channel
    // A channel can only be closed once the outcome of its deposit is known.
    const isEarly = channel.phase === 'open' && payerFunds.deposit === 0n && payerFunds.credit === 0n
    const credit = isEarly ? await this.#offer(channel, pending, { isEarly }).catch(asSoukError) : 0n
    if (typeof credit !== 'bigint') return this.#concluded(channel, pending, credit)
    if (credit === 0n) return isEarly ? this.#concluded(channel, pending) : this.#bring(channel, pending)
    payerFunds.lend(credit < pending.amount ? credit : pending.amount)
    this.#log(
      'channel %s: the owner serves %s USDC before the deposit is mined',
      channel.info.channelId,
      formatUsdc(credit)
    )
    this.#followUps.start(channel, (signal) => this.finish(channel, signal))
  }

  async #bring(channel: PayerChannel, pending: PendingDeposit, signal?: AbortSignal): Promise<void> {
    const refused = await this.#offer(channel, pending, { signal }).then(() => undefined, asSoukError)
    await this.#concluded(channel, pending, refused)
  }

  /** @param refused the owner's error, if it refused the deposit */
  async #concluded(channel: PayerChannel, pending: PendingDeposit, refused?: SoukError): Promise<void> {
    const fate = await this.#fate(channel, pending)
    if (refused?.code === 'payment_rejected') channel.payerFunds.lend(0n)
    if (this.#log.enabled) {
      const why = refused === undefined ? '' : `, owner: ${reasonOf(refused)}`
      this.#log('deposit of %s USDC into %s: %s%s', formatUsdc(pending.amount), channel.info.channelId, fate, why)
    }
    if (fate === 'mined') return
    if (refused?.code === 'payment_rejected' && channel.phase === 'open') await this.#checkWallet(pending.amount)
    throw refused ?? onItsWay()
  }

  async #fate(channel: PayerChannel, pending: PendingDeposit): Promise<'mined' | 'void' | 'unknown'> {
    const { channels } = this.#init
    // Read the expiry first: a deposit that is not on chain after this can never be mined.
    const isVoid = (await this.#expiry())(pending)
    if (await this.#isMined(channel, pending)) {
      await channels.onMined(channel, pending)
      return 'mined'
    }
    if (!isVoid) return 'unknown'
    await channels.onVoid(channel, pending)
    return 'void'
  }

  async #terms(owner: string): Promise<Terms> {
    const { rules, ask } = this.#init
    const reply = await ask(owner, { kind: 'terms' })
    if (reply.kind !== 'terms') throw unreadable()
    const { terms } = reply
    if (terms.withdrawDelay > WITHDRAW_DELAY_AGREED_S_MAX) {
      throw new SoukError(
        'settlement_unavailable',
        'This owner’s withdrawal delay is longer than this node accepts. Choose another owner.'
      )
    }
    if (terms.depositMin > rules.depositMax) {
      const [asked, most] = [formatUsdc(terms.depositMin), formatUsdc(rules.depositMax)]
      throw new SoukError(
        'settlement_unavailable',
        `This owner requires a deposit of ${asked} USDC; this node's limit is ${most} USDC.`
      )
    }
    return terms
  }

  /**
   * Returns the owner's credit; 0 if the deposit is mined.
   * @throws SoukError the owner's refusal, or `payment_malformed` for another reply than the channel's state
   */
  async #offer(
    channel: PayerChannel,
    pending: PendingDeposit | undefined,
    { isEarly = false, signal }: { readonly isEarly?: boolean; readonly signal?: AbortSignal | undefined } = {}
  ): Promise<Atoms> {
    const { token, signer, chain } = this.#init
    const { config, counter, owner, channelId } = channel.info
    const { amount, salt, validBefore } = pending ?? { amount: 0n, salt: 0n, validBefore: 0 }
    const authorization = {
      from: config.payer,
      to: chain.parameters.collector.address,
      value: amount,
      validAfter: 0,
      validBefore,
      nonce: depositNonce(channelId, salt)
    }
    const signature = await signer.sign(token.receive(authorization))
    const deposit = { config, counter, amount, validAfter: 0, validBefore, salt, signature, isEarly }
    const reply = await this.#init.ask(owner, { kind: 'deposit', deposit }, signal)
    if (reply.kind !== 'state') throw unreadable()
    channel.isKnown = true
    return reply.credit ?? 0n
  }

  #newDeposit(amount: Atoms): PendingDeposit {
    const { clock, random } = this.#init
    const [salt = 0n] = new BigUint64Array(random.fill(new Uint8Array(8)).buffer)
    return { amount, salt, validBefore: Math.floor((clock.now() + DEPOSIT_VALID_MS) / 1_000) }
  }

  /**
   * The amount of a deposit that covers `needed`. A fee above the usual deposit gets a usual one in addition, if the wallet has it:
   * otherwise the calls that follow would wait for a second deposit.
   * @throws SoukError `insufficient_funds`
   */
  async #amountFor(needed: Atoms, least: Atoms, wish: Atoms = 0n): Promise<Atoms> {
    const usual = max(this.#init.rules.deposit, least)
    const amount = max(needed, usual)
    const better = needed > usual ? needed + usual : max(amount, wish)
    return (await this.#checkWallet(amount)) >= better ? better : amount
  }

  /** The wallet's balance. @throws SoukError `insufficient_funds` if it is below `amount` */
  async #checkWallet(amount: Atoms): Promise<Atoms> {
    const { address } = this.#init.signer
    const balance = await this.#init.chain.balance(address, 'latest')
    if (balance >= amount) return balance
    const [there, wanted, missing] = [balance, amount, amount - balance].map(formatUsdc)
    throw new SoukError(
      'insufficient_funds',
      `The wallet of this node holds ${there} USDC; a deposit of ${wanted} USDC is needed. Send ${missing} USDC to ${address}, or close a channel that is not used any more.`
    )
  }

  /** Tests whether a deposit has expired by final chain time. Then it is in a final block, or can never be mined. */
  async #expiry(): Promise<(deposit: PendingDeposit) => boolean> {
    const final = await this.#init.chain.block('finalized')
    return ({ validBefore }) => final !== undefined && final.at >= validBefore * 1_000
  }

  #isMined({ info }: PayerChannel, { salt }: PendingDeposit): Promise<boolean> {
    const { chain, signer } = this.#init
    return chain.authorizationUsed(signer.address, depositNonce(info.channelId, salt))
  }
}

function onItsWay(): SoukError {
  return new SoukError('settlement_pending', 'The deposit is not on the chain yet. Try again later.')
}

const isUnused = ({ balance, claimed, refundNonce }: ChannelState): boolean =>
  balance === 0n && claimed === 0n && refundNonce === 0n
