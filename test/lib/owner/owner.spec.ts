import assert from 'node:assert/strict'
import { text, utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { IN_FLIGHT_PER_API_MAX } from '../../../lib/base/limits/admission.ts'
import { REQUEST_BYTES_MAX } from '../../../lib/base/limits/call.ts'
import { STORED_BODY_BYTES_MAX } from '../../../lib/base/limits/store.ts'
import type { AdapterReply, AdapterRequest } from '../../../lib/interface/adapter.ts'
import type { CallResponse } from '../../../lib/interface/call.ts'
import type { Reservation, PaymentScheme } from '../../../lib/interface/payment-scheme.ts'
import { DEFAULT_TERMS } from '../../../lib/owner/served-api.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { within } from '../../helpers/eventually.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { CONSUMER, ID, incoming, NEVER, OwnerBench, PROVIDER, replyOf, servedApi, StubAdapter } from './bench.ts'

const iteratorOf = ({ body }: CallResponse) => (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()

describe('Owner', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
  })
  afterEach(() => {
    assert.equal(bench.owner.apis.inFlight, 0, 'calls are left over')
  })

  it('calls the adapter and returns its response', async () => {
    bench.adapter.answer = async () => {
      await bench.clock.advance(12)
      return replyOf('{"price":1}', { status: 201, upstreamMs: 9 })
    }
    const requestId = freshIds.next()
    const answer = await bench.handle({ requestId, headers: [['accept', 'application/json']] })
    assert.equal(await textOf(answer.body), '{"price":1}')
    const { status, charged, ownerMs, upstreamMs } = answer
    assert.deepEqual({ status, charged, ownerMs, upstreamMs }, { status: 201, charged: 0n, ownerMs: 3, upstreamMs: 9 })
    const [{ memory: _, ...request }] = bench.adapter.reached as [AdapterRequest]
    assert.deepEqual(
      { ...request, body: text(request.body as Uint8Array) },
      {
        method: 'POST',
        path: '',
        headers: [['accept', 'application/json']],
        requestId,
        price: 1_500n,
        body: '{"symbol":"BTC"}'
      }
    )
  })

  it('charges a lower price if its adapter says so', async () => {
    const amounts: Array<bigint | undefined> = []
    const paymentScheme = createMeteredScheme({ log: bench.store.calls })
    const noting: PaymentScheme = {
      ...paymentScheme,
      async admit(admission) {
        const reservation = await paymentScheme.admit(admission)
        const capture: Reservation['capture'] = (outcome, amount) => {
          amounts.push(amount)
          return reservation.capture(outcome)
        }
        return { ...reservation, capture }
      }
    }
    const owner = await bench.ownerWith(noting)
    await owner.handle(incoming(), new AbortController().signal)
    bench.adapter.answer = async () => replyOf('{}', { price: 40n })
    await owner.handle(incoming(), new AbortController().signal)
    assert.deepEqual(amounts, [undefined, 40n])
  })

  it('accepts requests that belong to the API’s protocol, whatever its listing forwards', async () => {
    const adapter = Object.assign(bench.adapter, {
      takes: (method: string, path: string) => `${method} ${path}` === 'GET ?q=1'
    })
    await bench.owner.apis.set(servedApi(adapter))
    assert.equal((await bench.handle({ method: 'GET', path: '?q=1' })).status, 200)
    await assert.rejects(bench.handle({ method: 'GET', path: '/?q=1' }), { code: 'method_not_allowed' })
    await assert.rejects(bench.handle({ method: 'PUT', path: '?q=1' }), { code: 'method_not_allowed' })
  })

  describe('the books', () => {
    it('record a success as captured, with its response', async () => {
      await bench.handle()
      const [record, ...more] = await bench.records()
      assert.deepEqual(more, [])
      const { peer, api, outcome, status, price, charged, upstreamMs, response, code } = record ?? assert.fail()
      assert.deepEqual(
        { peer, api, outcome, status, price, charged, upstreamMs, code },
        {
          peer: CONSUMER,
          api: ID,
          outcome: 'captured',
          status: 200,
          price: 1_500n,
          charged: 0n,
          upstreamMs: 5,
          code: undefined
        }
      )
      assert.equal(text(response?.body ?? utf8('')), '{"ok":true}')
    })

    it('record why a call was charged', async () => {
      const EVENTS = [['content-type', 'Text/Event-Stream; charset=utf-8']] as const
      const cases: ReadonlyArray<readonly [rule: string | undefined, reply: AdapterReply]> = [
        ['success', replyOf('{}')],
        ['success', replyOf(streamOf('a file'))],
        ['stream-open', replyOf(streamOf('data: 1\n\n'), { headers: EVENTS })],
        ['cost', replyOf('{}', { price: 40n })],
        ['partial-data', replyOf('{}', { price: 40n, rule: 'partial-data' })],
        [undefined, replyOf('{}', { success: false, rule: 'partial-data' })]
      ]
      for (const [rule, reply] of cases) {
        bench.adapter.answer = async () => reply
        const call = incoming()
        await textOf((await bench.owner.handle(call, NEVER)).body)
        assert.equal((await bench.store.calls.find(call.peer, call.requestId))?.rule, rule)
      }
    })

    it('record an unsuccessful response as void, and return it', async () => {
      bench.adapter.answer = async () => replyOf('not there', { status: 404, success: false })
      const answer = await bench.handle()
      assert.deepEqual([answer.status, await textOf(answer.body)], [404, 'not there'])
      const [record] = await bench.records()
      assert.deepEqual([record?.outcome, record?.status, record?.code], ['void', 404, undefined])
    })

    it('record an error as void, with its code', async () => {
      bench.adapter.answer = async () => {
        throw new SoukError('soap_fault', 'Closed.', { status: 400 })
      }
      await assert.rejects(bench.handle(), { code: 'soap_fault', message: 'Closed.' })
      const [record] = await bench.records()
      assert.deepEqual([record?.outcome, record?.status, record?.code], ['void', 400, 'soap_fault'])
    })

    it('record any other thrown value as internal_error', async () => {
      bench.adapter.answer = async () => {
        throw new TypeError('secret')
      }
      await assert.rejects(bench.handle(), { code: 'internal_error', message: 'This node has an internal error.' })
      assert.equal((await bench.records())[0]?.code, 'internal_error')
    })

    it('record why a call was aborted, not the adapter’s own error', async () => {
      const stop = new AbortController()
      bench.adapter.answer = (_request, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('socket hang up'))))
      const handling = assert.rejects(bench.handle({}, stop.signal), { code: 'upstream_timeout' })
      await settle()
      stop.abort(new SoukError('upstream_timeout'))
      await handling
      assert.equal((await bench.records())[0]?.code, 'upstream_timeout')
    })

    it('store no streams and no large bodies', async () => {
      const large = new Uint8Array(STORED_BODY_BYTES_MAX + 1)
      for (const body of [streamOf('a'), large, large.subarray(1)]) {
        bench.adapter.answer = async () => replyOf(body)
        await textOf((await bench.handle()).body)
      }
      const kept = (await bench.records()).map(({ response }) => response?.body.length)
      assert.deepEqual(kept, [STORED_BODY_BYTES_MAX, undefined, undefined])
    })

    it('are written before a response, a failure or a stream’s head is sent', async () => {
      const outcomes: Array<() => Promise<AdapterReply>> = [
        async () => replyOf(),
        async () => replyOf('no', { status: 500, success: false }),
        async () => {
          throw new SoukError('upstream_timeout')
        },
        async () => replyOf(streamOf('a'))
      ]
      for (const answer of outcomes) {
        const written = Promise.withResolvers<void>()
        bench.beforeAppend = () => written.promise
        bench.adapter.answer = answer
        let isTold = false
        const handling = bench.handle().then(
          ({ body }) => {
            isTold = true
            return textOf(body)
          },
          () => {
            isTold = true
          }
        )
        await settle()
        assert.equal(isTold, false)
        written.resolve()
        await handling
        assert.equal(isTold, true)
      }
    })

    it('that cannot be written fail the call', async () => {
      bench.beforeAppend = async () => {
        throw new SoukError('internal_error', 'The disk is full.')
      }
      bench.adapter.answer = async () => replyOf(streamOf('a'))
      await assert.rejects(bench.handle(), { code: 'internal_error' })
      bench.adapter.answer = async () => {
        throw new SoukError('upstream_timeout')
      }
      await assert.rejects(bench.handle(), { code: 'internal_error' })
    })

    it('record an adapter’s invalid times as 0', async () => {
      for (const upstreamMs of [-5, Number.NaN, 1e9]) {
        bench.adapter.answer = async () => replyOf('{}', { upstreamMs })
        const answer = await bench.handle()
        assert.ok(answer.ownerMs >= 0 && answer.upstreamMs >= 0)
      }
    })
  })

  describe('admission', () => {
    const refused = async (code: string, notAccepted: boolean, changes: Parameters<typeof incoming>[0] = {}) => {
      await assert.rejects(bench.handle(changes), { code, notAccepted })
      assert.deepEqual(bench.adapter.reached, [])
      assert.deepEqual(await bench.records(), [])
    }

    it('refuses an API that is not served here, so that another owner may be tried', () =>
      refused('api_not_found', true, { api: `other@${PROVIDER}` }))

    for (const [state, code, notAccepted] of [
      ['draft', 'api_paused', true],
      ['paused', 'api_paused', true],
      ['retired', 'api_retired', false]
    ] as const) {
      it(`refuses an API that is ${state}`, async () => {
        await bench.owner.apis.set(servedApi(bench.adapter, { state }))
        await refused(code, notAccepted)
      })
    }

    it('accepts calls of a deprecated API', async () => {
      await bench.owner.apis.set(servedApi(bench.adapter, { state: 'deprecated' }))
      assert.equal((await bench.handle()).status, 200)
    })

    it('refuses methods and paths if the listing forwards none, and passes them if it does', async () => {
      await refused('method_not_allowed', false, { method: 'GET' })
      await refused('method_not_allowed', false, { path: '/candles' })
      await bench.owner.apis.set(
        servedApi(bench.adapter, {}, { ...DEFAULT_TERMS, requestBytesMax: 10, forwardsPaths: true })
      )
      await bench.handle({ method: 'GET', path: '/candles?x=1', body: utf8('') })
      const [{ method, path } = assert.fail()] = bench.adapter.reached
      assert.deepEqual([method, path], ['GET', '/candles?x=1'])
    })

    it('refuses a price above the consumer’s limit, and accepts one at the limit', async () => {
      await refused('price_exceeds_limit', false, { maxPrice: 1_499n })
      assert.equal((await bench.handle({ maxPrice: 1_500n })).status, 200)
    })

    it('refuses a body that is too large, a stream while it is read', async () => {
      await refused('request_too_large', false, { body: new Uint8Array(REQUEST_BYTES_MAX + 1) })
      bench.adapter.answer = async ({ body }) => replyOf(await textOf(body))
      const half = new Uint8Array(REQUEST_BYTES_MAX / 2)
      assert.equal((await bench.handle({ body: streamOf(half, half) })).status, 200)
      await assert.rejects(bench.handle({ body: streamOf(half, half, 'x') }), { code: 'request_too_large' })
    })

    it('refuses calls above the limit of one API, and accepts them again later', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf()
      }
      // From two consumers, because one alone may not use the whole limit.
      const calls = Array.from({ length: IN_FLIGHT_PER_API_MAX }, (_, i) =>
        bench.handle({ peer: peerId('CD'.charAt(i % 2)) })
      )
      await settle()
      await assert.rejects(bench.handle(), { code: 'overloaded', notAccepted: true, retryAfterMs: 1_000 })
      release.resolve()
      await Promise.all(calls)
      assert.equal((await bench.handle()).status, 200)
    })

    it('refuses calls that the payment scheme does not admit, before they reach the API', async () => {
      const admit = () => {
        throw new SoukError('payment_required')
      }
      const paymentScheme = { ...createMeteredScheme({ log: bench.store.calls }), admit }
      const owner = await bench.ownerWith(paymentScheme)
      await assert.rejects(owner.handle(incoming(), NEVER), { code: 'payment_required' })
      assert.deepEqual([bench.adapter.reached.length, owner.apis.inFlight], [0, 0])
    })
  })

  describe('running calls', () => {
    it('are counted until their streams end, in any way', async () => {
      const stop = new AbortController()
      const ends: Array<[string, (answer: CallResponse) => unknown]> = [
        ['read', ({ body }) => textOf(body)],
        ['given up unread', (answer) => iteratorOf(answer).return?.()],
        [
          'given up while read',
          async (answer) => {
            const iterator = iteratorOf(answer)
            await iterator.next()
            await iterator.return?.()
          }
        ],
        ['aborted unread', () => stop.abort(new Error('gone'))]
      ]
      for (const [how, end] of ends) {
        bench.adapter.answer = async () => replyOf(streamOf('a', 'b', 'c'))
        const answer = await bench.handle({}, how.startsWith('aborted') ? stop.signal : NEVER)
        assert.equal(bench.owner.apis.inFlight, 1, how)
        await end(answer)
        assert.equal(bench.owner.apis.inFlight, 0, how)
      }
    })

    it('are counted until a stream breaks', async () => {
      bench.adapter.answer = async () => {
        async function* broken(): AsyncGenerator<Uint8Array> {
          yield utf8('a')
          throw new Error('upstream reset')
        }
        return replyOf(broken())
      }
      await assert.rejects(textOf((await bench.handle()).body))
      assert.equal(bench.owner.apis.inFlight, 0)
    })

    it('are not counted after a cancellation while their outcome was written', async () => {
      const stop = new AbortController()
      bench.beforeAppend = async () => stop.abort(new Error('gone'))
      bench.adapter.answer = async () => replyOf(streamOf('a'))
      await bench.handle({}, stop.signal)
      assert.equal(bench.owner.apis.inFlight, 0)
    })

    it('finish with the old adapter when their API is replaced; it closes after the last one', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf('old')
      }
      const old = bench.handle()
      await settle()
      const next = new StubAdapter()
      next.answer = async () => replyOf('new')
      await bench.owner.apis.set(servedApi(next, { revision: 2 }))
      assert.equal(await textOf((await bench.handle()).body), 'new')
      assert.equal(bench.adapter.closes, 0)
      release.resolve()
      assert.equal(await textOf((await old).body), 'old')
      await settle()
      assert.deepEqual([bench.adapter.closes, next.closes], [1, 0])
    })

    it('keep their adapter open over any number of changes', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf()
      }
      const old = bench.handle()
      await settle()
      await bench.owner.apis.set(servedApi(bench.adapter, { revision: 2 }))
      await bench.owner.apis.set(servedApi(bench.adapter, { revision: 3 }))
      await bench.owner.apis.set(servedApi(new StubAdapter(), { revision: 4 }))
      assert.equal(bench.adapter.closes, 0)
      release.resolve()
      await old
      await settle()
      assert.equal(bench.adapter.closes, 1)
    })

    it('do not keep an unused adapter open', async () => {
      await bench.owner.apis.set(servedApi(new StubAdapter()))
      assert.equal(bench.adapter.closes, 1)
      await bench.owner.apis.delete(ID)
      assert.equal(bench.owner.apis.get(ID), undefined)
    })

    it('are waited for when the owner drains, which accepts no new ones', async () => {
      const release = Promise.withResolvers<void>()
      bench.adapter.answer = async () => {
        await release.promise
        return replyOf(streamOf('a', 'b'))
      }
      const old = bench.handle()
      await settle()
      let isDrained = 0
      const drains = [bench.owner.apis.drain(), bench.owner.apis.drain()].map((drain) =>
        drain.then(() => {
          isDrained++
        })
      )
      await assert.rejects(bench.handle(), { code: 'overloaded', notAccepted: true })
      release.resolve()
      const { body } = await old
      await settle()
      assert.equal(isDrained, 0)
      await textOf(body)
      await within('the drain', 1_000, Promise.all(drains))
      await within('a late drain', 1_000, bench.owner.apis.drain())
    })
  })

  it('keeps consumers separate that use the same request id', async () => {
    const { requestId } = incoming()
    await bench.handle({ requestId })
    await bench.handle({ requestId, peer: peerId('D') })
    assert.equal(bench.adapter.reached.length, 2)
    assert.equal((await bench.records()).length, 2)
  })
})
