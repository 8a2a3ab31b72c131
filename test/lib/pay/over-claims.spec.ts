import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import type { ChannelId } from '../../../lib/interface/channel.ts'
import { decodePayReply, encodePayReply } from '../../../lib/pay/channel/pay-messages.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'

const USDC = 1_000_000n

describe('an owner that claims more than it charged', () => {
  let bench: ChannelBench
  let lives: LifeBench
  let owner: Life
  let payer: Life

  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    lives = await lifeBench(bench)
    owner = await lives.start('D')
    payer = await lives.start('C', { usdc: USDC })
  })
  afterEach(() => lives.close())

  /** The owner's key claims up to the last voucher, which the payer signed ahead. */
  const overclaim = async (): Promise<ChannelId> => {
    const { channelId, ceiling, spent } = lives.channel(payer)
    assert.ok(ceiling > spent)
    const [channel] = await owner.store.documents.list('payee-channels')
    const { config } = JSON.parse(channel!.value) as { config: Parameters<typeof bench.row>[0] }
    const row = await bench.row(config, ceiling, { by: payer.signer })
    await bench.act(owner.signer, bench.calls.claim([row]))
    return channelId
  }
  const refused = (error: SoukError): boolean => {
    assert.equal(error.code, 'settlement_unavailable', error.message)
    assert.equal(error.source, 'owner')
    return true
  }
  const leave = async (id: ChannelId): Promise<void> => {
    await lives.stop(owner)
    await payer.paymentScheme.withdraw(id)
    await lives.wait(901)
    await lives.until('it is out', () => lives.channel(payer, id).state === 'closed')
    owner = await lives.start('D', { of: owner })
    await bench.mint(payer.signer.address, USDC)
  }

  it('is paid no more after a withdrawal, even after a restart', async () => {
    await lives.call(payer, owner)
    const id = await overclaim()
    await leave(id)
    await assert.rejects(lives.call(payer, owner), refused)
    await lives.stop(payer)
    payer = await lives.start('C', { of: payer })
    assert.equal(lives.channel(payer, id).isDisputed, true)
    await assert.rejects(lives.call(payer, owner), refused)
    await lives.call(payer, await lives.start('E'))
  })

  it('is paid no more after it closed the channel, whatever it says', async () => {
    await lives.call(payer, owner)
    const id = await overclaim()
    const { spent, ceiling } = lives.channel(payer)
    const service = lives.services.get(owner.peer)!
    lives.services.set(owner.peer, async (request, peer) => {
      const reply = decodePayReply(await service(request, peer))
      return encodePayReply(reply.kind === 'state' ? { ...reply, state: { ...reply.state, captured: spent } } : reply)
    })
    const closed = await payer.paymentScheme.close(id)
    assert.deepEqual([closed.isDisputed, closed.spent], [true, ceiling])
    await assert.rejects(lives.call(payer, owner), refused)
  })

  it('is paid again when the operator accepts it, also after a restart', async () => {
    await lives.call(payer, owner)
    const id = await overclaim()
    await assert.rejects(payer.paymentScheme.acceptTaken(id), { code: 'invalid_request' })
    await leave(id)
    assert.equal((await payer.paymentScheme.acceptTaken(id)).isDisputed, false)
    await lives.call(payer, owner)
    await assert.rejects(payer.paymentScheme.acceptTaken(id), { code: 'invalid_request' })
    await lives.stop(payer)
    payer = await lives.start('C', { of: payer })
    await lives.call(payer, owner)
  })

  it('is no liar if calls without a response explain the claim', async () => {
    await lives.call(payer, owner)
    const { channelId, ceiling, spent } = lives.channel(payer)
    const { order } = await lives.begin(payer, owner, ceiling - spent)
    payer.paymentScheme.fail(order, { fate: 'lost', error: new SoukError('owner_unreachable') })
    await overclaim()
    await leave(channelId)
    assert.equal(lives.channel(payer, channelId).isDisputed, false)
    await lives.call(payer, owner)
  })
})
