import assert from 'node:assert/strict'
import { asSoukError, SoukError } from '../../../lib/base/errors.ts'
import { IN_FLIGHT_PER_API_MAX, IN_FLIGHT_PER_CONSUMER_MAX } from '../../../lib/base/limits/admission.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import { DEFAULT_TERMS } from '../../../lib/owner/served-api.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { incoming, NEVER, OwnerBench, replyOf, servedApi } from './bench.ts'

const RATE = { calls: 2, perMs: 1_000 }
const consumer = (n: number) => new Uint8Array(16).fill(n)

describe('the limits of one consumer', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
    await bench.owner.apis.set(servedApi(bench.adapter, { rateLimit: RATE }))
  })
  afterEach(() => {
    assert.equal(bench.owner.apis.inFlight, 0, 'calls are left over')
  })

  const refused = (changes: Partial<IncomingCall>, code: string, members?: object) =>
    assert.rejects(bench.handle(changes), (error) => {
      assert.ok(error instanceof SoukError)
      assert.deepEqual([error.code, error.notAccepted], [code, true])
      if (members !== undefined) assert.deepEqual(error.members, members)
      assert.ok((error.retryAfterMs ?? 0) > 0)
      return true
    })

  it('are reported with each response; a refused call is free, unrecorded and never reaches the API', async () => {
    const rates = [(await bench.handle()).rate, (await bench.handle()).rate]
    assert.deepEqual(rates, [
      { policy: 'default', ...RATE, remaining: 1, resetMs: 500 },
      { policy: 'default', ...RATE, remaining: 0, resetMs: 500 }
    ])
    const reputation = { policy: 'default', calls: 2, per_ms: 1_000, remaining: 0, reset_ms: 500 }
    await refused({}, 'rate_limited', { rate_limit: reputation })
    assert.equal(bench.adapter.reached.length, 2)
    assert.equal((await bench.records()).length, 2)
    await bench.clock.advance(500)
    assert.equal((await bench.handle()).status, 200)
    await refused({}, 'rate_limited')
  })

  it('apply to an account through any node, and to a node without an account', async () => {
    const [one, other] = [peerId('C'), peerId('D')]
    await bench.handle({ peer: one, consumer: consumer(1) })
    await bench.handle({ peer: other, consumer: consumer(1) })
    await refused({ peer: one, consumer: consumer(1) }, 'rate_limited')
    await bench.handle({ peer: one, consumer: consumer(2) })
    await bench.handle({ peer: one })
    await bench.handle({ peer: one })
    await refused({ peer: one }, 'rate_limited')
    await bench.handle({ peer: other })
  })

  it('do not count a repeat of a finished call, nor a call refused for its payment', async () => {
    const first = incoming()
    await bench.owner.handle(first, NEVER)
    const again = await bench.owner.handle({ ...first, resentFromEpoch: 100n }, NEVER)
    assert.equal(again.status, 200)
    assert.equal((await bench.handle()).rate?.remaining, 0)

    const metered = createMeteredScheme({ log: bench.store.calls })
    let isPaid = false
    const paymentScheme: typeof metered = {
      ...metered,
      admit(admission) {
        if (!isPaid) throw new SoukError('payment_required', undefined, { notAccepted: true })
        return metered.admit(admission)
      }
    }
    const owner = await bench.ownerWith(paymentScheme, { rateLimit: { calls: 1, perMs: 60_000 } })
    await assert.rejects(owner.handle(incoming(), NEVER), { code: 'payment_required' })
    isPaid = true
    assert.equal((await owner.handle(incoming(), NEVER)).status, 200)
    await assert.rejects(owner.handle(incoming(), NEVER), { code: 'rate_limited' })
  })

  it('survive a new revision of the listing', async () => {
    await bench.handle()
    await bench.handle()
    await bench.owner.apis.set(servedApi(bench.adapter, { rateLimit: RATE, revision: 2 }))
    await refused({}, 'rate_limited')
  })

  it('limit concurrent calls, streams until they end, and leave room for other consumers', async () => {
    await bench.owner.apis.set(servedApi(bench.adapter, {}, { ...DEFAULT_TERMS, inFlightPerConsumer: 2 }))
    const release = Promise.withResolvers<void>()
    bench.adapter.answer = async () => {
      await release.promise
      return replyOf(streamOf('a', 'b'))
    }
    const first = [bench.handle(), bench.handle()]
    await settle()
    await refused({}, 'overloaded')
    await refused({}, 'overloaded')
    const other = bench.handle({ consumer: consumer(1) })
    release.resolve()
    const [streaming] = await Promise.all([...first, other])
    await refused({}, 'overloaded')
    assert.equal(await textOf((streaming ?? assert.fail()).body), 'ab')
    const next = await bench.handle()
    for (const { body } of [await first[1]!, await other, next]) await textOf(body)
  })

  it('leave room for others by default', async () => {
    assert.ok(IN_FLIGHT_PER_CONSUMER_MAX < IN_FLIGHT_PER_API_MAX)
    const release = Promise.withResolvers<void>()
    bench.adapter.answer = async () => {
      await release.promise
      return replyOf()
    }
    await bench.owner.apis.set(servedApi(bench.adapter))
    const greedy = Array.from({ length: IN_FLIGHT_PER_API_MAX }, () =>
      bench.handle().then(
        () => 'ok',
        (error: unknown) => asSoukError(error).code
      )
    )
    await settle()
    const modest = bench.handle({ peer: peerId('D') })
    release.resolve()
    assert.equal((await modest).status, 200)
    const fates = await Promise.all(greedy)
    assert.equal(fates.filter((fate) => fate === 'ok').length, IN_FLIGHT_PER_CONSUMER_MAX)
    assert.equal(
      fates.filter((fate) => fate === 'overloaded').length,
      IN_FLIGHT_PER_API_MAX - IN_FLIGHT_PER_CONSUMER_MAX
    )
  })
})
