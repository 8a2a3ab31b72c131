import assert from 'node:assert/strict'
import { asSoukError, type SoukError } from '../../../lib/base/errors.ts'
import { DISPUTE_ASK_MS, DISPUTE_WAIT_MS, KEY_TRIAL_PAUSE_MS } from '../../../lib/base/limits/pay.ts'
import { REQUEST_AGE_MS_MAX, REQUEST_ID_AHEAD_MS } from '../../../lib/base/limits/store.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
import type { Dispute } from '../../../lib/interface/disputes.ts'
import type { Settled } from '../../../lib/interface/payment-scheme.ts'
import type { Signer } from '../../../lib/interface/signer.ts'
import {
  decodePayReply,
  decodePayRequest,
  encodePayReply,
  encodePayRequest
} from '../../../lib/pay/channel/pay-messages.ts'
import { type ReceiptBody, readReceipt, receiptDigests, signReceipts } from '../../../lib/pay/signing/receipt.ts'
import { keySigner } from '../../../lib/pay/signing/key-signer.ts'
import { eventually } from '../../helpers/eventually.ts'
import { freshIds } from '../../helpers/call-record.ts'
import { MANUAL_START } from '../../helpers/manual-clock.ts'
import {
  API,
  outcome,
  PAYOUT,
  schemeBench,
  type SchemeBench,
  type SchemeNode,
  sent
} from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const PRICE = 100n
type Change = (settled: Settled) => Settled | Promise<Settled>

