import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { apiId } from '../../../lib/base/api-name.ts'
import { utf8 } from '../../../lib/base/bytes.ts'
import { asSoukError, SoukError } from '../../../lib/base/errors.ts'
import { REQUEST_ID_SKEW_MS } from '../../../lib/base/limits/call.ts'
import { CLAIM_MS, IDEMPOTENCY_MS, STORED_BODY_BYTES_MAX } from '../../../lib/base/limits/store.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import type { Store } from '../../../lib/interface/store.ts'
import { Owner } from '../../../lib/owner/owner.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { incoming, NEVER, OwnerBench, PROVIDER, replyOf, SELF, servedApi } from './bench.ts'

const KEY = { idempotencyKey: 'order-7' }
const consumer = (n: number) => new Uint8Array(16).fill(n)

describe('calls with an idempotency key', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
    bench.adapter.answer = async () => replyOf(`${bench.adapter.reached.length}`)
  })
  afterEach(() => {
    assert.equal(bench.owner.apis.inFlight, 0, 'calls are left over')
  })

  const reached = () => bench.adapter.reached.length
  const call = (changes: Partial<IncomingCall> = {}) => bench.handle({ ...KEY, ...changes })
  const refused = (code: string, changes: Partial<IncomingCall> = {}, notAccepted = true) =>
    assert.rejects(call(changes), (error) => {
      assert.ok(error instanceof SoukError)
      assert.deepEqual([error.code, error.notAccepted], [code, notAccepted])
      return true
    })
  /** The same books after a kill. */
  const restarted = async (store: Store = bench.store, self = SELF, restoredAt = 0) => {
    const owner = new Owner({
      restoredAt,
      clock: bench.clock,
      paymentScheme: createMeteredScheme({ log: store.calls }),
      calls: store.calls,
      claims: store.claims,
      self,
      epoch: 200n
    })
    await owner.apis.set(servedApi(bench.adapter))
    return owner
  }

  it('get the first response again, free and without calling the API', async () => {
    bench.adapter.answer = async () => replyOf('once', { status: 201, headers: [['x-a', 'b']] })
    const first = await call()
    assert.equal(first.replayed, undefined)
    const { body, status, headers, charged, replayed, receipt } = await call()
    assert.equal(await textOf(body), 'once')
    assert.deepEqual(
      { status, headers, charged, replayed },
      { status: 201, headers: [['x-a', 'b']], charged: 0n, replayed: true }
    )
    assert.equal(receipt.length, 0)
    assert.equal(reached(), 1)
    assert.equal((await bench.records()).length, 1)
  })

  it('get it even after the consumer acknowledged the first response', async () => {
    const first = incoming(KEY)
    await bench.owner.handle(first, NEVER)
    bench.store.calls.acknowledge(first.peer, [first.requestId])
    assert.equal((await call()).replayed, true)
  })

  it('also get a stored refusal by the API', async () => {
    for (const status of [404, 500]) {
      bench.adapter.answer = async () => replyOf('no', { status, success: false })
      const idempotencyKey = `refused ${status}`
      await call({ idempotencyKey })
      const again = await call({ idempotencyKey })
      assert.deepEqual([again.status, again.replayed, await textOf(again.body)], [status, true, 'no'])
    }
    assert.equal(reached(), 2)
  })

  describe('if the books come from an older backup', () => {
    const keyUse = (keyFirstAt: number, keyAnswered = false) => ({ keyFirstAt, keyAnswered })

    it('do not run if they were answered before and the books lack them', async () => {
      await refused('call_interrupted', keyUse(bench.clock.now(), true), false)
      assert.equal(reached(), 0)
      assert.deepEqual(await bench.records(), [])
      await refused('call_interrupted', {}, false)
      assert.equal(reached(), 0, 'a repeat that knows less was run')
    })

    it('do not run if they were sent before the restore with unknown outcome', async () => {
      const restoredAt = bench.clock.now()
      const owner = await restarted(bench.store, SELF, restoredAt)
      const sent = (firstAt: number, idempotencyKey: string) =>
        owner.handle(incoming({ idempotencyKey, ...keyUse(firstAt) }), NEVER)
      for (const firstAt of [restoredAt - IDEMPOTENCY_MS, restoredAt, restoredAt + REQUEST_ID_SKEW_MS]) {
        await assert.rejects(sent(firstAt, `lost ${firstAt}`), { code: 'call_interrupted' })
      }
      assert.equal(reached(), 0)
      assert.equal((await sent(restoredAt + REQUEST_ID_SKEW_MS + 1, 'later')).status, 200)
      assert.equal((await owner.handle(incoming(KEY), NEVER)).status, 200, 'a first use was refused')
    })

    it('get the stored response if the books have it', async () => {
      await call()
      const owner = await restarted(bench.store, SELF, bench.clock.now())
      const again = await owner.handle(incoming({ ...KEY, ...keyUse(0, true) }), NEVER)
      assert.deepEqual([again.replayed, again.charged, reached()], [true, 0n, 1])
    })
  })

  it('run if they were sent before and never arrived', async () => {
    const use = { keyFirstAt: bench.clock.now() - 1, keyAnswered: false }
    assert.equal((await call(use)).replayed, undefined)
    assert.equal((await call(use)).replayed, true)
    const owner = await restarted()
    assert.equal((await owner.handle(incoming({ idempotencyKey: 'other', ...use }), NEVER)).status, 200)
  })

  it('are separate by consumer, API and key', async () => {
    const other = apiId('other', PROVIDER)
    const api = servedApi(bench.adapter)
    await bench.owner.apis.set({ ...api, signed: { ...api.signed, id: other } })
    const [peer, far] = [peerId('C'), peerId('D')]
    const calls: Array<[Partial<IncomingCall>, number]> = [
      [{ peer }, 1],
      [{ peer: far }, 2],
      [{ peer, consumer: consumer(1) }, 3],
      [{ peer: far, consumer: consumer(1) }, 3],
      [{ peer, consumer: consumer(2) }, 4],
      [{ peer, idempotencyKey: 'order-8' }, 5],
      [{ peer, api: other }, 6],
      [{ peer }, 1]
    ]
    for (const [changes, answer] of calls) assert.equal(await textOf((await call(changes)).body), `${answer}`)
  })

  it('are refused for a different request under the same key', async () => {
    await call()
    await refused('idempotency_mismatch', { body: utf8('{}') })
    await bench.owner.apis.set(servedApi(bench.adapter, {}, { ...servedApi(bench.adapter).terms, forwardsPaths: true }))
    await refused('idempotency_mismatch', { path: '/x' })
    await refused('idempotency_mismatch', { method: 'PUT' })
    assert.equal(reached(), 1)
  })

  it('are refused while the first one runs, so that one reaches the API', async () => {
    const release = Promise.withResolvers<void>()
    bench.adapter.answer = async () => {
      await release.promise
      return replyOf('once')
    }
    const many = Array.from({ length: 50 }, () =>
      call().then(
        () => 'answered',
        (error: unknown) => asSoukError(error).code
      )
    )
    await settle()
    await refused('idempotency_in_flight')
    release.resolve()
    const fates = await Promise.all(many)
    assert.equal(fates.filter((fate) => fate === 'answered').length, 1)
    assert.equal(fates.filter((fate) => fate === 'idempotency_in_flight').length, 49)
    assert.equal(reached(), 1)
    assert.equal((await call()).replayed, true)
  })

  it('run again after an error of the node, before or after the API responded', async () => {
    const errors = ['upstream_timeout', 'upstream_unreachable', 'soap_fault'] as const
    for (const code of errors) {
      bench.adapter.answer = async () => {
        throw new SoukError(code)
      }
      await assert.rejects(call(), { code })
    }
    const paymentScheme = createMeteredScheme({ log: bench.store.calls })
    const admit = () => {
      throw new SoukError('payment_required', undefined, { notAccepted: true })
    }
    const broke = await bench.ownerWith({ ...paymentScheme, admit })
    await assert.rejects(broke.handle(incoming(KEY), NEVER), { code: 'payment_required' })
    bench.adapter.answer = async () => replyOf('at last')
    assert.equal(await textOf((await call()).body), 'at last')
    assert.equal(reached(), errors.length + 1)
  })

  it('continue when their client disconnects, so that it can come back', async () => {
    const release = Promise.withResolvers<void>()
    bench.adapter.answer = async (_, signal) => {
      await release.promise
      signal.throwIfAborted()
      return replyOf('kept')
    }
    const gone = new AbortController()
    const first = call()
    const left = bench.owner.handle(incoming({ idempotencyKey: 'left' }), gone.signal)
    await settle()
    gone.abort(new SoukError('call_interrupted'))
    release.resolve()
    await Promise.all([first, left])
    assert.equal(await textOf((await call({ idempotencyKey: 'left' })).body), 'kept')
    assert.equal(reached(), 2)
  })

  it('end at their timeout', async () => {
    bench.adapter.answer = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const late = assert.rejects(call({ timeoutMs: 500 }), { code: 'upstream_timeout' })
    await bench.clock.advance(500)
    await late
  })

  it('with a streamed or large response get an error on repeats, and are charged once', async () => {
    const bodies = [() => streamOf('a', 'b'), () => new Uint8Array(STORED_BODY_BYTES_MAX + 1)]
    for (const [n, body] of bodies.entries()) {
      bench.adapter.answer = async () => replyOf(body())
      const idempotencyKey = `long ${n}`
      await textOf((await call({ idempotencyKey })).body)
      await refused('call_interrupted', { idempotencyKey }, false)
    }
    assert.equal(reached(), 2)
  })

  it('may upload a stream, which is compared as a whole', async () => {
    bench.adapter.answer = async ({ body }) => replyOf(await textOf(body))
    await call({ body: streamOf('ab', 'c') })
    for (const body of [streamOf('a', 'bc'), utf8('abc')]) assert.equal((await call({ body })).replayed, true)
    await refused('idempotency_mismatch', { body: streamOf('ab', 'd') })
    bench.adapter.answer = async () => replyOf('early')
    const unread = { idempotencyKey: 'unread' }
    await call({ ...unread, body: streamOf('ab', 'c') })
    assert.equal((await call({ ...unread, body: streamOf('ab', 'c') })).replayed, true)
  })

  it('are kept for 24 hours', async () => {
    await call()
    await bench.clock.advance(IDEMPOTENCY_MS)
    assert.equal((await call()).replayed, true)
    await bench.clock.advance(1)
    assert.equal((await call()).replayed, undefined)
    assert.equal(reached(), 2)
  })

  it('count for the rate limit once, and only if they run or get a response', async () => {
    await bench.owner.apis.set(servedApi(bench.adapter, { rateLimit: { calls: 3, perMs: 60_000 } }))
    assert.equal((await call()).rate?.remaining, 2)
    assert.equal((await call()).rate?.remaining, 1)
  })

  it('with their own payment ignore the key, because the payment identifies them', async () => {
    const metered = createMeteredScheme({ log: bench.store.calls })
    const owner = await bench.ownerWith({ ...metered, takesPayments: true })
    for (let i = 0; i < 2; i++) await owner.handle(incoming({ ...KEY, payment: 'abc' }), NEVER)
    assert.equal(reached(), 2)
  })

  describe('after a restart', () => {
    it('get the stored response', async () => {
      await call()
      const owner = await restarted()
      assert.equal((await owner.handle(incoming(KEY), NEVER)).replayed, true)
      assert.equal(reached(), 1)
    })

    it('stay interrupted if the first one was running, because it may have reached the API', async () => {
      bench.adapter.answer = () => new Promise(() => {})
      const dead = call()
      dead.catch(() => {})
      await settle()
      assert.equal(reached(), 1)
      bench.adapter.answer = async () => replyOf()
      const owner = await restarted()
      for (let i = 0; i < 2; i++) {
        await assert.rejects(owner.handle(incoming(KEY), NEVER), { code: 'call_interrupted', notAccepted: false })
        await bench.clock.advance(CLAIM_MS)
      }
      await assert.rejects((await restarted()).handle(incoming(KEY), NEVER), { code: 'call_interrupted' })
      assert.equal((await owner.handle(incoming({ idempotencyKey: 'another' }), NEVER)).status, 200)
      assert.equal(reached(), 2)
      // The killed process never responds, so the bench can end.
      bench = await OwnerBench.open()
    })

    it('are claimed before the API is called', async () => {
      const store = createMemoryStore()
      await store.open()
      let isDead = false
      const dies = new OwnerDies(store, () => isDead)
      const owner = new Owner({
        clock: bench.clock,
        paymentScheme: createMeteredScheme({ log: store.calls }),
        calls: store.calls,
        claims: dies.claims,
        self: SELF,
        epoch: 1n
      })
      await owner.apis.set(servedApi(bench.adapter))
      isDead = true
      owner.handle(incoming(KEY), NEVER).catch(() => {})
      await settle()
      assert.equal(reached(), 0, 'the API was reached before the claim was on disk')
    })
  })

  it('of another process on the same books count as running until no call can run that long', async () => {
    bench.adapter.answer = () => new Promise(() => {})
    call().catch(() => {})
    await settle()
    bench.adapter.answer = async () => replyOf()
    const owner = await restarted(bench.store, peerId('R'))
    await assert.rejects(owner.handle(incoming(KEY), NEVER), { code: 'idempotency_in_flight' })
    await bench.clock.advance(CLAIM_MS + 1)
    await assert.rejects(owner.handle(incoming(KEY), NEVER), { code: 'call_interrupted' })
    assert.equal(reached(), 1)
    bench = await OwnerBench.open()
  })
})

