import assert from 'node:assert/strict'
import { text, utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { Consumer } from '../../../lib/call/consumer.ts'
import { UsedKeys } from '../../../lib/call/used-keys.ts'
import { UPSTREAM_TIMEOUT_MS } from '../../../lib/base/limits/call.ts'
import { RECEIPT_BYTES_MAX } from '../../../lib/base/limits/pay.ts'
import { TIME_MS_MAX } from '../../../lib/base/limits/time.ts'
import { type Attempt, type IncomingCall, SUBSCRIPTION_SERVICE, UNKNOWN_EPOCH } from '../../../lib/interface/call.ts'
import { bytesOf, streamOf, textOf } from '../../helpers/bodies.ts'
import { freshIds } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { responseOf } from './bench.ts'
import { A, answered, B, ConsumerBench, failed, ID, SELF } from './consumer-bench.ts'

describe('Consumer', () => {
  let bench: ConsumerBench
  beforeEach(() => {
    bench = new ConsumerBench()
  })

  it('calls the first owner, and reports the result to payment scheme and resolver', async () => {
    bench.owners = { [A]: answered() }
    const reply = await bench.call()
    assert.deepEqual(bench.triedOwners(), [A])
    assert.deepEqual(await reply.json(), { ok: true })
    const { id, owner: by, status, price, charged, receipt } = reply
    assert.deepEqual(
      { id, by, status, price, charged, receipt: text(receipt) },
      {
        id: ID,
        by: A,
        status: 200,
        price: 1_500n,
        charged: 7n,
        receipt: 'signed'
      }
    )
    assert.deepEqual(bench.reports, ['A ok in 5'])
    assert.deepEqual(bench.accepted, [{ owner: A, answer: { status: 200, charged: 7n, receipt: utf8('signed') } }])
    const none = { isFee: false, maxPrice: undefined, payout: undefined }
    const { requestId } = reply
    assert.deepEqual(bench.orders, [{ requestId, api: ID, owner: A, revision: 4, price: 1_500n, ...none }])
    assert.equal(bench.lookUps.length, 1)
  })

  it('returns no receipt that is longer than any valid one', async () => {
    for (const length of [RECEIPT_BYTES_MAX, RECEIPT_BYTES_MAX + 1]) {
      const receipt = new Uint8Array(length)
      bench.owners = { [A]: { fate: 'answered', ms: 5, answer: responseOf('{}', { receipt }) } }
      assert.equal((await bench.call()).receipt.length, length <= RECEIPT_BYTES_MAX ? length : 0)
    }
  })

  it('sends the given values, and defaults for the rest', async () => {
    bench.owners = { [A]: answered() }
    const requestId = freshIds.next()
    bench.authorise = async () => utf8('voucher')
    await bench.call()
    await bench.call({
      api: ID,
      body: utf8('<xml/>'),
      method: 'PUT',
      path: '/x?y',
      headers: [['content-type', 'text/xml']],
      timeoutMs: 500,
      maxPrice: '0.002',
      idempotencyKey: 'once',
      traceparent: 'trace',
      requestId
    })
    const [plain, full] = bench.tried.map(({ call }) => call)
    assert.equal(text(plain?.body as Uint8Array), '{"symbol":"BTC"}')
    const absent = {
      consumer: undefined,
      keyFirstAt: undefined,
      keyAnswered: undefined,
      payment: undefined,
      service: undefined,
      subscription: undefined,
      events: 0
    }
    assert.deepEqual(
      { ...plain, body: undefined, requestId: undefined },
      {
        ...absent,
        maxPrice: undefined,
        idempotencyKey: undefined,
        traceparent: undefined,
        api: ID,
        method: 'POST',
        path: '',
        headers: [
          ['content-type', 'application/json'],
          ['accept', 'application/json']
        ],
        timeoutMs: 30_000,
        revision: 4,
        authorization: utf8('voucher'),
        body: undefined,
        requestId: undefined
      }
    )
    assert.deepEqual(full, {
      ...absent,
      requestId,
      api: ID,
      method: 'PUT',
      path: '/x?y',
      headers: [['content-type', 'text/xml']],
      body: utf8('<xml/>'),
      timeoutMs: 500,
      revision: 4,
      maxPrice: 2_000n,
      authorization: utf8('voucher'),
      idempotencyKey: 'once',
      traceparent: 'trace'
    })
    assert.equal(bench.orders[1]?.maxPrice, 2_000n)
  })

  it('queries the owner of an earlier attempt for its outcome, without a payment', async () => {
    const requestId = freshIds.next()
    bench.owners = { [A]: answered('{"by":"A"}'), [B]: answered('{"by":"B"}') }
    const reply = await bench.call({ requestId, sentTo: B })
    assert.deepEqual([await reply.json(), reply.charged], [{ by: 'B' }, 7n])
    const [{ owner, call } = assert.fail(), ...more] = bench.tried
    assert.deepEqual([owner, call.requestId, call.isRepeat, call.authorization], [B, requestId, true, undefined])
    assert.deepEqual([more, bench.orders, bench.accepted, bench.reports], [[], [], [], []])

    // Also if this owner no longer serves the API. No other owner is queried.
    bench.found = [[A]]
    bench.owners = { [A]: answered(), [B]: failed('failed', 'call_interrupted') }
    await assert.rejects(bench.call({ requestId, sentTo: B }), { code: 'call_interrupted' })
    bench.owners = { [A]: answered(), [B]: failed('lost', 'call_interrupted') }
    await assert.rejects(bench.call({ requestId, sentTo: B }), { code: 'owner_unreachable' })
    assert.deepEqual(bench.triedOwners(), [B, B, B])
  })

  it('cannot repeat a call without its id or its body', async () => {
    await assert.rejects(bench.call({ sentTo: A }), { code: 'invalid_request' })
    const requestId = freshIds.next()
    await assert.rejects(bench.call({ sentTo: A, requestId, body: streamOf('once') }), { code: 'invalid_request' })
    assert.deepEqual(bench.tried, [])
  })

  it('queries itself in the same way', async () => {
    bench.found = [[SELF]]
    const received: IncomingCall[] = []
    bench.handle = async (call) => {
      received.push(call)
      return responseOf()
    }
    await bench.call({ requestId: freshIds.next(), sentTo: SELF })
    assert.deepEqual(
      received.map(({ resentFromEpoch }) => resentFromEpoch),
      [UNKNOWN_EPOCH]
    )
  })

  it('accepts every kind of body', async () => {
    bench.owners = { [A]: async (call) => ({ ...answered(await textOf(call.body)) }) }
    const replies = [undefined, utf8('bytes'), streamOf('a', 'stream'), [1, 'x'], 'text', null]
    const bodies = []
    for (const body of replies) bodies.push(await textOf((await bench.call({ body })).body))
    assert.deepEqual(bodies, ['', 'bytes', 'astream', '[1,"x"]', '"text"', 'null'])
  })

  it('refuses invalid calls before it sends anything', async () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const wrong: Array<[part: object, message: RegExp]> = [
      [{ api: 'Not A Name' }, /is not an API name/],
      [{ api: 'ticker@nobody' }, /is not a provider id/],
      [{ body: circular }, /cannot be converted/],
      [{ body: () => {} }, /cannot be converted/],
      [{ body: { amount: 1n } }, /cannot be converted/],
      [{ maxPrice: '-1' }, /is not an amount/]
    ]
    for (const [changes, message] of wrong)
      await assert.rejects(bench.call(changes), { code: 'invalid_request', message })
    assert.equal(bench.lookUps.length, 0)
  })

  it('reports the parts of the duration, none of them negative', async () => {
    bench.owners = {
      [A]: async () => {
        await bench.clock.advance(40)
        return answered()
      }
    }
    assert.deepEqual((await bench.call()).timing, { lookup: 0, pay: 0, net: 8, owner: 2, upstream: 30 })
    bench.owners = { [A]: answered() }
    assert.deepEqual((await bench.call()).timing, { lookup: 0, pay: 0, net: 0, owner: 2, upstream: 30 })
  })

  it('reports a response that is not JSON as the upstream’s fault', async () => {
    bench.owners = { [A]: answered('<html>') }
    await assert.rejects((await bench.call()).json(), { code: 'upstream_invalid_response', source: 'upstream' })
  })

  it('returns the resolver’s SoukError, and internal_error for any other error', async () => {
    bench.found = [new SoukError('name_conflict', undefined, { members: { candidates: [ID] } })]
    await assert.rejects(bench.call(), { code: 'name_conflict', members: { candidates: [ID] } })
    bench = new ConsumerBench()
    bench.found = [new TypeError('secret')]
    await assert.rejects(
      bench.call(),
      (error: SoukError) => error.code === 'internal_error' && error.message !== 'secret'
    )
  })

  it('sends nothing if the payment scheme does not authorise', async () => {
    bench.authorise = async () => {
      throw new SoukError('price_exceeds_limit')
    }
    await assert.rejects(bench.call({ maxPrice: '0.001' }), { code: 'price_exceeds_limit' })
    assert.deepEqual(bench.tried, [])
    assert.deepEqual(bench.accepted, [])
  })

  it('tries another owner if the payment scheme does not trust one, and prefers the other afterwards', async () => {
    bench.owners = { [A]: answered(), [B]: answered() }
    bench.authorise = async ({ owner }) => {
      if (owner === A) throw new SoukError('settlement_unavailable', 'Not paid any more.', { source: 'owner' })
      return utf8('voucher')
    }
    assert.equal((await bench.call()).owner, B)
    assert.deepEqual(bench.triedOwners(), [B])
    assert.deepEqual(bench.reports, ['A failed', 'B ok in 5'])
    bench.found = [[A]]
    await assert.rejects(bench.call(), { code: 'settlement_unavailable', message: 'Not paid any more.' })
  })

  it('limits the lookup to the time of the call', async () => {
    const never = new Consumer({
      clock: bench.clock,
      resolver: {
        resolve: (_ref, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        report: () => {}
      },
      caller: { call: () => assert.fail('nobody was found') },
      paymentScheme: {
        scheme: '',
        movesMoney: false,
        authorise: async () => undefined,
        accept: () => {},
        fail: () => false,
        admit: () => assert.fail()
      },
      requestIds: freshIds,
      usedKeys: new UsedKeys({ clock: bench.clock, claims: bench.store.claims, self: SELF })
    })
    const calling = assert.rejects(never.call({ api: 'ticker', body: {}, timeoutMs: 300 }), { code: 'lookup_timeout' })
    await bench.clock.advance(300)
    await calling
    assert.equal(bench.clock.pending, 0)
  })

  describe('cancelled by its caller', () => {
    it('starts no lookup if the signal was aborted before', async () => {
      await assert.rejects(bench.call({ signal: AbortSignal.abort() }), { code: 'call_interrupted' })
      assert.equal(bench.lookUps.length, 0)
    })

    it('tries no other owner and blames none', async () => {
      const stop = new AbortController()
      bench.owners = {
        [A]: async () => {
          stop.abort()
          return failed('not_accepted', 'owner_unreachable')
        },
        [B]: answered()
      }
      await assert.rejects(bench.call({ signal: stop.signal }), { code: 'call_interrupted' })
      assert.deepEqual(bench.triedOwners(), [A])
      assert.deepEqual(bench.reports, [])
    })

    it('returns the caller’s reason if it is a SoukError', async () => {
      const signal = AbortSignal.abort(new SoukError('rate_limited'))
      await assert.rejects(bench.call({ signal }), { code: 'rate_limited' })
    })
  })

  describe('at its own node', () => {
    beforeEach(() => {
      bench.found = [[SELF]]
    })

    it('uses no link', async () => {
      let seen: IncomingCall | undefined
      bench.handle = async (call) => {
        seen = call
        return responseOf('mine')
      }
      const reply = await bench.call()
      assert.equal(await textOf(reply.body), 'mine')
      assert.equal(seen?.peer, SELF)
      assert.deepEqual(bench.tried, [])
      assert.deepEqual(bench.reports, ['S ok in 0'])
      assert.equal(bench.clock.pending, 0)
    })

    it('fails over like a remote call', async () => {
      bench.found = [[SELF, A]]
      bench.owners = { [A]: answered() }
      bench.handle = async () => {
        throw new SoukError('overloaded', undefined, { notAccepted: true })
      }
      assert.equal((await bench.call()).owner, A)
      bench.handle = async () => {
        throw new SoukError('soap_fault')
      }
      await assert.rejects(bench.call(), { code: 'soap_fault' })
    })

    it('ends at the deadline and with the caller, and releases both', async () => {
      const reasons: unknown[] = []
      bench.handle = (_call, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        })
      const calling = assert.rejects(bench.call({ timeoutMs: 100 }), { code: 'upstream_timeout' })
      await bench.clock.advance(100)
      await calling
      const stop = new AbortController()
      const another = assert.rejects(bench.call({ signal: stop.signal }), { code: 'call_interrupted' })
      await settle()
      stop.abort()
      await another
      assert.deepEqual(
        reasons.map((reason) => reason instanceof SoukError && reason.code),
        ['upstream_timeout', 'call_interrupted']
      )
      assert.equal(bench.clock.pending, 0)
    })

    it('streams past the deadline until the reader stops, which cancels the adapter', async () => {
      let signalled: AbortSignal | undefined
      bench.handle = async (_call, signal) => {
        signalled = signal
        return responseOf(streamOf('a', 'b', 'c'))
      }
      const whole = await bench.call({ timeoutMs: 100 })
      await bench.clock.advance(1_000)
      assert.equal(await textOf(whole.body), 'abc')
      assert.equal(signalled?.aborted, false)

      const { body } = await bench.call()
      await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
      assert.equal(signalled?.aborted, true)

      const stop = new AbortController()
      const third = await bench.call({ signal: stop.signal })
      stop.abort()
      assert.equal(signalled?.aborted, true)
      await bytesOf(third.body)
      assert.equal(bench.clock.pending, 0)
    })
  })

  it('gives an owner that never completes its response about a subscription only the time of a call', async () => {
    let isLeft = false
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          isLeft = true
          return { done: true, value: undefined }
        }
      })
    }
    bench.owners = { [A]: { fate: 'answered', ms: 5, answer: responseOf('', { body }) } }
    const terms = {
      service: SUBSCRIPTION_SERVICE,
      price: 0n,
      maxPrice: 0n,
      owner: A,
      isOnly: true,
      paysEvents: false
    } as const
    const calling = assert.rejects(bench.call({}, terms), { code: 'upstream_timeout', source: 'owner' })
    await settle()
    await bench.clock.advance(UPSTREAM_TIMEOUT_MS)
    await calling
    assert.ok(isLeft)
    assert.equal(bench.clock.pending, 0)
  })

  it('drops a quota that ends at a time that no date can have', async () => {
    const quotaOf = async (resetsAt: number) => {
      const { answer } = answered() as Extract<Attempt, { fate: 'answered' }>
      bench.owners = { [A]: { fate: 'answered', ms: 5, answer: { ...answer, quota: { used: 1, resetsAt } } } }
      return (await bench.call()).quota
    }
    assert.equal((await quotaOf(TIME_MS_MAX))?.used, 1)
    assert.equal(await quotaOf(TIME_MS_MAX + 1), undefined)
  })
})
