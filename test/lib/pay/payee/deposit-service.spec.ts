import assert from 'node:assert/strict'
import { systemClock } from '../../../../lib/base/clock.ts'
import { SoukError } from '../../../../lib/base/errors.ts'
import type { ChannelState } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { DepositService, type DepositServiceInit, noDeposit } from '../../../../lib/pay/payee/deposit-service.ts'
import { PayeeChannels, type PayeeChannelsInit } from '../../../../lib/pay/payee/payee-channels.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { OWN_CHANNEL, PAYOUT } from '../../../helpers/scheme-bench.ts'
import { shownChannels } from '../../../helpers/shown-channels.ts'

const ID: ChannelId = `0x${'11'.repeat(32)}`
const PEER = peerId('C')
const MIN = 1_000n

describe('a channel that its payer has funded on chain', () => {
  let state: ChannelState
  let init: PayeeChannelsInit
  let noGas: SoukError | undefined
  let channels: PayeeChannels
  let service: DepositService

  beforeEach(async () => {
    state = { balance: MIN, claimed: 0n, refundNonce: 0n }
    const { documents, ledger, open } = createMemoryStore()
    await open()
    init = { documents, ledger, clock: systemClock, payouts: () => [PAYOUT], settlement: PAYOUT }
    channels = new PayeeChannels(init)
    const watch = shownChannels(() => ({ latest: state, safe: state, finalized: state }))
    channels.follow(watch)
    noGas = undefined
    const checkGas = () => {
      if (noGas !== undefined) throw noGas
    }
    service = new DepositService({
      terms: { settlement: PAYOUT, withdrawDelay: 900, depositMin: MIN },
      chain: { parameters: { usdc: { address: PAYOUT } } },
      redeemer: { refreshGas: async () => {}, checkGas },
      watch,
      channels,
      domain: { channelId: () => ID },
      clock: systemClock,
      splitterOf: (payout: Address) => payout,
      payouts: () => [PAYOUT]
    } as unknown as DepositServiceInit)
  })

  const bring = (peer: string | undefined) => service.bring(noDeposit(OWN_CHANNEL), peer)

  it('is registered once, also for requests at the same time', async () => {
    const [first, second] = await Promise.all([bring(PEER), bring(PEER)])
    assert.equal(first.channel, second.channel)
    assert.equal(channels.get(ID), first.channel)
  })

  it('belongs to one payer, also for requests at the same time', async () => {
    const [first] = await Promise.all([bring(PEER), assert.rejects(bring(undefined), { code: 'payment_rejected' })])
    assert.equal(channels.get(ID), first.channel)
  })

  it('is refused if its deposit is under the least one, unless this owner has claimed from it', async () => {
    state = { ...state, balance: MIN - 1n }
    await assert.rejects(bring(PEER), {
      code: 'payment_rejected',
      message: 'The channel’s deposit is under 1000 atoms.'
    })
    assert.equal(channels.get(ID), undefined)
    state = { ...state, claimed: 1n }
    assert.equal((await bring(PEER)).channel.info.peer, PEER)
  })

  it('stays known when it is closed and cannot be opened again at the moment, with the count of the gas that it cost', async () => {
    const { channel } = await bring(undefined)
    channel.countDeposits(1)
    channel.decide({ amount: MIN, nonce: 0n })
    channel.move('closing')
    await channels.close(channel)
    noGas = new SoukError('settlement_unavailable')
    await assert.rejects(bring(undefined), { code: 'settlement_unavailable' })
    assert.equal(channels.get(ID), channel)
    noGas = undefined
    const again = (await bring(undefined)).channel
    assert.deepEqual([again.phase, again.deposits, again.refunds], ['open', 2, 1])
    assert.equal(channels.get(ID), again)
    // The closed one is not written any more.
    await channels.close(channel)
    const stored = new PayeeChannels(init)
    await stored.start()
    assert.deepEqual(
      [...stored.all()].map(({ phase }) => phase),
      ['open']
    )
  })
})
