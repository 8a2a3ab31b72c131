import { type Clock, sleep } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { CLAIM_GAS, DEPOSIT_GAS, REFUND_GAS } from '../../base/limits/chain.ts'
import { CLOSE_CALLS_MS, LEAVE_PAUSE_MS, LEAVE_POLL_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import type { ChannelState } from '../../interface/chain.ts'
import type { ChannelWatch, Redeemer } from '../../interface/redeem.ts'
import { RetryQueue } from '../channel/retry-queue.ts'
import type { DecidedRefund, PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import type { UnearnedGas } from './unearned-gas.ts'

const UNEARNED =
  'The channel earned less than its gas cost, and the owner pays for no more such channels today. ' +
  'Withdraw from the channel yourself, which takes its delay, or close it later.'

export interface RefundServiceInit {
  readonly channels: PayeeChannels
  readonly redeemer: Pick<Redeemer, 'claim' | 'costOf' | 'refreshGas' | 'refund'>
  readonly unearned: Pick<UnearnedGas, 'takeFor'>
  readonly watch: Pick<ChannelWatch, 'refresh' | 'snapshot'>
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/**
 * The owner's side of closing a channel: stop admitting calls, claim the owed amount, refund the rest. Each step is on disk
 * before the next begins, so that a restart continues where it was.
 */
export class RefundService {
  readonly #init: RefundServiceInit
  readonly #retries: RetryQueue<PayeeChannel>
  /** Channels being admitted for closing: repeated requests take gas from the daily allowance only once. */
  readonly #admitting = new SingleFlight<PayeeChannel, void>()

  constructor(init: RefundServiceInit) {
    const { clock, onError } = init
    this.#init = init
    this.#retries = new RetryQueue({ clock, onError, pauseMs: LEAVE_PAUSE_MS })
  }

  /** Continues the closes that an earlier process began. */
  start(): void {
    for (const channel of this.#init.channels.all()) {
      if (channel.phase === 'closing') this.#retries.start(channel, (signal) => this.#close(channel, signal))
    }
  }

  /** Unfinished closes continue at the next start. */
  stop(): Promise<void> {
    return this.#retries.stop()
  }

  /**
   * Resolves when the unowed part is back with the payer. A failed close is retried in the background.
   * @param refundMax the most that the payer wants back. Default: all. The rest stays in the closed channel
   * @throws SoukError `settlement_pending`, `settlement_unavailable` if the owner does not pay the gas for it, and as
   * `Submitter.submit`
   */
  async close(channel: PayeeChannel, refundMax?: Atoms): Promise<void> {
    if (channel.phase === 'closed') return
    if (channel.phase !== 'closing') await this.#admitting.run(channel, () => this.#admit(channel, refundMax))
    await this.#retries.run(channel, (signal) => this.#close(channel, signal))
  }

  /** Runs before any change, so that a rejected channel stays open. */
  async #admit(channel: PayeeChannel, refundMax: Atoms | undefined): Promise<void> {
    const { redeemer, unearned, channels } = this.#init
    const noGas = await redeemer.refreshGas(CLAIM_GAS + REFUND_GAS)
    if (noGas !== undefined) throw noGas
    const refunds = BigInt(channel.refunds + 1)
    const cost = redeemer.costOf(BigInt(channel.deposits) * DEPOSIT_GAS + refunds * (CLAIM_GAS + REFUND_GAS))
    await unearned.takeFor(channel, cost, UNEARNED)
    channel.move('closing', refundMax === undefined ? {} : { refundMax })
    await channels.save(channel)
  }

  async #close(channel: PayeeChannel, signal: AbortSignal): Promise<void> {
    const { channels } = this.#init
    // Its deposit failed. The payer may have registered the channel again, and calls on that one are not in these funds.
    if (channel.payeeFunds.isForgotten) return
    const refund = channel.channelState.refund ?? (await this.#decide(channel, signal))
    if (refund !== undefined) {
      await this.#pay(channel, refund, signal)
      // The chain's endpoint may have been behind at the decision. Where it shows the refund, it shows the deposits before.
      const isAll = channel.channelState.refundMax === undefined
      const rest = isAll ? await this.#decide(channel, signal, refund.nonce + 1n) : undefined
      if (rest !== undefined) await this.#pay(channel, rest, signal)
    }
    await channels.close(channel)
  }

  /**
   * Decides the refund; undefined if the owner has earned the whole deposit. Durable when it resolves; the decision is final.
   * @param nonce the number of earlier refunds, which the chain must show
   */
  async #decide(channel: PayeeChannel, signal: AbortSignal, nonce = 0n): Promise<DecidedRefund | undefined> {
    const { channels, redeemer } = this.#init
    await this.#ended(channel, signal)
    const { captured } = channel.payeeFunds
    if ((await this.#look(channel)).claimed < captured) await redeemer.claim(channel.info.channelId, signal)
    const { balance, claimed, refundNonce } = await this.#look(channel)
    if (refundNonce < nonce) {
      throw new SoukError('settlement_pending', 'The chain does not show the refund at the moment. Try again later.')
    }
    const owed = captured < balance ? captured : balance
    if (claimed < owed) {
      throw new SoukError('settlement_pending', 'The owner claims its earnings first, and the claim is not mined yet.')
    }
    // A reorganisation may remove a deposit and restore it later, after the channel is forgotten.
    if (balance === 0n && refundNonce === 0n) {
      throw new SoukError('settlement_pending', 'The chain does not show the deposit at the moment. Try again later.')
    }
    if (balance <= claimed) return undefined
    const rest = balance - claimed
    const { refundMax = rest } = channel.channelState
    const refund = { amount: refundMax < rest ? refundMax : rest, nonce: refundNonce }
    channel.decide(refund)
    await channels.save(channel)
    return refund
  }

  async #pay(channel: PayeeChannel, refund: DecidedRefund, signal: AbortSignal): Promise<void> {
    const { config } = channel.info
    const isPaid = async () => (await this.#look(channel)).refundNonce > refund.nonce
    if (await isPaid()) return
    const { hash } = await this.#init.redeemer.refund({ config, ...refund }, signal)
    channel.decide({ ...refund, transaction: hash })
  }

  /** Waits for running calls, which are paid for. */
  async #ended(channel: PayeeChannel, signal: AbortSignal): Promise<void> {
    const { clock } = this.#init
    const until = clock.elapsed() + CLOSE_CALLS_MS
    while (channel.payeeFunds.reserved > 0n) {
      if (clock.elapsed() >= until)
        throw new SoukError('settlement_pending', 'Calls on the channel are still running. Try again later.')
      await sleep(clock, LEAVE_POLL_MS, signal)
    }
  }

  async #look({ info }: PayeeChannel): Promise<ChannelState> {
    const { watch } = this.#init
    await watch.refresh([info.channelId])
    const snapshot = watch.snapshot(info.channelId)
    if (snapshot === undefined)
      throw new SoukError('settlement_unavailable', 'The chain has not been read yet. Try again in a moment.')
    return snapshot.latest
  }
}
