import { SoukError } from '../../base/errors.ts'
import { ignore } from '../../base/ignore.ts'
import type { Chain, ChannelState } from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelOpener } from './channel-opener.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'

export interface ChannelSyncInit {
  readonly chain: Pick<Chain, 'channels'>
  readonly channels: Pick<PayerChannels, 'end' | 'save'>
  readonly opener: Pick<ChannelOpener, 'conclude' | 'fund' | 'recheck'>
  /** Finishes a withdrawal in the background. */
  readonly leave: (channel: PayerChannel) => void
}

/**
 * Corrects a payer's channel by the chain, after its owner refused a call that this node's books cover. The deposit may have gone:
 * by a reorganisation, by a refund that this node does not know, or by a withdrawal that another program began with the same key.
 */
export class ChannelSync {
  readonly #init: ChannelSyncInit

  constructor(init: ChannelSyncInit) {
    this.#init = init
  }

  /** @throws SoukError `settlement_pending`, and as `ChannelOpener.open` */
  async sync(channel: PayerChannel): Promise<void> {
    const { channels, opener, leave } = this.#init
    if (channel.phase !== 'open') return
    await opener.recheck(channel)
    await opener.conclude(channel).catch(ignore)
    const { channelId } = channel.info
    const [final, latest] = [await this.#read(channelId, 'finalized'), await this.#read(channelId, 'latest')]
    channel.isInDoubt = false
    const { payerFunds } = channel
    const isRefunded =
      latest.refundNonce > 0n && (isEmpty(latest) || latest.balance <= payerFunds.spent + payerFunds.disputed)
    const inside = latest.balance - (latest.withdrawal?.amount ?? 0n)
    if (inside >= payerFunds.deposit) {
      // The owner reads the chain when the channel is registered again.
      channel.isKnown = false
    } else if (latest.withdrawal !== undefined && inside <= latest.claimed) {
      channel.move('withdrawing')
      await channels.save(channel)
      leave(channel)
    } else if (channel.mined.length > 0 && latest.refundNonce === 0n) {
      // The endpoint may be behind the deposit.
      channel.isInDoubt = true
      // Or the chain lost it. A pending deposit fills the channel, and the lost one can be sent again after it.
      if (channel.pending !== undefined) await opener.fund(channel)
      throw new SoukError('settlement_pending', 'The chain does not show the deposit at the moment. Try again later.')
    } else if (
      (isRefunded || (isEmpty(final) && isEmpty(latest))) &&
      channel.pending === undefined &&
      payerFunds.isIdle
    ) {
      channel.move('withdrawing')
      await channels.end(channel, latest.balance)
    } else {
      payerFunds.hold(inside)
      await channels.save(channel)
    }
  }

  async #read(channelId: ChannelId, at: 'latest' | 'finalized'): Promise<ChannelState> {
    const [state] = (await this.#init.chain.channels([channelId], at)).channels
    if (state !== undefined) return state
    throw new SoukError('settlement_unavailable', 'The chain endpoint did not return the channel. Try again later.')
  }
}

const isEmpty = ({ balance, claimed }: ChannelState): boolean => balance <= claimed
