import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import type { ChannelId } from '../../../lib/interface/channel.ts'
import { encodePayRequest } from '../../../lib/pay/pay-messages.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'

const USDC = 1_000_000n
const DEPOSIT = USDC / 2n
const GAS = { gas: false }

describe('the life of a channel', function () {
  this.timeout(60_000)
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
    payer = await lives.start('C', { ...GAS, usdc: USDC })
  })
  afterEach(() => lives.close())

  const idOf = (life: Life): ChannelId => lives.channel(life).channelId
  const code = (expected: string) => (error: Error & { code?: string }) => {
    assert.equal(error.code, expected, error.message)
    return true
  }
  const wallet = () => bench.usdc(payer.signer.address)
  const spend = async (calls: number, price = 1_000n): Promise<void> => {
    for (let i = 0; i < calls; i++) await lives.call(payer, owner, price)
  }

  describe('closed with its owner', () => {
    it('gives back what was not spent, to the atom, and brings 95% of the rest to the provider', async () => {
      await spend(7)
      const id = idOf(payer)
      const closed = await payer.till.close(id)
      assert.equal(await wallet(), USDC - 7_000n)
      assert.deepEqual(
        { ...closed, ceiling: undefined },
        {
          role: 'payer',
          channelId: id,
          peer: owner.peer,
          receiver: closed.receiver,
          state: 'closed',
          isDisputed: false,
          deposit: DEPOSIT,
          ceiling: undefined,
          spent: 7_000n,
          reserved: 0n,
          returned: DEPOSIT - 7_000n
        }
      )
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 7_000n, wallet: -7_000n, unclaimed: 0n })
      const { state, spent } = lives.channel(owner)
      assert.deepEqual({ state, spent }, { state: 'closed', spent: 7_000n })
      await owner.till.settlement.redeemer.settleNow()
      assert.deepEqual(await lives.paid(), { provider: 6_650n, treasury: 350n })
    })

    it('is followed by another, with a counter of its own', async () => {
      await spend(1)
      const id = idOf(payer)
      await payer.till.close(id)
      await spend(2)
      const [first, second] = payer.till.channels()
      assert.equal(first?.channelId, id)
      assert.equal(second?.state, 'open')
      assert.notEqual(second?.channelId, id)
      assert.equal(second?.spent, 2_000n)
      const kept = await payer.store.documents.list('payer-channels')
      assert.deepEqual(kept.map(({ value }) => (JSON.parse(value) as { counter: string }).counter).sort(), ['1', '2'])
    })

    it('waits for calls under way, takes no others, and pays for those', async () => {
      await spend(1)
      const id = idOf(payer)
      const slow = await lives.begin(payer, owner, 3_000n)
      const closing = payer.till.close(id)
      await assert.rejects(lives.call(payer, owner), code('settlement_pending'))
      assert.equal(lives.channel(payer).state, 'closing')
      await lives.end(payer, slow)
      await closing
      assert.equal(await wallet(), USDC - 4_000n)
      assert.equal(lives.channel(owner).spent, 4_000n)
    })

    it('waits at the owner for calls that the payer has given up', async () => {
      await spend(1)
      const id = idOf(payer)
      const { order, reservation } = await lives.begin(payer, owner, 3_000n)
      payer.till.fail(order, { fate: 'lost', error: new SoukError('owner_unreachable') })
      const closing = payer.till.close(id)
      await lives.until('the owner closes it', () => lives.channel(owner).state === 'closing')
      await reservation.capture({ status: 200, requestHash: new Uint8Array(32), at: 1, ownerMs: 1, upstreamMs: 1 })
      await closing
      assert.equal(await wallet(), USDC - 4_000n)
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 4_000n, wallet: -4_000n, unclaimed: 0n })
    })

    it('is closed once however often it is asked for', async () => {
      await spend(1)
      const id = idOf(payer)
      const closed = await Promise.all([payer.till.close(id), payer.till.close(id), payer.till.closeAll()])
      assert.deepEqual(
        closed[2].map(({ channel, error }) => [channel.state, error]),
        [['closed', undefined]]
      )
      assert.equal((await payer.till.close(id)).state, 'closed')
      assert.equal(await wallet(), USDC - 1_000n)
      await assert.rejects(payer.till.close(`0x${'00'.repeat(32)}`), code('invalid_request'))
      await assert.rejects(owner.till.close(id), code('invalid_request'))
    })

    it('is closed for its payer alone', async () => {
      await spend(1)
      const desk = lives.desks.get(owner.peer)!
      const stranger = await lives.start('X', GAS)
      const reply = await desk(encodePayRequest({ kind: 'close', channelId: idOf(payer) }), stranger.peer)
      assert.match(Buffer.from(reply).toString(), /payment_required.*does not know/)
      assert.equal(lives.channel(owner).state, 'open')
      await spend(1)
    })

    it('takes no call and no deposit any more, also after a restart of its owner', async () => {
      await spend(1)
      const id = idOf(payer)
      const { order } = await lives.begin(payer, owner, 1_000n)
      const authorization = await payer.till.authorise({ ...order, requestId: new Uint8Array(16).fill(3) })
      await owner.till.stop()
      owner = await lives.start('D', { of: owner })
      const desk = lives.desks.get(owner.peer)!
      await desk(encodePayRequest({ kind: 'close', channelId: id }), payer.peer)
      const admission = { ...order, peer: payer.peer, authorization: authorization! }
      await assert.rejects(async () => owner.till.admit(admission), code('payment_rejected'))
      await owner.till.stop()
      owner = await lives.start('D', { of: owner })
      assert.equal(lives.channel(owner).state, 'closed')
      await assert.rejects(async () => owner.till.admit(admission), code('payment_rejected'))
    })

    it('is asked of an owner that lost its books as well', async () => {
      await spend(1)
      await lives.stop(owner)
      const { signer } = owner
      const { createMemoryStore } = await import('../../../lib/store/memory-store.ts')
      owner = await lives.start('D', { of: { ...owner, signer, store: createMemoryStore() } })
      const { returned } = await payer.till.close(idOf(payer))
      assert.equal(returned, DEPOSIT)
      assert.deepEqual(await lives.books(payer, idOf(payer)), {
        inside: 0n,
        spent: 1_000n,
        wallet: 0n,
        unclaimed: -1_000n
      })
    })

    it('stays closing where the owner only says so, and is withdrawn from then', async () => {
      await spend(2)
      const id = idOf(payer)
      await bench.fundGas(payer.signer.address)
      const desk = lives.desks.get(owner.peer)!
      lives.desks.set(owner.peer, (request, peer) => desk(lives.asState(request), peer))
      const gaveUp = AbortSignal.timeout(1_000)
      await assert.rejects(payer.till.close(id, gaveUp))
      assert.equal(lives.channel(payer).state, 'closing')
      assert.ok((await payer.till.withdraw(id)).withdrawableAt)
      assert.equal(lives.channel(payer).state, 'withdrawing')
    })
  })
})