describe('a charge without a valid receipt', () => {
  let bench: SchemeBench
  let owner: SchemeNode
  let payer: SchemeNode
  /** Requests for receipts that reached the owner. */
  let asked: string[]

  beforeEach(async () => {
    bench = schemeBench()
    owner = await bench.start('D')
    payer = await bench.start('C')
    bench.play.wallets.set(payer.signer.address, 10n * USDC)
    await bench.call(payer, owner)
    asked = []
  })

  afterEach(() => Promise.all([payer, owner].map(({ paymentScheme }) => paymentScheme.stop())))

  const spent = () => payer.store.ledger.balance(`spent/${bench.channelId()}`)
  const disputed = () => payer.store.ledger.balance(`disputed/${bench.channelId()}`)
  const channel = () => payer.paymentScheme.channels().find(({ role }) => role === 'payer')!
  const payerDisputes = async () => (await payer.paymentScheme.disputes()).filter(({ role }) => role === 'payer')
  const some = (disputes: Dispute[]) => (disputes.length === 0 ? undefined : disputes)
  const code = (expected: string) => (error: unknown) => {
    assert.equal(asSoukError(error).code, expected)
    return true
  }

  /** One call whose settlement a hostile owner changes on the way. */
  const call = async (change: Change, status = 200): Promise<string> => {
    const order = { requestId: freshIds.next(), api: API, owner: owner.peer, revision: 1, price: PRICE, payout: PAYOUT }
    const authorization = await payer.paymentScheme.authorise(order)
    const admission = { ...order, peer: payer.peer, ...(authorization && { authorization }) }
    const reservation = await owner.paymentScheme.admit(admission)
    const settled = await reservation.capture({ ...outcome(), rule: 'success' })
    await payer.paymentScheme.accept(order, { ...(await change(settled)), status }, sent())
    return formatRequestId(order.requestId)
  }
  /** The owner answers requests for receipts so; undefined: as it is. */
  const answering = (reply?: (request: Uint8Array) => Uint8Array | Promise<Uint8Array>) => {
    const service = bench.services.get(owner.peer)!
    bench.services.set(owner.peer, async (request, peer) => {
      const read = decodePayRequest(request)
      if (read.kind !== 'receipt') return service(request, peer)
      asked.push(read.receipt.dispute)
      return reply === undefined ? service(request, peer) : reply(request)
    })
    return () => bench.services.set(owner.peer, service)
  }
  const withholding = () =>
    answering(() => encodePayReply({ kind: 'refusal', code: 'settlement_unavailable', detail: '' }))
  const without = (settled: Settled): Settled => ({ ...settled, receipt: new Uint8Array(0) })
  const forged =
    (change: Partial<ReceiptBody>, signer = owner.signer) =>
    async (settled: Settled): Promise<Settled> => {
      const { body } = readReceipt(settled.receipt)!
      const digest = receiptDigests(bench.play.chain.parameters)
      const [receipt] = await signReceipts([{ ...body, ...change }], (root) => signer.sign(digest(root)))
      return { ...settled, receipt: receipt! }
    }

  it('stands as disputed, outside of the window, and stops further vouchers', async () => {
    withholding()
    const before = channel()
    const signatures = payer.signatures()
    const id = await call(without)
    assert.equal(await disputed(), PRICE)
    assert.equal(channel().spent, PRICE)
    assert.equal(channel().reserved, before.reserved)
    assert.equal(channel().disputed, PRICE)
    assert.equal(channel().state, 'open')
    await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    assert.equal(payer.signatures(), signatures)
    const [dispute] = await payerDisputes()
    assert.deepEqual(
      [dispute?.requestId, dispute?.fault, dispute?.state, dispute?.amount],
      [id, 'missing', 'open', PRICE]
    )
    assert.equal(asked[0], 'missing')
  })

  it('is asked for, and the late receipt ends the dispute with equal books', async () => {
    answering()
    await call(without)
    await bench.call(payer, owner)
    assert.deepEqual(
      (await payerDisputes()).map(({ state }) => state),
      ['proved']
    )
    assert.equal(await disputed(), 0n)
    assert.equal(channel().spent, 3n * PRICE)
    await payer.paymentScheme.stop()
    assert.equal(await spent(), -(await owner.store.ledger.balance(`earned/${bench.channelId()}`)))
    assert.equal((await payer.store.documents.list('receipts')).length, 3)
  })

  it('happens once: an owner whose key fails refuses paid calls, and runs none, until the key works', async () => {
    let isAway = false
    const wrap = (signer: Signer): Signer => ({
      ...signer,
      sign: (digest) => (isAway ? Promise.reject(new Error('away')) : signer.sign(digest))
    })
    const remote = await bench.start('R', {}, { wrap })
    const [first, second] = [await bench.start('F'), await bench.start('S')]
    for (const { signer } of [first, second]) bench.play.wallets.set(signer.address, USDC)
    for (const node of [first, second]) await bench.call(node, remote)
    isAway = true
    const { charged, receipt } = await bench.call(first, remote)
    assert.deepEqual([charged, receipt.length], [PRICE, 0])
    const captured = () => remote.store.ledger.balances('earned/')
    const before = await captured()
    for (const pauseMs of [0, KEY_TRIAL_PAUSE_MS, 0]) {
      await bench.play.clock.advance(pauseMs)
      await assert.rejects(bench.call(second, remote), (error: SoukError) => {
        assert.deepEqual([error.code, error.notAccepted], ['settlement_unavailable', true])
        return true
      })
    }
    assert.deepEqual(await captured(), before)
    isAway = false
    await bench.play.clock.advance(KEY_TRIAL_PAUSE_MS)
    await Promise.all([bench.call(second, remote), bench.call(second, remote)])
    assert.deepEqual(await second.paymentScheme.disputes(), [])
    await bench.call(first, remote)
    const [dispute] = await first.paymentScheme.disputes()
    assert.equal(dispute?.state, 'proved')
    await Promise.all([remote, first, second].map(({ paymentScheme }) => paymentScheme.stop()))
  })

  const FORGERIES: ReadonlyArray<[string, Dispute['fault'], () => Change]> = [
    ['for another request', 'request', () => forged({ requestHash: new Uint8Array(32).fill(7) })],
    ['for another call', 'request', () => forged({ requestId: freshIds.next() })],
    ['for another API', 'request', () => forged({ api: `other@${API.slice(API.indexOf('@') + 1)}` })],
    ['for another channel', 'request', () => forged({ channelId: `0x${'12'.repeat(32)}` })],
    ['with an unknown rule', 'malformed', () => forged({ rule: 'whim' as 'success' })],
    ['without a rule', 'rule', () => forged({ rule: '' as 'success' })],
    ['with the rule of another kind of call', 'rule', () => forged({ rule: 'plan' })],
    ['with a lower price', 'price', () => forged({ charged: 1n })],
    ['with a higher price', 'price', () => forged({ charged: PRICE + 1n })],
    ['for a call that failed by its own status', 'status', () => forged({ status: 502 })],
    ['with a time before the call', 'time', () => forged({ at: 0 })],
    ['with a time after the call', 'time', () => forged({ at: 9e15 })],
    ['for a call that the response says is free', 'price', () => (settled) => ({ ...settled, charged: 0n })],
    ['of garbage', 'malformed', () => (settled) => ({ ...settled, receipt: new Uint8Array(300).fill(9) })]
  ]
  for (const [what, fault, change] of FORGERIES) {
    it(`is disputed: a receipt ${what}`, async () => {
      withholding()
      await call(change())
      assert.deepEqual(
        (await payerDisputes()).map((dispute) => dispute.fault),
        [fault]
      )
      assert.equal(await disputed(), PRICE)
      await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    })
  }

  it('is disputed: a valid receipt for a response that says the call failed, also after a restart', async () => {
    const id = await call((settled) => settled, 404)
    await payer.paymentScheme.stop()
    payer = await bench.start('C', {}, { store: payer.store, signer: payer.signer })
    await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    const [{ requestId, fault, state } = assert.fail('no dispute')] = await payerDisputes()
    assert.deepEqual({ requestId, fault, state }, { requestId: id, fault: 'status', state: 'open' })
    assert.equal(await disputed(), PRICE)
    await owner.paymentScheme.takeBack(payer.peer, id)
    await bench.play.clock.advance(DISPUTE_ASK_MS)
    await bench.call(payer, owner)
    assert.deepEqual([await disputed(), channel().spent], [0n, 2n * PRICE])
  })

  it('is none if the clocks of both nodes differ as much as owners accept', async () => {
    for (const at of [MANUAL_START - REQUEST_ID_AHEAD_MS, MANUAL_START + REQUEST_AGE_MS_MAX]) await call(forged({ at }))
    assert.deepEqual(await payerDisputes(), [])
    assert.equal(channel().spent, 3n * PRICE)
  })

  it('is disputed: a receipt signed by another key, found after it was booked', async () => {
    const stop = withholding()
    await call(forged({}, keySigner(new Uint8Array(32).fill(99))))
    await bench.play.clock.advance(1_000)
    const [dispute] = await eventually('a dispute', 1_000, async () => some(await payerDisputes()))
    assert.equal(dispute?.fault, 'signature')
    assert.equal(await disputed(), PRICE)
    assert.equal(await spent(), PRICE)
    stop()
    answering()
    await bench.play.clock.advance(DISPUTE_ASK_MS)
    await eventually('the receipt', 1_000, async () => ((await disputed()) === 0n ? true : undefined))
    assert.equal(await spent(), 2n * PRICE)
  })

  it('stays disputed when the owner repeats the same bad receipt, and a receipt of another call', async () => {
    const bad = await forged({ requestHash: new Uint8Array(32) })({
      charged: PRICE,
      receipt: (await bench.call(payer, owner)).receipt
    })
    const replies = [bad.receipt, (await bench.call(payer, owner)).receipt]
    answering(() => encodePayReply({ kind: 'receipt', receipt: replies[asked.length % 2]! }))
    await call(without)
    for (let i = 0; i < 3; i++) await bench.play.clock.advance(DISPUTE_ASK_MS)
    assert.ok(asked.length >= 3)
    assert.equal(await disputed(), PRICE)
    await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
  })

  it('does not hold a call up for long when the owner never responds', async () => {
    answering(() => new Promise<never>(() => {}))
    await call(without)
    const refused = assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    await bench.play.clock.advance(DISPUTE_WAIT_MS)
    await refused
  })

  it('survives a kill: the answer is delivered only when the dispute is durable', async () => {
    withholding()
    await call(without)
    // No stop: the earlier process is gone with its queued writes.
    const killed = payer
    payer = await bench.start('C', {}, { store: killed.store, signer: killed.signer })
    assert.equal(channel().disputed, PRICE)
    await assert.rejects(bench.call(payer, owner), code('settlement_unavailable'))
    await killed.paymentScheme.stop()
  })

  it('is settled after a restart, as soon as the owner sends the receipt', async () => {
    const stop = withholding()
    await call(without)
    await payer.paymentScheme.stop()
    payer = await bench.start('C', {}, { store: payer.store, signer: payer.signer })
    stop()
    await bench.play.clock.advance(DISPUTE_ASK_MS)
    await bench.call(payer, owner)
    assert.equal(await disputed(), 0n)
    await payer.paymentScheme.stop()
    assert.equal(await spent(), -(await owner.store.ledger.balance(`earned/${bench.channelId()}`)))
  })

  it('ends when the owner takes it back: both books have it out, and the amount can be spent again', async () => {
    const stop = withholding()
    const id = await call(without)
    stop()
    answering()
    const taken = await Promise.all([1, 2].map(() => owner.paymentScheme.takeBack(payer.peer, id)))
    assert.deepEqual(
      taken.map(({ state }) => state),
      ['taken_back', 'taken_back']
    )
    const [ofOwner] = owner.paymentScheme.channels()
    assert.equal(ofOwner?.spent, PRICE)
    await bench.play.clock.advance(DISPUTE_ASK_MS)
    await bench.call(payer, owner)
    assert.deepEqual(
      (await payerDisputes()).map(({ state }) => state),
      ['taken_back']
    )
    await payer.paymentScheme.stop()
    assert.equal(await spent(), 2n * PRICE)
    assert.equal(-(await owner.store.ledger.balance(`earned/${bench.channelId()}`)), 2n * PRICE)
    // Taking it back again changes nothing.
    await owner.paymentScheme.takeBack(payer.peer, id)
    assert.equal(-(await owner.store.ledger.balance(`earned/${bench.channelId()}`)), 2n * PRICE)
  })

  it('cannot be taken back once it is claimed on chain, nor by a peer that never paid it', async () => {
    const id = await call(without)
    await assert.rejects(owner.paymentScheme.takeBack(owner.peer, id), code('invalid_request'))
    bench.play.channels.get(bench.channelId())!.claimed = 2n * PRICE
    await assert.rejects(owner.paymentScheme.takeBack(payer.peer, id), code('invalid_request'))
  })

  it('ends when the operator accepts it', async () => {
    withholding()
    const id = await call(without)
    assert.equal((await payer.paymentScheme.acceptCharge(id)).state, 'accepted')
    await bench.call(payer, owner)
    assert.equal(await disputed(), 0n)
    await assert.rejects(payer.paymentScheme.acceptCharge(id), code('invalid_request'))
  })

  it('is told to the owner, who sees it too', async () => {
    await call(without)
    const [dispute] = await eventually('the owner knows', 1_000, async () => some(await owner.paymentScheme.disputes()))
    assert.deepEqual(
      [dispute?.role, dispute?.peer, dispute?.amount, dispute?.fault],
      ['owner', payer.peer, PRICE, 'missing']
    )
  })

  it('disputes nothing of other owners', async () => {
    withholding()
    await call(without)
    const other = await bench.start('E')
    assert.equal((await bench.call(payer, other)).charged, PRICE)
    await other.paymentScheme.stop()
  })

  it('does not arise from a repeat: the stored call has its receipt again, also at a restarted owner', async () => {
    const { receipt } = await bench.call(payer, owner)
    const { body } = readReceipt(receipt)!
    await owner.paymentScheme.stop()
    owner = await bench.start('D', {}, { store: owner.store, signer: owner.signer })
    const again = await owner.paymentScheme.settled!((await owner.store.calls.find(payer.peer, body.requestId))!)
    const read = readReceipt(again.receipt)!
    assert.deepEqual({ ...read.body }, { ...body })
    assert.equal(again.charged, PRICE)
  })

  it('gets no receipt for a call of another peer, or on another channel', async () => {
    const { receipt } = await bench.call(payer, owner)
    const { requestId } = readReceipt(receipt)!.body
    const service = bench.services.get(owner.peer)!
    const ask = async (peer: string, id = bench.channelId(), call = requestId) => {
      const request = encodePayRequest({ kind: 'receipt', receipt: { channelId: id, requestId: call, dispute: '' } })
      return decodePayReply(await service(request, peer)).kind
    }
    assert.equal(await ask(payer.peer), 'receipt')
    assert.equal(await ask(owner.peer), 'refusal')
    assert.equal(await ask(payer.peer, `0x${'12'.repeat(32)}`), 'refusal')
    assert.equal(await ask(payer.peer, bench.channelId(), freshIds.next()), 'refusal')
  })
})
