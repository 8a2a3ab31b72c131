import assert from 'node:assert/strict'
import { systemClock } from '../../../../lib/base/clock.ts'
import { SoukError } from '../../../../lib/base/errors.ts'
import { COUNTED_LATEST_ATOMS_MAX, COUNTED_LATEST_OWNER_ATOMS_MAX } from '../../../../lib/base/limits/pay.ts'
import type { ChannelState } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import type { Entry } from '../../../../lib/interface/ledger.ts'
import type { ChannelSnapshot } from '../../../../lib/interface/redeem.ts'
import {
  earnedOf,
  PAYEE_CHANNELS,
  type PayeeChannelInfo,
  receivableOf
} from '../../../../lib/pay/payee/payee-channel.ts'
import { PayeeChannels } from '../../../../lib/pay/payee/payee-channels.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { OWN_CHANNEL, PAYOUT } from '../../../helpers/scheme-bench.ts'
import { shownChannels } from '../../../helpers/shown-channels.ts'

const info: PayeeChannelInfo = {
  channelId: `0x${'11'.repeat(32)}`,
  config: OWN_CHANNEL,
  peer: peerId('C')
}

describe('the channels of an owner', () => {
  const open = async () => {
    const { documents, ledger, open } = createMemoryStore()
    await open()
    const channels = new PayeeChannels({ documents, ledger, clock: systemClock, payouts: () => [], settlement: PAYOUT })
    const channel = await channels.add(info)
    channel.payeeFunds.raise(100n)
    channel.payeeFunds.limitTo(100n)
    const ids = async () => {
      const again = new PayeeChannels({ documents, ledger, clock: systemClock, payouts: () => [], settlement: PAYOUT })
      await again.start()
      return [...again.channels()].map(({ channelId }) => channelId)
    }
    return { channels, payeeFunds: channel.payeeFunds, ids, documents, ledger }
  }

  it('forget an unused one', async () => {
    const { channels, ids } = await open()
    await channels.remove(info.channelId)
    assert.equal(channels.get(info.channelId), undefined)
    assert.deepEqual(await ids(), [])
  })

  it('admit no call on one that was forgotten while the call waited, because it may be registered again', async () => {
    const { channels, payeeFunds } = await open()
    payeeFunds.lend(100n)
    await channels.remove(info.channelId)
    await channels.add(info)
    assert.equal(payeeFunds.reserve(100n), 'limit')
  })

  it('keep one with earnings, because a reorganisation may remove its deposit and restore it', async () => {
    const { channels, payeeFunds, ids } = await open()
    const hold = payeeFunds.reserve(100n)
    await channels.remove(info.channelId)
    assert.equal(channels.get(info.channelId)?.payeeFunds, payeeFunds)
    assert.ok(typeof hold === 'object')
    hold.capture(100n)
    await channels.remove(info.channelId)
    assert.equal(channels.get(info.channelId)?.payeeFunds, payeeFunds)
    assert.deepEqual(await ids(), [info.channelId])
  })

  it('that are forgotten leave their room to others, of what counts before its block is safe', async () => {
    const { channels } = await open()
    const none = { balance: 0n, claimed: 0n, refundNonce: 0n }
    const latest = { ...none, balance: COUNTED_LATEST_OWNER_ATOMS_MAX }
    const watch = shownChannels(() => ({ latest, safe: none, finalized: none }))
    channels.follow(watch)
    const limits = []
    for (let n = 2; n < 40; n++) {
      const channelId: ChannelId = `0x${n.toString(16).padStart(64, '0')}`
      const { payeeFunds } = await channels.add({ ...info, channelId })
      watch.look(channelId)
      limits.push(payeeFunds.limit)
      await channels.remove(channelId)
    }
    assert.ok((limits[0] ?? 0n) > 0n)
    assert.deepEqual(new Set(limits), new Set([limits[0]]))
  })

  it('with enough settled deposits leave the room to newcomers, and take it once they need it', async () => {
    const { channels, payeeFunds } = await open()
    const state = (balance: bigint) => ({ balance, claimed: 0n, refundNonce: 0n })
    const settled = 5n * COUNTED_LATEST_ATOMS_MAX
    const [latest, safe] = [state(2n * settled), state(settled)]
    const watch = shownChannels(() => ({ latest, safe, finalized: safe }))
    channels.follow(watch)
    watch.look(info.channelId)
    assert.equal(payeeFunds.limit, settled)
    payeeFunds.raise(2n * settled)
    const channel = channels.get(info.channelId)
    assert.ok(channel !== undefined)
    const dear = settled + COUNTED_LATEST_ATOMS_MAX
    assert.equal(payeeFunds.reserve(dear), 'limit')
    channels.recount(channel, 1n)
    assert.equal(payeeFunds.limit, settled)
    channels.recount(channel, dear)
    assert.equal(payeeFunds.limit, dear)
    assert.equal(typeof payeeFunds.reserve(dear), 'object')
  })

  it('book a recovered amount again after the store was away, and only once', async () => {
    const { documents, ledger, open } = createMemoryStore()
    await open()
    let isAway = true
    // Every second attempt is written though the store says nothing.
    let attempts = 0
    const book = async (entry: Entry) => {
      const isBooked = (++attempts % 2 === 0 || !isAway) && (await ledger.book(entry))
      if (isAway) throw new SoukError('store_unavailable')
      return isBooked
    }
    const init = { documents, clock: systemClock, payouts: () => [], settlement: PAYOUT }
    const channels = new PayeeChannels({ ...init, ledger: { balance: (account) => ledger.balance(account), book } })
    await channels.add(info)
    const shown = { balance: 100n, claimed: 40n, refundNonce: 0n }
    const watch = shownChannels(() => ({ latest: shown, safe: shown, finalized: shown }))
    channels.follow(watch)
    const earned = async () => {
      watch.look(info.channelId)
      await new Promise<void>((resolve) => void setImmediate(resolve))
      return -(await ledger.balance(earnedOf(info.channelId)))
    }
    assert.deepEqual([await earned(), await earned(), await earned()], [0n, 40n, 40n])
    isAway = false
    assert.deepEqual([await earned(), await earned()], [40n, 40n])
    assert.equal(attempts, 4)
  })

  describe('of a payer that withdraws', () => {
    const NONE: ChannelState = { balance: 0n, claimed: 0n, refundNonce: 0n }
    const LEAVING: ChannelState = { ...NONE, balance: 100n, withdrawal: { amount: 100n, since: 0 } }
    const CLAIMED: ChannelState = { ...LEAVING, claimed: 60n }
    const GONE: ChannelState = { ...NONE, balance: 60n, claimed: 60n }

    const followed = async () => {
      const opened = await open()
      let snapshot: ChannelSnapshot | undefined
      const watch = shownChannels(() => snapshot)
      opened.channels.follow(watch)
      const see = (latest: ChannelState, finalized: ChannelState) => {
        snapshot = { latest, safe: finalized, finalized }
        watch.look(info.channelId)
      }
      const hold = opened.payeeFunds.reserve(60n)
      assert.ok(typeof hold === 'object')
      const phase = () => opened.channels.get(info.channelId)?.phase
      const kept = () => Array.from(opened.channels.channels(), ({ captured }) => captured)
      const closed = () => Array.from(opened.channels.closed(), ({ captured }) => captured)
      return { ...opened, hold, see, phase, kept, closed }
    }

    it('stays open while an endpoint does not show its deposit yet', async () => {
      const { hold, see, phase, kept } = await followed()
      hold.capture(60n)
      see(LEAVING, NONE)
      assert.equal(phase(), 'withdrawing')
      see(NONE, NONE)
      assert.equal(phase(), 'withdrawing')
      assert.deepEqual(kept(), [60n])
    })

    it('is claimed after the close until a final block shows all of its charges claimed', async () => {
      const { hold, see, phase, kept, closed } = await followed()
      hold.capture(60n)
      see(LEAVING, LEAVING)
      see(CLAIMED, LEAVING)
      // An endpoint that fell behind.
      see(NONE, NONE)
      assert.equal(phase(), 'closed')
      assert.deepEqual([kept(), closed()], [[60n], []])
      see(GONE, CLAIMED)
      assert.deepEqual([kept(), closed()], [[60n], []])
      see(GONE, GONE)
      assert.deepEqual([kept(), closed()], [[], [60n]])
    })

    it('is claimed for a call that ends after the close', async () => {
      const { hold, see, phase, kept, closed } = await followed()
      see(LEAVING, LEAVING)
      see(NONE, NONE)
      assert.equal(phase(), 'closed')
      assert.deepEqual([kept(), closed()], [[], [0n]])
      hold.capture(60n)
      assert.deepEqual([kept(), closed()], [[60n], []])
    })

    it('is claimed by the next process if the close was not final', async () => {
      const { hold, see, ids, documents, ledger } = await followed()
      hold.capture(60n)
      const postings = [
        { account: receivableOf(info.channelId), amount: 60n },
        { account: earnedOf(info.channelId), amount: -60n }
      ]
      await ledger.book({ kind: 'call', reference: 'a', at: 0, postings })
      see(LEAVING, LEAVING)
      see(NONE, NONE)
      await eventually('the stored close', 5_000, async () => {
        const stored = await documents.get(PAYEE_CHANNELS, info.channelId)
        return stored?.includes('"phase":"closed"') === true ? stored : undefined
      })
      assert.deepEqual(await ids(), [info.channelId])
    })
  })
})
