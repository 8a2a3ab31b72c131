import assert from 'node:assert/strict'
import { utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import type { Failure } from '../../../lib/interface/payment-scheme.ts'
import { A, answered, B, ConsumerBench, failed } from './consumer-bench.ts'

describe('a paid call', () => {
  let bench: ConsumerBench
  const fates: Array<[string, Failure['fate']]> = []

  beforeEach(() => {
    bench = new ConsumerBench()
    fates.length = 0
    bench.fail = (order, { fate }) => {
      fates.push([order.owner, fate])
      return false
    }
  })

  it('passes the provider’s payout address to the payment scheme', async () => {
    bench.manifest = { ...bench.manifest, payout: `0x${'ab'.repeat(20)}` }
    bench.owners = { [A]: answered() }
    await bench.call()
    assert.equal(bench.orders[0]?.payout, `0x${'ab'.repeat(20)}`)
  })

  it('reports every outcome of an order to the payment scheme, with its owner', async () => {
    bench.owners = { [A]: failed('not_accepted', 'overloaded'), [B]: failed('lost', 'call_interrupted') }
    await assert.rejects(bench.call(), { code: 'call_interrupted' })
    assert.deepEqual(fates, [
      [A, 'not_accepted'],
      [B, 'lost']
    ])
    assert.deepEqual(
      bench.accepted.map(({ answer }) => answer),
      [undefined]
    )
  })

  it('announces its price before the authorisation, and ends if the caller refuses', async () => {
    const prices: bigint[] = []
    bench.owners = { [A]: answered() }
    await bench.call({
      onPrice(price) {
        assert.equal(bench.orders.length, 0)
        prices.push(price)
      }
    })
    assert.deepEqual(prices, [1_500n])
    bench.orders.length = 0
    const refuse = async () => {
      throw new SoukError('insufficient_funds')
    }
    await assert.rejects(bench.call({ onPrice: refuse }), { code: 'insufficient_funds' })
    assert.deepEqual(bench.orders, [])
  })

  it('announces no price above the limit of the call, and none that is free', async () => {
    bench.owners = { [A]: answered() }
    const onPrice = () => assert.fail('told')
    await assert.rejects(bench.call({ maxPrice: '0.001', onPrice }), { code: 'price_exceeds_limit' })
    bench.manifest = { ...bench.manifest, price: 0n }
    await bench.call({ onPrice })
    bench.manifest = { ...bench.manifest, price: 5n }
    bench.movesMoney = false
    assert.equal((await bench.call({ onPrice })).charged, 0n)
  })

  it('announces the new price after a second lookup', async () => {
    const prices: bigint[] = []
    bench.found = [[A], [B]]
    bench.owners = {
      [A]: async () => {
        bench.manifest = { ...bench.manifest, price: 2_000n, revision: 5 }
        return failed('not_accepted', 'owner_unreachable')
      },
      [B]: answered()
    }
    await bench.call({ onPrice: (price) => void prices.push(price) })
    assert.deepEqual(prices, [1_500n, 2_000n])
  })

  it('costs no more than its price, whatever the owner claims', async () => {
    const greedy = answered()
    assert.ok(greedy.fate === 'answered')
    bench.owners = { [A]: { ...greedy, answer: { ...greedy.answer, charged: 10n ** 12n } } }
    assert.equal((await bench.call()).charged, 1_500n)
  })

  it('is retried once at the same owner if the payment scheme learned from the refusal', async () => {
    let tries = 0
    bench.authorise = async () => utf8(`voucher ${++tries}`)
    bench.fail = () => true
    bench.owners = {
      [A]: async ({ authorization }) =>
        Buffer.from(authorization ?? []).toString() === 'voucher 2'
          ? answered()
          : failed('not_accepted', 'payment_required')
    }
    await bench.call()
    assert.deepEqual(bench.triedOwners(), [A, A])
  })

  it('is not tried a third time', async () => {
    bench.fail = () => true
    bench.found = [[A]]
    bench.owners = { [A]: failed('not_accepted', 'payment_required') }
    await assert.rejects(bench.call(), { code: 'payment_required' })
    assert.deepEqual(bench.triedOwners(), [A, A])
  })

  it('goes to another owner if this one cannot be paid, without blaming it', async () => {
    bench.owners = { [A]: answered(), [B]: answered() }
    bench.authorise = async ({ owner }) => {
      if (owner === A) throw new SoukError('settlement_pending', 'The deposit is on its way.')
      return utf8('voucher')
    }
    const { owner } = await bench.call()
    assert.equal(owner, B)
    assert.ok(!bench.reports.some((report) => report.includes(A)), bench.reports.join())
  })

  for (const code of ['price_exceeds_limit', 'spend_cap_reached', 'insufficient_funds'] as const) {
    it(`ends with ${code} of this node, because no other owner would change it`, async () => {
      bench.owners = { [A]: answered(), [B]: answered() }
      bench.authorise = async () => {
        throw new SoukError(code)
      }
      await assert.rejects(bench.call(), { code })
      assert.deepEqual(bench.triedOwners(), [])
      assert.equal(bench.orders.length, 1)
    })
  }

  describe('with its own payment', () => {
    it('is forwarded with it, without the payment scheme', async () => {
      bench.movesMoney = false
      bench.owners = { [A]: answered(), [B]: answered() }
      const onPrice = () => assert.fail('told')
      const { charged } = await bench.call({ payment: 'cGFpZA==', onPrice })
      assert.equal(bench.tried[0]?.call.payment, 'cGFpZA==')
      assert.equal(bench.tried[0]?.call.authorization, undefined)
      assert.equal(charged, 7n)
      await assert.rejects(
        (async () => {
          bench.owners = { [A]: failed('failed', 'payment_rejected'), [B]: failed('failed', 'payment_rejected') }
          await bench.call({ payment: 'cGFpZA==' })
        })(),
        { code: 'payment_rejected' }
      )
      assert.deepEqual([bench.orders, bench.accepted], [[], []])
    })

    it('goes to the same owner again, and to others if that one cannot accept it', async () => {
      bench.owners = { [A]: answered(), [B]: answered() }
      const firsts = new Set<string>()
      for (let i = 0; i < 16; i++) {
        bench.tried.length = 0
        bench.found = [
          [A, B],
          [B, A]
        ]
        bench.lookUps.length = 0
        await bench.call({ payment: `${i}` })
        await bench.call({ payment: `${i}` })
        const [first, second] = bench.triedOwners()
        assert.equal(first, second)
        firsts.add(first!)
      }
      assert.equal(firsts.size, 2)
      bench.tried.length = 0
      bench.owners = {
        [A]: failed('not_accepted', 'payment_rejected'),
        [B]: failed('not_accepted', 'payment_rejected')
      }
      await assert.rejects(bench.call({ payment: 'x' }), { code: 'payment_rejected' })
      assert.deepEqual([...new Set(bench.triedOwners())].sort(), [A, B].sort())
    })
  })
})
