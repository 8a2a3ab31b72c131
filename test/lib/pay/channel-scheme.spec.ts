import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { Signer } from '../../../lib/interface/signer.ts'
import { encodeAuthorization } from '../../../lib/pay/signing/authorization.ts'
import { decodePayRequest, encodePayReply } from '../../../lib/pay/channel/pay-messages.ts'
import { readReceipt, ReceiptCheck, receiptDigests } from '../../../lib/pay/signing/receipt.ts'
import { RECEIPTS } from '../../../lib/pay/payer/stored-receipts.ts'
import { signVoucher } from '../../../lib/pay/signing/voucher.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import {
  API,
  outcome,
  PAYOUT,
  schemeBench,
  sent,
  type SchemeBench,
  type SchemeNode
} from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n

describe('the channel payment scheme', () => {
  let bench: SchemeBench
  let owner: SchemeNode
  let payer: SchemeNode

  beforeEach(async () => {
    bench = schemeBench()
    owner = await bench.start('D')
    payer = await bench.start('C')
    bench.play.wallets.set(payer.signer.address, 10n * USDC)
  })

  const orderTo = ({ peer }: SchemeNode) => ({
    requestId: freshIds.next(),
    api: API,
    owner: peer,
    revision: 1,
    price: 100n,
    payout: PAYOUT
  })
  const code = (expected: string) => (error: Error & { code?: string }) => {
    assert.equal(error.code, expected, error.message)
    return true
  }

  describe('pays', () => {
    it('for a call through a channel that it opens by one signed deposit, with equal books on both sides', async () => {
      const settled = await bench.call(payer, owner, { price: 1_500n })
      assert.equal(settled.charged, 1_500n)
      assert.equal(bench.onChain().latest, USDC / 2n)
      assert.equal(bench.play.wallets.get(payer.signer.address), 10n * USDC - USDC / 2n)
      assert.deepEqual(await bench.books(owner, payer), { earned: 1_500n, spent: 1_500n })
      for (const { store } of [payer, owner]) {
        const sum = (await store.ledger.balances('')).reduce((total, { amount }) => total + amount, 0n)
        assert.equal(sum, 0n)
      }
      assert.equal(await payer.store.ledger.balance(`channel/${bench.channelId()}`), USDC / 2n - 1_500n)
    })

    it('less than the price for a cheaper call, and can spend the rest', async () => {
      const settled = await bench.call(payer, owner, { price: 1_500n, amount: 400n })
      assert.equal(settled.charged, 400n)
      assert.equal(readReceipt(settled.receipt)?.body.charged, 400n)
      assert.equal((await bench.call(payer, owner, { price: 1_500n, amount: 0n })).charged, 0n)
      assert.equal((await bench.call(payer, owner, { price: 1_500n })).charged, 1_500n)
      assert.deepEqual(await bench.books(owner, payer), { earned: 1_900n, spent: 1_900n })
    })

    it('never more than the price, whatever the owner charges', async () => {
      assert.equal((await bench.call(payer, owner, { price: 100n, amount: 101n })).charged, 100n)
      assert.equal((await bench.call(payer, owner, { price: 100n, amount: -1n })).charged, 0n)
      assert.deepEqual(await bench.books(owner, payer), { earned: 100n, spent: 100n })
    })

    it('and stores a receipt that proves it', async () => {
      const { receipt } = await bench.call(payer, owner)
      const read = readReceipt(receipt)!
      const check = new ReceiptCheck(receiptDigests(bench.play.chain.parameters))
      assert.ok(check.isSigned(read, owner.signer.address))
      assert.equal(read.body.charged, 100n)
      assert.equal(read.body.captured, 100n)
      await payer.paymentScheme.stop()
      const [kept] = await payer.store.documents.list(RECEIPTS)
      assert.deepEqual(Buffer.from(kept!.value, 'base64'), Buffer.from(receipt))
    })

    it('and books the charges of one write together, with a receipt of each', async () => {
      for (const price of [100n, 200n, 300n]) await bench.call(payer, owner, { price })
      assert.deepEqual(await bench.books(owner, payer), { earned: 600n, spent: 600n })
      const ids = (await payer.store.documents.list(RECEIPTS)).map(({ key }) => key)
      const entries = await payer.store.ledger.entries({ limit: 10, kinds: ['paid'] })
      assert.deepEqual(
        entries.map(({ reference, postings }) => [reference, postings]),
        [
          [
            `${ids[0]}/${ids[2]}`,
            [
              { account: `spent/${bench.channelId()}`, amount: 600n },
              { account: `channel/${bench.channelId()}`, amount: -600n }
            ]
          ]
        ]
      )
    })

    it('and waits for nothing once the last voucher covers a call', async () => {
      await bench.call(payer, owner)
      const order = orderTo(owner)
      assert.ok(payer.paymentScheme.authorise(order) instanceof Uint8Array)
      assert.throws(() => payer.paymentScheme.authorise(order), code('idempotency_in_flight'))
      await payer.paymentScheme.accept(order, { status: 200, charged: 0n, receipt: new Uint8Array(0) }, sent())
      assert.ok(payer.paymentScheme.authorise(order) instanceof Uint8Array)
    })

    it('nothing for a failed call, a free call, or a call to itself', async () => {
      assert.equal((await bench.call(payer, owner, { price: 0n })).charged, 0n)
      assert.equal(bench.play.channels.size, 0)
      assert.equal((await bench.call(payer, payer, { price: 100n })).charged, 0n)
      assert.equal((await bench.call(payer, owner, { fate: 'void' })).charged, 0n)
      assert.equal((await bench.call(payer, owner, { fate: 'failed' })).charged, 0n)
      assert.deepEqual(await bench.books(owner, payer), { earned: 0n, spent: 0n })
      assert.equal((await owner.store.calls.usage())[0]?.voided, 2)
    })

    it('with one signature for twenty calls', async () => {
      await bench.call(payer, owner)
      const before = payer.signatures()
      for (let i = 0; i < 62; i++) await bench.call(payer, owner)
      assert.equal(payer.signatures() - before, 2)
    })

    it('for many concurrent calls, through one channel', async () => {
      await Promise.all(Array.from({ length: 500 }, () => bench.call(payer, owner)))
      assert.equal(bench.play.channels.size, 1)
      assert.deepEqual(await bench.books(owner, payer), { earned: 50_000n, spent: 50_000n })
    })

    it('each provider through a separate channel', async () => {
      await bench.call(payer, owner)
      const other = await bench.start('E')
      await bench.call(payer, other)
      assert.equal(bench.play.channels.size, 2)
    })

    it("and makes every further deposit at least as high as the owner's minimum", async () => {
      const strict = await bench.start('S', { depositMin: 2n * USDC })
      for (let i = 0; i < 50; i++) await bench.call(payer, strict, { price: 41_000n })
      await settle()
      assert.equal(bench.onChain().latest, 4n * USDC)
      assert.equal(bench.play.deposits, 2)
    })

    it('and tops up the channel in the background, before calls have to wait', async () => {
      for (let i = 0; i < 12; i++) await bench.call(payer, owner, { price: 40_000n })
      await settle()
      assert.equal(bench.onChain().latest, USDC)
      assert.equal(bench.play.deposits, 2)
      // The pause is only for a top-up that failed.
      for (let i = 0; i < 11; i++) await bench.call(payer, owner, { price: 40_000n })
      await settle()
      assert.equal(bench.play.deposits, 3)
    })
  })

  describe('refuses to pay', () => {
    it('above the limit of the call, or of the node if the call has none', async () => {
      await assert.rejects(bench.call(payer, owner, { price: 101n, maxPrice: 100n }), code('price_exceeds_limit'))
      await assert.rejects(bench.call(payer, owner, { price: 50_001n }), code('price_exceeds_limit'))
      await bench.call(payer, owner, { price: 50_001n, maxPrice: 60_000n })
    })

    it('more than the wallet holds', async () => {
      bench.play.wallets.set(payer.signer.address, 1n)
      await assert.rejects(bench.call(payer, owner), code('insufficient_funds'))
      assert.equal(bench.play.channels.size, 0)
    })

    it('past the daily cap, even after a restart, until the next day', async () => {
      const store = createMemoryStore()
      const rules = { dailyMax: 200_000n, windowCalls: 0 }
      const { signer } = payer
      const first = await bench.start('C', rules, { store, signer })
      for (let i = 0; i < 5; i++) await bench.call(first, owner, { price: 40_000n })
      await assert.rejects(bench.call(first, owner), code('spend_cap_reached'))
      await first.paymentScheme.stop()
      const again = await bench.start('C', rules, { store, signer })
      await assert.rejects(bench.call(again, owner), code('spend_cap_reached'))
      await bench.play.clock.advance(DAY_MS)
      await bench.call(again, owner)
    })

    it('amounts that were signed for today; the unused part is available again after a stop', async () => {
      const store = createMemoryStore()
      const rules = { dailyMax: 200_000n, windowCalls: 0 }
      const { signer } = payer
      // Each of them alone would lease a tenth of the cap.
      for (let i = 0; i < 20; i++) {
        const life = await bench.start('C', rules, { store, signer })
        await bench.call(life, owner, { price: 10_000n })
        await life.paymentScheme.stop()
      }
      const last = await bench.start('C', rules, { store, signer })
      await assert.rejects(bench.call(last, owner, { price: 1n }), code('spend_cap_reached'))
    })

    it('one owner more than the exposure limit: such calls wait, and fail in time', async () => {
      const careful = await bench.start('B', { exposureMax: 250n, windowCalls: 0 })
      bench.play.wallets.set(careful.signer.address, USDC)
      const order = () => orderTo(owner)
      const [one, two, three, four] = [order(), order(), order(), order()]
      await careful.paymentScheme.authorise(one)
      await careful.paymentScheme.authorise(two)
      const waits = careful.paymentScheme.authorise(three)
      const givesUp = careful.paymentScheme.authorise(four)
      await settle()
      await careful.paymentScheme.accept(one, { status: 200, charged: 0n, receipt: new Uint8Array(0) }, sent())
      assert.ok(await waits)
      const refused = assert.rejects(Promise.resolve(givesUp), code('overloaded'))
      await bench.play.clock.advance(10_000)
      await refused
      await assert.rejects(
        async () => careful.paymentScheme.authorise({ ...order(), price: 251n }),
        code('spend_cap_reached')
      )
    })

    it('a provider without a payout address', async () => {
      const order = { requestId: freshIds.next(), api: API, owner: owner.peer, revision: 1, price: 100n }
      await assert.rejects(async () => payer.paymentScheme.authorise(order), code('settlement_unavailable'))
    })

    it("an owner with conditions beyond the node's limits", async () => {
      const greedy = await bench.start('G', { depositMin: 21n * USDC })
      await assert.rejects(bench.call(payer, greedy), code('settlement_unavailable'))
      const slow = await bench.start('H', { withdrawDelay: 8 * 24 * 60 * 60 })
      await assert.rejects(bench.call(payer, slow), code('settlement_unavailable'))
      assert.equal(bench.play.deposits, 0)
    })
  })

  describe('admits nothing', () => {
    const admission = (overrides: object = {}) => ({
      requestId: freshIds.next(),
      api: API,
      peer: payer.peer,
      revision: 1,
      price: 100n,
      payout: PAYOUT,
      ...overrides
    })
    const voucher = async (by: Signer, ceiling: bigint) =>
      encodeAuthorization(await signVoucher(bench.domain, by, bench.channelId(), ceiling))
    const refused = (overrides: object, expected: string) =>
      assert.rejects(async () => owner.paymentScheme.admit(admission(overrides)), code(expected))

    it('without a voucher, with an invalid one, or with one that is too low', async () => {
      await refused({}, 'payment_required')
      await refused({ authorization: new Uint8Array(7) }, 'payment_malformed')
      await bench.call(payer, owner)
      await refused({ authorization: await voucher(payer.signer, 150n), price: 3_000n }, 'payment_required')
    })

    it('on a voucher that the payer did not sign, even if a higher one is known', async () => {
      await bench.call(payer, owner)
      await refused({ authorization: await voucher(owner.signer, 9_000n) }, 'payment_rejected')
      const forged = await signVoucher(bench.domain, payer.signer, bench.channelId(), 9_000n)
      await refused({ authorization: encodeAuthorization({ ...forged, ceiling: 9_001n }) }, 'payment_rejected')
      assert.deepEqual((await bench.books(owner, payer)).earned, 100n)
    })

    it('on another peer’s channel, because vouchers are bearer instruments and claims publish them', async () => {
      await bench.call(payer, owner)
      const authorization = await voucher(payer.signer, 9_000n)
      await refused({ authorization, peer: peerId('X') }, 'payment_required')
    })

    it('for a provider that the channel does not pay', async () => {
      await bench.call(payer, owner)
      await refused(
        { authorization: await voucher(payer.signer, 9_000n), payout: `0x${'12'.repeat(20)}` },
        'payment_rejected'
      )
      await refused({ authorization: await voucher(payer.signer, 9_000n), payout: undefined }, 'payment_rejected')
    })

    it("beyond the channel's balance minus a pending withdrawal", async () => {
      await bench.call(payer, owner)
      const authorization = await voucher(payer.signer, 100n * USDC)
      await refused({ authorization, price: USDC }, 'insufficient_funds')
      bench.onChain().withdrawing = USDC / 2n - 150n
      await bench.play.clock.advance(8 * 60 * 60 * 1_000)
      await refused({ authorization }, 'insufficient_funds')
      await (await owner.paymentScheme.admit(admission({ authorization, price: 50n }))).capture(outcome())
    })

    it('on a deposit that is too new for its size, but reports that it is pending', async () => {
      bench.play.isFresh = true
      const rich = await bench.start('R', { deposit: 5n * USDC, exposureMax: 5n * USDC, dailyMax: 5n * USDC })
      bench.play.wallets.set(rich.signer.address, 10n * USDC)
      await bench.call(rich, owner, { price: USDC, maxPrice: USDC })
      await assert.rejects(bench.call(rich, owner, { price: 1n }), { code: 'settlement_pending', retryAfterMs: 10_000 })
      Object.assign(bench.onChain(), { safe: bench.onChain().latest })
      await bench.play.clock.advance(8 * 60 * 60 * 1_000)
      await bench.call(rich, owner, { price: 1n })
    })

    it('while the chain was not read for a quarter of the delay, and admits calls again after a read', async () => {
      await bench.call(payer, owner)
      bench.play.isAway = true
      await bench.play.clock.advance(6 * 60 * 60 * 1_000 - 1)
      await bench.call(payer, owner)
      await bench.play.clock.advance(1)
      await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
      bench.play.isAway = false
      await bench.call(payer, owner)
    })
  })

  describe('after faults', () => {
    const restart = async (
      node: SchemeNode,
      name: string,
      kept: SchemeNode['store'] = node.store
    ): Promise<SchemeNode> => {
      await node.paymentScheme.stop()
      return bench.start(name, {}, { store: kept, signer: node.signer })
    }

    it('a restarted owner continues with its captures and vouchers', async () => {
      for (let i = 0; i < 25; i++) await bench.call(payer, owner)
      owner = await restart(owner, 'D')
      const authorization = encodeAuthorization(await signVoucher(bench.domain, payer.signer, bench.channelId(), 1n))
      const admission = {
        requestId: freshIds.next(),
        api: API,
        peer: payer.peer,
        revision: 1,
        price: 100n,
        payout: PAYOUT
      }
      await (await owner.paymentScheme.admit({ ...admission, authorization })).capture(outcome())
      assert.deepEqual((await bench.books(owner, payer)).earned, 2_600n)
    })

    it('calls with lost responses are paid once, and the books agree after the owner reports them', async () => {
      await bench.call(payer, owner)
      for (const fate of ['timed out', 'lost', 'timed out', 'failed', 'lost'] as const) {
        await bench.call(payer, owner, { fate })
      }
      for (let i = 0; i < 30; i++) await bench.call(payer, owner)
      assert.deepEqual(await bench.books(owner, payer), { earned: 3_500n, spent: 3_500n })
    })

    it('lost calls free their amount once the owner reports their outcome', async () => {
      const careful = await bench.start('E', { exposureMax: 300n, windowCalls: 0 })
      bench.play.wallets.set(careful.signer.address, USDC)
      for (let i = 0; i < 3; i++) await bench.call(careful, owner, { fate: 'lost' })
      const receiptSigner = bench.services.get(owner.peer)!
      bench.services.set(owner.peer, async () => assert.fail('away'))
      await assert.rejects(bench.call(careful, owner))
      const asked: string[] = []
      bench.services.set(owner.peer, async (request, peer) => {
        asked.push(decodePayRequest(request).kind)
        // The payer first registers the channel with an owner that lost it.
        const isUnknown = asked.length === 1
        return isUnknown
          ? encodePayReply({ kind: 'refusal', code: 'payment_required', detail: '' })
          : receiptSigner(request, peer)
      })
      assert.equal((await bench.call(careful, owner)).charged, 100n)
      assert.deepEqual(asked, ['state', 'deposit', 'state'])
      await careful.paymentScheme.stop()
      assert.equal(await careful.store.ledger.balance(`spent/${bench.channelId()}`), 400n)
    })

    it('a payer that lost asynchronous writes trusts its own signature, and the books agree', async () => {
      await bench.call(payer, owner)
      await payer.paymentScheme.stop()
      const store = createMemoryStore()
      await store.open()
      for (const collection of ['payer', 'payer-channels']) {
        for (const { key, value } of await payer.store.documents.list(collection))
          await store.documents.put(collection, key, value)
      }
      await bench.call(payer, owner, { price: 50_000n, maxPrice: 50_000n }).catch(() => {})
      payer = await bench.start('C', {}, { signer: payer.signer, store: payer.store })
      for (let i = 0; i < 50; i++) await bench.call(payer, owner, { price: 3_000n })
      payer = await bench.start('C', {}, { signer: payer.signer, store })
      for (let i = 0; i < 30; i++) await bench.call(payer, owner, { price: 3_000n })
      const { earned, spent } = await bench.books(owner, payer)
      assert.equal(spent, earned)
    })

    it('a deposit with a lost response is not made twice', async () => {
      bench.line.dropReplies = 0
      await bench.call(payer, owner, { price: 0n })
      // The first reply contains the terms, the second reports that the deposit is mined.
      const receiptSigner = bench.services.get(owner.peer)!
      let replies = 0
      bench.services.set(owner.peer, async (request, peer) => {
        const reply = await receiptSigner(request, peer)
        if (++replies === 2) throw new Error('cut')
        return reply
      })
      await bench.call(payer, owner)
      assert.equal(bench.play.deposits, 1)
      assert.deepEqual(await bench.books(owner, payer), { earned: 100n, spent: 100n })
    })

    it('an owner that is unreachable for the deposit gets it at the next call, once', async () => {
      const receiptSigner = bench.services.get(owner.peer)!
      let isAway = false
      bench.services.set(owner.peer, async (request, peer) => {
        if (isAway) throw new Error('away')
        const reply = await receiptSigner(request, peer)
        isAway = true
        return reply
      })
      await assert.rejects(bench.call(payer, owner))
      assert.equal(bench.play.deposits, 0)
      bench.services.set(owner.peer, receiptSigner)
      payer = await restart(payer, 'C')
      await bench.call(payer, owner)
      assert.equal(bench.play.deposits, 1)
      assert.equal(bench.play.channels.size, 1)
    })

    it('an owner with unexplained books is paid no more', async () => {
      await bench.call(payer, owner)
      const order = orderTo(owner)
      await payer.paymentScheme.authorise(order)
      const lie = { ceiling: '2100', captured: '2000', reserved: '0', signature: '0x' }
      const error = new SoukError('payment_required', undefined, { notAccepted: true, members: { channel: lie } })
      assert.equal(payer.paymentScheme.fail(order, { fate: 'not_accepted', error }), false)
      await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
      payer = await restart(payer, 'C')
      await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    })

    it('invalid data in place of an owner’s books is ignored', async () => {
      await bench.call(payer, owner)
      for (const member of [1, 'x', [], {}, { ceiling: '-1' }, { ceiling: '1', captured: 2, reserved: '0' }]) {
        const order = orderTo(owner)
        await payer.paymentScheme.authorise(order)
        const error = new SoukError('payment_required', undefined, { notAccepted: true, members: { channel: member } })
        assert.equal(payer.paymentScheme.fail(order, { fate: 'not_accepted', error }), false)
      }
      await bench.call(payer, owner)
    })

    it('a second call under the id of a running one is refused, and holds no money', async () => {
      const order = orderTo(owner)
      const ends = await Promise.allSettled([1, 2, 3].map(async () => payer.paymentScheme.authorise(order)))
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as SoukError).code] : []))
      assert.deepEqual(refused, ['idempotency_in_flight', 'idempotency_in_flight'])
      payer.paymentScheme.fail(order, {
        fate: 'not_accepted',
        error: new SoukError('api_paused', undefined, { notAccepted: true })
      })
      assert.equal(payer.paymentScheme.channels().find(({ role }) => role === 'payer')?.reserved, 0n)
    })

    it('an unavailable key pays for nothing, and costs nothing', async () => {
      let isAway = false
      const wrap = (signer: Signer): Signer => ({
        ...signer,
        sign: (digest) => (isAway ? Promise.reject(new Error('away')) : signer.sign(digest))
      })
      const remote = await bench.start('K', { windowCalls: 0 }, { wrap })
      bench.play.wallets.set(remote.signer.address, USDC)
      await bench.call(remote, owner)
      isAway = true
      await assert.rejects(bench.call(remote, owner))
      isAway = false
      await bench.call(remote, owner)
      payer = remote
      assert.deepEqual(await bench.books(owner, payer), { earned: 200n, spent: 200n })
    })
  })
})
