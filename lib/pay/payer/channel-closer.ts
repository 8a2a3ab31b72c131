import { type Clock, sleep } from '../../base/clock.ts'
import { asSoukError, type ErrorCode, SoukError } from '../../base/errors.ts'
import { CLOSE_CALLS_MS, CLOSE_MS, LEAVE_PAUSE_MS, LEAVE_POLL_MS } from '../../base/limits/pay.ts'
import { within } from '../../base/within.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelOpener } from './channel-opener.ts'
import { RetryQueue } from '../channel/retry-queue.ts'
import { type PayClient, unreadable } from '../channel/pay-client.ts'
import type { ChannelBooks } from '../channel/pay-messages.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'
import { signerOf } from '../signing/signature.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { checkWithdrawGas, withdraw, type WithdrawalInit } from './withdrawal.ts'

export interface ChannelCloserInit extends WithdrawalInit {
  readonly channels: PayerChannels
  readonly opener: Pick<ChannelOpener, 'conclude' | 'finish' | 'introduce' | 'recheck'>
  readonly ask: PayClient
  readonly domain: SettlementDomain
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/** Errors that mean: the owner is working on it, or will soon. */
const NOT_YET: ReadonlySet<ErrorCode> = new Set(['settlement_pending', 'overloaded'])

/**
 * Closes a payer's channels: with the owner, who returns the unspent deposit, or without it. Each step is on disk before a
 * request or transaction is sent, and continues after a restart.
 */
export class ChannelCloser {
  readonly #init: ChannelCloserInit
  readonly #retries: RetryQueue<PayerChannel>
  /** Withdrawals whose beginning a caller waits for. */
  readonly #begun = new Map<PayerChannel, PromiseWithResolvers<void>>()

  constructor(init: ChannelCloserInit) {
    const { clock, onError } = init
    this.#init = init
    this.#retries = new RetryQueue({ clock, onError, pauseMs: LEAVE_PAUSE_MS })
  }

  /** Continues the closes and withdrawals of an earlier process. */
  start(): void {
    for (const channel of this.#init.channels.all()) {
      if (channel.phase !== 'open' && channel.phase !== 'closed') this.leave(channel)
    }
  }

  /** Unfinished work continues at the next start. */
  stop(): Promise<void> {
    return this.#retries.stop()
  }

  /**
   * Closes in the background, by the channel's phase. In a dispute this node does not ask the owner, but withdraws.
   */
  leave(channel: PayerChannel): void {
    this.#leave(channel).catch(() => {})
  }