/** Books that never confirm a claim. */
class OwnerDies {
  readonly claims: Store['claims']
  constructor(store: Store, isDead: () => boolean) {
    this.claims = {
      ...store.claims,
      take: async (claim, expired) => {
        const known = await store.claims.take(claim, expired)
        return isDead() ? new Promise(() => {}) : known
      }
    }
  }
}

/** Random actions of a client with two keys and two bodies, of the API and of a killer. */
interface Model {
  /** Body and response, by key. */
  readonly answers: Map<string, { body: string; answer: string }>
  readonly interrupted: Set<string>
  readonly underWay: Map<string, string>
  hits: number
}

class Real {
  readonly store = createMemoryStore()
  bench!: OwnerBench
  epoch = 1n
  hits = 0
  readonly underWay = new Map<string, { release: (answer: string) => void; done: Promise<string> }>()
  how: 'answers' | 'hangs' | 'fails' = 'answers'

  async start(): Promise<void> {
    this.bench = await OwnerBench.open(this.store, this.epoch++)
    this.bench.adapter.answer = async () => {
      const answer = `${++this.hits}`
      if (this.how === 'fails') throw new SoukError('upstream_timeout')
      if (this.how === 'hangs') await new Promise<void>((resolve) => (this.release = resolve))
      return replyOf(answer)
    }
  }

