import assert from 'node:assert/strict'
import { LEAVE_PAUSE_MS } from '../../../../lib/base/limits/pay.ts'
import type { ChannelState } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import { PAYEE_CHANNELS, type PayeeChannel, type PayeeChannelInfo } from '../../../../lib/pay/payee/payee-channel.ts'
import { PayeeChannels } from '../../../../lib/pay/payee/payee-channels.ts'
import { RefundService, type RefundServiceInit } from '../../../../lib/pay/payee/refund-service.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'
import { OWN_CHANNEL, PAYOUT } from '../../../helpers/scheme-bench.ts'
import { shownChannels } from '../../../helpers/shown-channels.ts'

const channelId: ChannelId = `0x${'11'.repeat(32)}`
const info: PayeeChannelInfo = { channelId, config: OWN_CHANNEL, peer: peerId('C') }
const NOTHING: ChannelState = { balance: 0n, claimed: 0n, refundNonce: 0n }

describe('a channel that is to be closed before its deposit is mined', () => {
  let state: ChannelState
  let clock: ManualClock
  let channels: PayeeChannels
  let service: RefundService
  let refunds: bigint[]
  let onGas: () => Promise<void>
  let onRefund: () => Promise<void>
  let stored: () => Promise<string | undefined>

  beforeEach(async () => {
    ;[state, clock, refunds, onGas, onRefund] = [NOTHING, manualClock(), [], async () => {}, async () => {}]
    const { documents, ledger, open } = createMemoryStore()
    await open()
    stored = () => documents.get(PAYEE_CHANNELS, channelId)
    channels = new PayeeChannels({ documents, ledger, clock, payouts: () => [PAYOUT], settlement: PAYOUT })
    service = new RefundService({
      channels,
      redeemer: {
        refreshGas: () => onGas(),
        costOf: () => 0n,
        claim: async () => {},
        refund: async ({ amount, nonce }: { amount: bigint; nonce: bigint }) => {
          refunds.push(amount)
          state = { ...state, balance: state.balance - amount, refundNonce: nonce + 1n }
          await onRefund()
          return { hash: '0x00' }
        }
      },
      unearned: { takeFor: async () => async () => {} },
      watch: shownChannels(() => ({ latest: state, safe: state, finalized: state })),
      clock,
      onError: () => {}
    } as unknown as RefundServiceInit)
  })
  afterEach(() => service.stop())

  /** The payer deposits again, into the same channel, and pays a call. */
  const reopen = async (): Promise<PayeeChannel> => {
    const again = await channels.add(info)
    state = { ...NOTHING, balance: 1_000n }
    again.payeeFunds.limitTo(1_000n)
    again.payeeFunds.raise(400n)
    const hold = again.payeeFunds.reserve(400n)
    assert.ok(typeof hold === 'object')
    hold.capture(400n)
    return again
  }

  it('returns nothing of a later deposit, after that one failed', async () => {
    const first = await channels.add(info)
    await assert.rejects(service.close(first), { code: 'settlement_pending' })
    await channels.remove(channelId)
    const again = await reopen()
    await clock.advance(2 * LEAVE_PAUSE_MS)
    assert.deepEqual(refunds, [])
    assert.equal(again.phase, 'open')
    assert.equal(channels.get(channelId), again)
  })

  it('stays forgotten if that one fails while the owner reads its gas', async () => {
    const first = await channels.add(info)
    onGas = () => channels.remove(channelId)
    await assert.rejects(service.close(first), { code: 'payment_required' })
    assert.equal(await stored(), undefined)
  })

  it('is remembered while its refund is sent, although that empties it', async () => {
    const first = await channels.add(info)
    state = { ...NOTHING, balance: 1_000n }
    onRefund = () => channels.remove(channelId)
    await service.close(first)
    assert.deepEqual(refunds, [1_000n])
    assert.equal(channels.get(channelId)?.phase, 'closed')
  })
})
