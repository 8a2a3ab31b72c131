import assert from 'node:assert/strict'
import { systemClock } from '../../../../lib/base/clock.ts'
import type { PayeeChannelInfo } from '../../../../lib/pay/payee/payee-channel.ts'
import { PayeeChannels } from '../../../../lib/pay/payee/payee-channels.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { PAYOUT } from '../../../helpers/scheme-bench.ts'

const info: PayeeChannelInfo = {
  channelId: `0x${'11'.repeat(32)}`,
  config: {
    payer: PAYOUT,
    payerAuthorizer: PAYOUT,
    receiver: PAYOUT,
    receiverAuthorizer: PAYOUT,
    token: PAYOUT,
    withdrawDelay: 900,
    salt: `0x${'00'.repeat(32)}`
  },
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
    return { channels, payeeFunds: channel.payeeFunds, ids }
  }

  it('forget an unused one', async () => {
    const { channels, ids } = await open()
    await channels.remove(info.channelId)
    assert.equal(channels.get(info.channelId), undefined)
    assert.deepEqual(await ids(), [])
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
})
