import assert from 'node:assert/strict'
import { utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import {
  INTERRUPTED_CALL_PER_PEER_REFILL_MS,
  INTERRUPTED_CALLS_PER_PEER_BURST
} from '../../../lib/base/limits/admission.ts'
import { requestHash } from '../../../lib/base/request-hash.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { callRecord, peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { CONSUMER, ID, incoming, NEVER, OwnerBench, replyOf } from './bench.ts'

const EPOCH = 100n

describe('a repeated call', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open(undefined, EPOCH)
  })
  afterEach(() => {
    assert.equal(bench.owner.apis.inFlight, 0, 'calls are left over')
  })

  const reached = () => bench.adapter.reached.length

  describe('to the same process', () => {
    it('waits for the running call and gets its response', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf('once')
      }
      const call = incoming()
      const first = bench.owner.handle(call, NEVER)
      const others = [
        bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER),
        bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER),
        // A repeat that is not marked as one does not run twice either.
        bench.owner.handle(call, NEVER)
      ]
      await settle()
      release.resolve()
      for (const answer of await Promise.all([first, ...others])) assert.equal(await textOf(answer.body), 'once')
      assert.equal(reached(), 1)
      assert.equal((await bench.records()).length, 1)
    })

    it('gets the failure of the running call', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        throw new SoukError('upstream_unreachable')
      }
      const call = incoming()
      const first = assert.rejects(bench.owner.handle(call, NEVER), { code: 'upstream_unreachable' })
      const second = assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER), {
        code: 'upstream_unreachable'
      })
      release.resolve()
      await Promise.all([first, second])
      assert.equal(reached(), 1)
    })

    it('learns nothing of the outcome if it stops waiting first; the running call continues', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf()
      }
      const call = incoming()
      const first = bench.owner.handle(call, NEVER)
      const stop = new AbortController()
      const second = assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, stop.signal), {
        code: 'overloaded',
        notAccepted: true
      })
      stop.abort(new SoukError('upstream_timeout'))
      await second
      // Without the mark, `not_accepted` would send the consumer to another owner.
      const unmarked = bench.owner.handle(call, AbortSignal.abort(new SoukError('upstream_timeout')))
      await assert.rejects(unmarked, { code: 'upstream_timeout', notAccepted: false })
      release.resolve()
      assert.equal((await first).status, 200)
    })

    it('gets the stored response', async () => {
      bench.adapter.answer = async () => replyOf('once', { status: 201, headers: [['x-a', 'b']] })
      const call = incoming()
      await bench.owner.handle(call, NEVER)
      const { body, status, headers, charged } = await bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)
      assert.equal(await textOf(body), 'once')
      assert.deepEqual({ status, headers, charged }, { status: 201, headers: [['x-a', 'b']], charged: 0n })
      assert.equal(reached(), 1)
    })

    it('gets the stored response even if it is not marked as a repeat', async () => {
      bench.adapter.answer = async () => replyOf('once')
      const [first, second] = [incoming(), incoming()]
      const resent = { ...second, resentFromEpoch: EPOCH }
      for (const call of [first, resent, first, second]) {
        const { body } = await bench.owner.handle(call, NEVER)
        assert.equal(await textOf(body), 'once')
      }
      assert.equal(reached(), 2)
      const other = { ...first, body: utf8('{}') }
      await assert.rejects(bench.owner.handle(other, NEVER), { code: 'idempotency_mismatch' })
    })

    it('gets the stored failure', async () => {
      bench.adapter.answer = async () => {
        throw new SoukError('soap_fault', 'Closed.', { status: 400 })
      }
      const call = incoming()
      await assert.rejects(bench.owner.handle(call, NEVER))
      await assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER), {
        code: 'soap_fault',
        status: 400
      })
      assert.equal(reached(), 1)
    })

    it('is interrupted if the response was a stream, or is no longer stored', async () => {
      bench.adapter.answer = async () => replyOf(streamOf('a'))
      const streamed = incoming()
      const { body } = await bench.owner.handle(streamed, NEVER)
      const again = { code: 'call_interrupted' }
      await assert.rejects(bench.owner.handle({ ...streamed, resentFromEpoch: EPOCH }, NEVER), again)
      await textOf(body)

      bench.adapter.answer = async () => replyOf()
      const call = incoming()
      await bench.owner.handle(call, NEVER)
      bench.store.calls.acknowledge(call.peer, [call.requestId])
      await settle()
      await assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER), again)
      assert.equal(reached(), 2)
    })

    it('learns what its first attempt was charged if the response is not stored', async () => {
      const call = incoming()
      const { peer, requestId, api } = call
      const record = callRecord({ peer, requestId, api, charged: 20_000n, requestHash: requestHash(call) })
      await bench.store.calls.append(record)
      await assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER), {
        code: 'call_interrupted',
        members: { charge: '0.02' }
      })
    })

    it('is interrupted if the running call’s response is a stream, which has one reader', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf(streamOf('a'))
      }
      const call = incoming()
      const first = bench.owner.handle(call, NEVER)
      const second = assert.rejects(bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER), {
        code: 'call_interrupted'
      })
      release.resolve()
      await second
      assert.equal(await textOf((await first).body), 'a')
    })

    it('runs if the call never arrived, and only once', async () => {
      const call = { ...incoming(), resentFromEpoch: EPOCH }
      const answers = await Promise.all(Array.from({ length: 50 }, () => bench.owner.handle(call, NEVER)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map(() => 200)
      )
      assert.equal(reached(), 1)
      assert.equal((await bench.records()).length, 1)
    })

    it('runs if the first attempt was refused at admission', async () => {
      const call = incoming()
      const api = bench.owner.apis.get(ID) ?? assert.fail()
      await bench.owner.apis.delete(ID)
      await assert.rejects(bench.owner.handle(call, NEVER), { notAccepted: true })
      await bench.owner.apis.set(api)
      assert.equal((await bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)).status, 200)
    })

    it('must be the same call, whether running or finished', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf()
      }
      const call = incoming()
      const first = bench.owner.handle(call, NEVER)
      const others = [{ body: utf8('{"symbol":"ETH"}') }, { path: '/other' }, { method: 'PUT' }]
      const mismatch = { code: 'idempotency_mismatch' }
      for (const changes of others) {
        await assert.rejects(bench.owner.handle({ ...call, ...changes, resentFromEpoch: EPOCH }, NEVER), mismatch)
      }
      release.resolve()
      await first
      for (const changes of others) {
        await assert.rejects(bench.owner.handle({ ...call, ...changes, resentFromEpoch: EPOCH }, NEVER), mismatch)
      }
      assert.equal(reached(), 1)
    })

    it('of another consumer is another call', async () => {
      const call = incoming()
      await bench.owner.handle(call, NEVER)
      await bench.owner.handle({ ...call, peer: peerId('D'), resentFromEpoch: EPOCH }, NEVER)
      assert.equal(reached(), 2)
    })

    it('gets the stored response while the node drains', async () => {
      const call = incoming()
      await bench.owner.handle(call, NEVER)
      await bench.owner.apis.drain()
      assert.equal((await bench.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)).status, 200)
    })
  })

  describe('to a restarted process', () => {
    it('gets the stored response', async () => {
      const call = incoming()
      await bench.owner.handle(call, NEVER)
      const later = await OwnerBench.open(bench.store, EPOCH + 1n)
      const { body } = await later.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)
      assert.equal(await textOf(body), '{"ok":true}')
      assert.equal(later.adapter.reached.length, 0)
    })

    it('is interrupted if the books have no outcome, and never runs', async () => {
      const call = { ...incoming(), resentFromEpoch: EPOCH }
      const later = await OwnerBench.open(bench.store, EPOCH + 1n)
      const interrupted = { code: 'call_interrupted', status: 502 }
      const offers = [1, 2, 3].map(() => assert.rejects(later.owner.handle(call, NEVER), interrupted))
      await Promise.all(offers)
      await assert.rejects(later.owner.handle(call, NEVER), interrupted)
      const [tombstone, ...more] = await later.records()
      assert.deepEqual(more, [])
      assert.deepEqual([tombstone?.outcome, tombstone?.code, tombstone?.charged], ['void', 'call_interrupted', 0n])
      const last = await OwnerBench.open(bench.store, EPOCH + 2n)
      await assert.rejects(last.owner.handle(call, NEVER), interrupted)
      // Not even if the repeat claims to have been sent to this process first.
      await assert.rejects(last.owner.handle({ ...call, resentFromEpoch: EPOCH + 2n }, NEVER), interrupted)
      assert.deepEqual([later.adapter.reached.length, last.adapter.reached.length], [0, 0])
    })

    it('is recorded up to a limit, because a peer can invent such calls', async () => {
      const later = await OwnerBench.open(bench.store, EPOCH + 1n)
      const repeat = (call: IncomingCall) => later.owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)
      const interrupted = { code: 'call_interrupted' }
      const first = incoming()
      await assert.rejects(repeat(first), interrupted)
      for (let n = 1; n < INTERRUPTED_CALLS_PER_PEER_BURST; n++) await assert.rejects(repeat(incoming()), interrupted)
      const refused = incoming()
      // The consumer learns nothing of its outcome, and repeats it later.
      const overloaded = { code: 'overloaded', notAccepted: true, retryAfterMs: INTERRUPTED_CALL_PER_PEER_REFILL_MS }
      await assert.rejects(repeat(refused), overloaded)
      assert.equal(await later.store.calls.find(CONSUMER, refused.requestId), undefined)
      await assert.rejects(repeat(first), interrupted)
      await assert.rejects(repeat(incoming({ peer: peerId('D') })), interrupted)
      await later.clock.advance(INTERRUPTED_CALL_PER_PEER_REFILL_MS)
      await assert.rejects(repeat(refused), interrupted)
      assert.equal(later.adapter.reached.length, 0)
    })

    it('is interrupted if its API is no longer served', async () => {
      const later = await OwnerBench.open(bench.store, EPOCH + 1n)
      await later.owner.apis.delete(ID)
      const call = { ...incoming(), resentFromEpoch: EPOCH }
      await assert.rejects(later.owner.handle(call, NEVER), { code: 'call_interrupted', notAccepted: false })
    })
  })
})
