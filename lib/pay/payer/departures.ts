import { type Clock, sleep } from '../../base/clock.ts'
import { asSoukError, type ErrorCode, SoukError } from '../../base/errors.ts'
import { CLOSE_CALLS_MS, CLOSE_MS, LEAVE_PAUSE_MS, LEAVE_POLL_MS } from '../../base/limits.ts'
import { within } from '../../base/within.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelOpener } from './channel-opener.ts'
import { Errands } from '../channel/errands.ts'
import { type PayLine, unreadable } from '../channel/pay-line.ts'
import type { ChannelBooks } from '../channel/pay-messages.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'
import { signerOf } from '../signing/signature.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { checkWithdrawGas, withdraw, type WithdrawalInit } from './withdrawal.ts'

export interface DeparturesInit extends WithdrawalInit {
  readonly channels: PayerChannels
  readonly opener: Pick<ChannelOpener, 'conclude' | 'fund' | 'introduce'>
  readonly ask: PayLine
  readonly domain: SettlementDomain
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/** The owner is at it, or a moment away from it. */
const NOT_YET: ReadonlySet<ErrorCode> = new Set(['settlement_pending', 'overloaded'])

/**
 * How a payer leaves channels: with the owner, who gives back what was not spent, or without it. What was begun is on disk
 * before anything is asked or sent, and goes on after a restart.
 */
export class Departures {
  readonly #init: DeparturesInit
  readonly #errands: Errands<PayerChannel>
  /** Withdrawals that somebody waits for to begin. */
  readonly #begun = new Map<PayerChannel, PromiseWithResolvers<void>>()

  constructor(init: DeparturesInit) {
    const { clock, onError } = init
    this.#init = init
    this.#errands = new Errands({ clock, onError, pauseMs: LEAVE_PAUSE_MS })
  }

  /** Goes on with what an earlier process left. */
  start(): void {
    for (const channel of this.#init.channels.all()) {
      if (channel.phase !== 'open' && channel.phase !== 'closed') this.leave(channel)
    }
  }

  /** What is unfinished goes on at the next start. */
  stop(): Promise<void> {
    return this.#errands.stop()
  }

  /** As its phase says: one that is disputed is withdrawn from, as its owner is not asked any more. Nobody waits for it. */
  leave(channel: PayerChannel): void {
    this.#leave(channel).catch(() => {})
  }

  /**
   * Resolves when the chain shows that the owner gave back what was not spent. Where it fails, or is not waited for, it is
   * tried again behind.
   * @throws SoukError `invalid_request` where there is nothing to close, what the owner refuses with, `settlement_pending`
   */
  async close(channelId: ChannelId, signal?: AbortSignal): Promise<PayerChannel> {
    const channel = this.#find(channelId)
    if (channel.phase === 'closed') return channel
    if (channel.phase !== 'open' && channel.phase !== 'closing') {
      throw new SoukError(
        'invalid_request',
        `The channel is ${channel.phase}: its deposit is withdrawn, not asked for.`
      )
    }
    if (channel.phase === 'open') channel.move('closing')
    await this.#init.channels.save(channel)
    await within(this.#leave(channel), signal)
    return channel
  }

  /**
   * Resolves when the chain shows that the deposit is being withdrawn; the rest goes on behind, as long as the channel's
   * delay takes.
   * @throws SoukError `invalid_request` where there is no such channel, `settlement_unavailable` where there is no gas for it
   */
  async withdraw(channelId: ChannelId, signal?: AbortSignal): Promise<PayerChannel> {
    const channel = this.#find(channelId)
    if (channel.phase === 'closed' || channel.withdrawableAt !== undefined) return channel
    await checkWithdrawGas(this.#init)
    if (channel.phase === 'closing') await this.#errands.drop(channel)
    if (channel.phase === 'open' || channel.phase === 'closing') channel.move('withdrawing')
    await this.#init.channels.save(channel)
    const begun = this.#begun.get(channel) ?? Promise.withResolvers<void>()
    this.#begun.set(channel, begun)
    await within(Promise.race([begun.promise, this.#leave(channel)]), signal)
    return channel
  }

  #find(channelId: ChannelId): PayerChannel {
    const channel = this.#init.channels.find(channelId)
    if (channel === undefined) throw new SoukError('invalid_request', 'This node pays through no such channel.')
    return channel
  }

  #leave(channel: PayerChannel): Promise<void> {
    return this.#errands.run(channel, async (signal) => {
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
    // First, as it could still be brought in when everything else is out.
    await opener.conclude(channel)
    const onBegun = (until: number): void => {
      // Kept: that the money went out may be all that an empty channel has to show after a restart.
      if (channel.withdrawableAt !== until) {
        channel.withdrawableAt = until
        channels.touch(channel)
      }
      this.#begun.get(channel)?.resolve()
      this.#begun.delete(channel)
    }
    await channels.end(channel, await withdraw(this.#init, channel, { signal, onBegun }))
  }

  /** Leaves the channel closed; or disputed, where what the owner keeps cannot be explained. */
  async #close(channel: PayerChannel, signal: AbortSignal): Promise<void> {
    const { clock, channels, opener } = this.#init
    const until = clock.elapsed() + CLOSE_MS
    await this.#ended(channel, signal)
    await opener.conclude(channel).catch(() => (channel.pending === undefined ? undefined : opener.fund(channel)))
    for (;;) {
      try {
        if (channel.purse.deposit === 0n && (await this.#look(channel)).balance === 0n) {
          return await channels.end(channel, 0n)
        }
        const books = await this.#askToClose(channel, signal)
        if (!this.#believe(channel, books)) return channels.dispute(channel)
        const { balance, claimed, refundNonce } = await this.#look(channel)
        // A deposit that is not there was not given back: it may come again, and nobody would look for it.
        if (balance < channel.purse.deposit && refundNonce === 0n) {
          throw new SoukError('settlement_pending', 'The chain does not show the deposit at the moment.')
        }
        if (balance <= channel.purse.spent || balance <= claimed) return await channels.end(channel, balance)
        throw new SoukError('settlement_pending', 'The owner has not given back what was not spent.')
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
      // It lost its books.
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
    if (isOwn) channel.purse.recall(ceiling)
    return reserved > 0n || channel.purse.reconcile(captured)
  }

  /** Calls under way end by themselves, and are paid for. */
  async #ended(channel: PayerChannel, signal: AbortSignal): Promise<void> {
    const { clock } = this.#init
    const until = clock.elapsed() + CLOSE_CALLS_MS
    while (!channel.purse.isIdle) {
      if (clock.elapsed() >= until)
        throw new SoukError('settlement_pending', 'Calls on the channel are still under way.')
      await sleep(clock, LEAVE_POLL_MS, signal)
    }
  }

  async #look({ info }: PayerChannel) {
    const [state] = (await this.#init.chain.channels([info.channelId], 'latest')).channels
    if (state === undefined) throw new SoukError('settlement_unavailable', 'The chain does not show the channel.')
    return state
  }
}

/** By a function, as it changes behind what the compiler sees. */
const isClosed = ({ phase }: PayerChannel): boolean => phase === 'closed'
