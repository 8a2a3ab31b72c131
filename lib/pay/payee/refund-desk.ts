import { type Clock, sleep } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { CLAIM_GAS, CLOSE_CALLS_MS, DEPOSIT_GAS, LEAVE_PAUSE_MS, LEAVE_POLL_MS, REFUND_GAS } from '../../base/limits.ts'
import type { ChannelState } from '../../interface/chain.ts'
import type { ChannelWatch, Redeemer } from '../../interface/redeem.ts'
import { Errands } from '../channel/errands.ts'
import type { DecidedRefund, PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import type { UnearnedGas } from './unearned-gas.ts'

const UNEARNED =
  'The channel earned less than the gas it costs, and the owner pays no more for such channels today. ' +
  'Withdraw from the channel yourself, which ends after its delay, or close it later.'

export interface RefundDeskInit {
  readonly channels: PayeeChannels
  readonly redeemer: Pick<Redeemer, 'checkGas' | 'claim' | 'costOf' | 'refund'>
  readonly unearned: Pick<UnearnedGas, 'takeFor'>
  readonly watch: Pick<ChannelWatch, 'refresh' | 'snapshot'>
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/**
 * The owner's half of closing a channel: no more calls, what is owed is claimed, the rest is given back. Each step is on
 * disk before the next is taken, so that a restart goes on where it was.
 */
export class RefundDesk {
  readonly #init: RefundDeskInit
  readonly #errands: Errands<PayeeChannel>
  /** Asked for again meanwhile, a channel draws on the allowance once. */
  readonly #admitting = new Map<PayeeChannel, Promise<void>>()

  constructor(init: RefundDeskInit) {
    const { clock, onError } = init
    this.#init = init
    this.#errands = new Errands({ clock, onError, pauseMs: LEAVE_PAUSE_MS })
  }

  /** Goes on with what an earlier process left. */
  start(): void {
    for (const channel of this.#init.channels.all()) {
      if (channel.phase === 'closing') this.#errands.start(channel, (signal) => this.#close(channel, signal))
    }
  }

  /** What is unfinished goes on at the next start. */
  stop(): Promise<void> {
    return this.#errands.stop()
  }

  /**
   * Resolves when what is not owed is back with the payer. Where it fails, it is tried again behind.
   * @throws SoukError `settlement_pending`, `settlement_unavailable` where the owner does not pay the gas for it, and as
   *   `Submitter.submit`
   */
  async close(channel: PayeeChannel): Promise<void> {
    if (channel.phase === 'closed') return
    if (channel.phase !== 'closing') await this.#admit(channel)
    await this.#errands.run(channel, (signal) => this.#close(channel, signal))
  }

  /** Before anything changes: a channel that is not closed goes on as it was. */
  async #admit(channel: PayeeChannel): Promise<void> {
    const admitting = this.#admitting.get(channel)
    if (admitting !== undefined) return admitting
    const { redeemer, unearned } = this.#init
    const admitted = (async () => {
      redeemer.checkGas(CLAIM_GAS + REFUND_GAS)
      const cost = redeemer.costOf(BigInt(channel.deposits) * DEPOSIT_GAS + CLAIM_GAS + REFUND_GAS)
      await unearned.takeFor(channel, cost, UNEARNED)
      channel.move('closing')
      await this.#init.channels.save(channel)
    })().finally(() => this.#admitting.delete(channel))
    this.#admitting.set(channel, admitted)
    return admitted
  }

  async #close(channel: PayeeChannel, signal: AbortSignal): Promise<void> {
    const { channels } = this.#init
    const refund = channel.standing.refund ?? (await this.#decide(channel, signal))
    if (refund !== undefined) await this.#pay(channel, refund, signal)
    await channels.close(channel)
  }

  /** Undefined where all of it is owed. Durable when it resolves: from then on it is this refund or none. */
  async #decide(channel: PayeeChannel, signal: AbortSignal): Promise<DecidedRefund | undefined> {
    const { channels, redeemer } = this.#init
    await this.#ended(channel, signal)
    const { captured } = channel.tab
    if ((await this.#look(channel)).claimed < captured) await redeemer.claim(channel.info.channelId, signal)
    const { balance, claimed, refundNonce } = await this.#look(channel)
    const owed = captured < balance ? captured : balance
    if (claimed < owed) {
      throw new SoukError('settlement_pending', 'What is owed is claimed first, and that is not mined yet.')
    }
    // A deposit that the chain does not show may have been taken back, and come again when nobody looks for it any more.
    if (balance === 0n && refundNonce === 0n) {
      throw new SoukError('settlement_pending', 'The chain does not show the deposit at the moment.')
    }
    if (balance <= claimed) return undefined
    const refund = { amount: balance - claimed, nonce: refundNonce }
    channel.decide(refund)
    await channels.save(channel)
    return refund
  }

  async #pay(channel: PayeeChannel, refund: DecidedRefund, signal: AbortSignal): Promise<void> {
    const { config } = channel.info
    const isPaid = async () => (await this.#look(channel)).refundNonce > refund.nonce
    if (!(await isPaid())) await this.#init.redeemer.refund({ config, ...refund }, signal)
  }

  /** Calls under way end by themselves, and are paid for. */
  async #ended(channel: PayeeChannel, signal: AbortSignal): Promise<void> {
    const { clock } = this.#init
    const until = clock.elapsed() + CLOSE_CALLS_MS
    while (channel.tab.reserved > 0n) {
      if (clock.elapsed() >= until)
        throw new SoukError('settlement_pending', 'Calls on the channel are still under way.')
      await sleep(clock, LEAVE_POLL_MS, signal)
    }
  }

  async #look({ info }: PayeeChannel): Promise<ChannelState> {
    const { watch } = this.#init
    await watch.refresh([info.channelId])
    const snapshot = watch.snapshot(info.channelId)
    if (snapshot === undefined) throw new SoukError('settlement_unavailable', 'The chain was not seen yet.')
    return snapshot.latest
  }
}