  /**
   * Resolves when the chain shows that the owner returned the unspent deposit. A failed or abandoned close is retried in the
   * background.
   * @throws SoukError `invalid_request` if there is nothing to close, the owner's refusal, `settlement_pending`
   */
  async close(channelId: ChannelId, signal?: AbortSignal): Promise<PayerChannel> {
    const channel = this.#find(channelId)
    if (channel.phase === 'closed') return channel
    if (channel.phase !== 'open' && channel.phase !== 'closing') {
      throw new SoukError(
        'invalid_request',
        `The channel is ${channel.phase}: its deposit is being withdrawn without the owner.`
      )
    }
    if (channel.phase === 'open') channel.move('closing')
    await this.#init.channels.save(channel)
    await within(this.#leave(channel), signal)
    return channel
  }

  /**
   * Resolves when the chain shows that the withdrawal has begun. The rest runs in the background for the channel's delay.
   * @throws SoukError `invalid_request` if there is no such channel, `settlement_unavailable` if there is no gas for it
   */
  async withdraw(channelId: ChannelId, signal?: AbortSignal): Promise<PayerChannel> {
    const channel = this.#find(channelId)
    if (channel.phase === 'closed' || channel.withdrawableAt !== undefined) return channel
    await checkWithdrawGas(this.#init)
    if (channel.phase === 'closing') await this.#retries.drop(channel)
    if (channel.phase === 'open' || channel.phase === 'closing') channel.move('withdrawing')
    await this.#init.channels.save(channel)
    const begun = this.#begun.get(channel) ?? Promise.withResolvers<void>()
    this.#begun.set(channel, begun)
    await within(Promise.race([begun.promise, this.#leave(channel)]), signal)
    return channel
  }

  #find(channelId: ChannelId): PayerChannel {
    const channel = this.#init.channels.find(channelId)
    if (channel === undefined) throw new SoukError('invalid_request', 'This node pays through no channel with this id.')
    return channel
  }

  #leave(channel: PayerChannel): Promise<void> {
    return this.#retries.run(channel, async (signal) => {
      if (channel.phase === 'closing') await this.#close(channel, signal)
      if (!isClosed(channel)) await this.#withdraw(channel, signal)
    })
  }

  async #withdraw(channel: PayerChannel, signal: AbortSignal): Promise<void> {
    const { channels, opener } = this.#init
    if (channel.phase !== 'withdrawing') {
      await checkWithdrawGas(this.#init)
      channel.move('withdrawing')
      await channels.save(channel)
    }
    // Settle pending deposits first: one may be mined after the withdrawal.
    await opener.recheck(channel)
    await opener.conclude(channel)
    let saved: number | undefined
    const onBegun = async (until: number): Promise<void> => {
      channel.withdrawableAt = until
      // Saved first, because after a restart an empty channel may show no other sign of the withdrawal.
      if (saved !== until) await channels.save(channel)
      saved = until
      this.#begun.get(channel)?.resolve()
      this.#begun.delete(channel)
    }
    await channels.end(channel, await withdraw(this.#init, channel, { signal, onBegun }))
  }

  /** Leaves the channel closed, or disputed if the owner's books cannot be explained. */
  async #close(channel: PayerChannel, signal: AbortSignal): Promise<void> {
    const { clock, channels, opener } = this.#init
    const until = clock.elapsed() + CLOSE_MS
    await this.#ended(channel, signal)
    await opener.recheck(channel)
    await opener.conclude(channel).catch(() => opener.finish(channel))
    for (;;) {
      try {
        if (channel.payerFunds.deposit === 0n && (await this.#look(channel)).balance === 0n) {
          return await channels.end(channel, 0n)
        }
        const books = await this.#askToClose(channel, signal)
        if (!this.#believe(channel, books)) return channels.dispute(channel)
        const { balance, claimed, refundNonce } = await this.#look(channel)
        // A deposit that the chain does not show was not returned. A reorganisation may restore it later, when nothing looks for
        // it.
        if (balance < channel.payerFunds.deposit && refundNonce === 0n) {
          throw new SoukError(
            'settlement_pending',
            'The chain does not show the deposit at the moment. Try again later.'
          )
        }
        if (balance <= channel.payerFunds.spent || balance <= claimed) return await channels.end(channel, balance)
        throw new SoukError('settlement_pending', 'The owner has not returned the unspent deposit yet.')
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (!NOT_YET.has(error.code) || clock.elapsed() >= until) throw error
      }
      await sleep(clock, LEAVE_POLL_MS, signal)
    }
  }

  async #askToClose(channel: PayerChannel, signal: AbortSignal): Promise<ChannelBooks> {
    const { ask, opener } = this.#init
    const { owner, channelId } = channel.info
    const close = () => ask(owner, { kind: 'close', channelId }, signal)
    const reply = await close().catch(async (error: unknown) => {
      // The owner lost its books.
      if (asSoukError(error).code !== 'payment_required') throw error
      await opener.introduce(channel)
      return close()
    })
    if (reply.kind !== 'state') throw unreadable()
    return reply.state
  }

  #believe(channel: PayerChannel, { ceiling, signature, captured, reserved }: ChannelBooks): boolean {
    const { domain, signer } = this.#init
    const isOwn = signerOf(domain.voucher(channel.info.channelId, ceiling), signature) === signer.address
    if (isOwn) channel.payerFunds.recall(ceiling)
    return reserved > 0n || channel.payerFunds.reconcile(captured)
  }

  /** Waits for running calls, which are paid for. */
  async #ended(channel: PayerChannel, signal: AbortSignal): Promise<void> {
    const { clock } = this.#init
    const until = clock.elapsed() + CLOSE_CALLS_MS
    while (!channel.payerFunds.isIdle) {
      if (clock.elapsed() >= until)
        throw new SoukError('settlement_pending', 'Calls on the channel are still running. Try again later.')
      await sleep(clock, LEAVE_POLL_MS, signal)
    }
  }

  async #look({ info }: PayerChannel) {
    const [state] = (await this.#init.chain.channels([info.channelId], 'latest')).channels
    if (state === undefined)
      throw new SoukError('settlement_unavailable', 'The chain endpoint did not return the channel. Try again later.')
    return state
  }
}

/** A function, because the compiler's narrowing does not see changes by other code. */
const isClosed = ({ phase }: PayerChannel): boolean => phase === 'closed'