  release: () => void = () => {}

  async call(key: string, body: string): Promise<string> {
    try {
      const answer = await this.bench.handle({ idempotencyKey: key, body: utf8(body) })
      return `${answer.replayed === true ? 'again ' : ''}${await textOf(answer.body)}`
    } catch (error) {
      return asSoukError(error).code
    }
  }
}

type Command = fc.AsyncCommand<Model, Real>

/** The expected response while no call with the key is running. */
function expected(model: Model, key: string, body: string): string | undefined {
  if (model.interrupted.has(key)) return 'call_interrupted'
  if (model.underWay.has(key)) return 'idempotency_in_flight'
  const known = model.answers.get(key)
  if (known === undefined) return undefined
  return known.body === body ? `again ${known.answer}` : 'idempotency_mismatch'
}

class CallOnce implements Command {
  readonly #key: string
  readonly #body: string
  readonly #fails: boolean
  constructor(key: string, body: string, fails: boolean) {
    this.#key = key
    this.#body = body
    this.#fails = fails
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    const [key, body] = [this.#key, this.#body]
    const before = expected(model, key, body)
    real.how = this.#fails ? 'fails' : 'answers'
    const answer = await real.call(key, body)
    if (before === undefined) {
      model.hits++
      if (this.#fails) assert.equal(answer, 'upstream_timeout')
      else {
        assert.equal(answer, `${model.hits}`)
        model.answers.set(key, { body, answer })
      }
    } else assert.equal(answer, before)
    assert.equal(real.hits, model.hits, 'the API was reached more often than it may be')
  }
  toString = () => `call(${this.#key}, ${this.#body}, ${this.#fails ? 'fails' : 'answers'})`
}

class Hang implements Command {
  readonly #key: string
  constructor(key: string) {
    this.#key = key
  }
  check = (model: Readonly<Model>) => model.underWay.size === 0 && expected(model, this.#key, 'x') === undefined
  async run(model: Model, real: Real): Promise<void> {
    real.how = 'hangs'
    const done = real.call(this.#key, 'x')
    await settle()
    model.hits++
    model.underWay.set(this.#key, `${model.hits}`)
    real.underWay.set(this.#key, { release: () => real.release(), done })
    assert.equal(real.hits, model.hits)
  }
  toString = () => `hang(${this.#key})`
}

class Release implements Command {
  check = (model: Readonly<Model>) => model.underWay.size > 0
  async run(model: Model, real: Real): Promise<void> {
    for (const [key, answer] of model.underWay) {
      const running = real.underWay.get(key) ?? assert.fail()
      running.release(answer)
      assert.equal(await running.done, answer)
      model.answers.set(key, { body: 'x', answer })
      real.underWay.delete(key)
    }
    model.underWay.clear()
  }
  toString = () => 'release'
}

class Kill implements Command {
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    for (const key of model.underWay.keys()) model.interrupted.add(key)
    model.underWay.clear()
    real.underWay.clear()
    await real.start()
  }
  toString = () => 'kill'
}

describe('calls with idempotency keys, in any order with failures and kills', () => {
  it('reach the API once per key that has a response', async () => {
    const key = fc.constantFrom('k1', 'k2')
    const commands = [
      fc.tuple(key, fc.constantFrom('x', 'y'), fc.boolean()).map(([k, body, fails]) => new CallOnce(k, body, fails)),
      key.map((k) => new Hang(k)),
      fc.constant(new Release()),
      fc.constant(new Kill())
    ]
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (history) => {
        const real = new Real()
        await real.start()
        const model: Model = { answers: new Map(), interrupted: new Set(), underWay: new Map(), hits: 0 }
        await fc.asyncModelRun(() => ({ model, real }), history)
      }),
      { numRuns: 60 }
    )
  })
})
