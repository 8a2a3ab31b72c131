import assert from 'node:assert/strict'
import { isSoukError } from '../../../../lib/base/errors.ts'
import type { Entry } from '../../../../lib/interface/ledger.ts'
import type { CallRecord, Store } from '../../../../lib/interface/store.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { callRecord, storedResponse } from '../../../helpers/call-record.ts'
import { eventually, within } from '../../../helpers/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type CommitFault, poolPostgres, type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'

/** The maximum time from the return of the database to the first response. */
const BACK_MS = 5_000
const DEPOSIT = 1_000_000_000n
const WORKERS = 8

describe('an unavailable PostgreSQL', function () {
  this.timeout(120_000)
  let postgres: TestPostgres
  let url: string
  let proxy: PostgresProxy
  const stores: Store[] = []

  async function open(at = url): Promise<Store> {
    const store = createPostgresStore({ url: at })
    await store.open()
    stores.push(store)
    return store
  }

  before(async () => {
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    url = await postgres.create()
    proxy = await proxyPostgres(url)
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await proxy.close()
  })
  after(() => postgres.stop())

  const faults: ReadonlyArray<readonly [CommitFault, string]> = [
    ['lost', 'is lost on its way'],
    ['unanswered', 'is done, and its response is lost'],
    ['racing', 'and the end of its connection race each other'],
    ['swallowed', 'is swallowed by a connection that stays open'],
    ['silent', 'is done, and nothing comes back on a connection that stays open']
  ]
  for (const [fault, words] of faults) {
    it(`writes everything once if a COMMIT ${words}`, async () => {
      const store = await open(proxy.through(url))
      const load = startLoad([store])
      for (let round = 0; round < (fault === 'swallowed' || fault === 'silent' ? 1 : 5); round++) {
        await load.progress()
        await within('a commit', 20_000, proxy.fail(fault))
      }
      await load.progress()
      await load.stop()
      await checkBooks(await open(), load)
    })
  }

  it('writes nothing of a COMMIT that arrives after its process reconnected', async () => {
    const store = await open(proxy.through(url))
    const load = startLoad([store])
    await load.progress()
    await within('a commit', 20_000, proxy.fail('late'))
    await load.progress()
    proxy.release()
    await load.progress()
    await load.stop()
    await checkBooks(await open(), load)
  })

  it('recovers each time its connections are ended', async () => {
    const load = startLoad([await open(), await open()])
    for (let round = 0; round < 5; round++) {
      await load.progress()
      await postgres.dropConnections()
    }
    await load.progress()
    await load.stop()
    await checkBooks(await open(), load)
  })

  for (const how of ['fast', 'immediate'] as const) {
    it(`rejects new operations, keeps pending ones, and continues, over a ${how} stop of the server`, async () => {
      const store = await open()
      const load = startLoad([store, await open()])
      const heard: Array<string | undefined> = []
      store.signals!.listen('keys', (text) => heard.push(text))
      await eventually('it to listen', BACK_MS, () => heard.length === 1 || undefined)
      await load.progress()
      await postgres.halt(how)
      const refusal = await eventually('the loss to be noticed', BACK_MS, () => store.refusal?.())
      assert.equal(refusal.code, 'store_unavailable')
      assert.ok(refusal.retryable && (refusal.retryAfterMs ?? 0) > 0)
      for (const ask of [
        () => store.documents.get('a', 'b'),
        () => store.documents.put('a', 'b', '1'),
        () => store.ledger.balance('balance'),
        () => store.claims.take({ name: new Uint8Array(32), holder: 'a', epoch: 1n, at: 1 }, 0),
        () => store.signals!.send('keys', 'lost')
      ]) {
        await within('a refusal', 500, assert.rejects(ask(), { code: 'store_unavailable' }))
      }
      const waiting = load.underWay()
      assert.ok(waiting > 0, 'outcomes wait')
      await postgres.resume()
      await within('a response', BACK_MS, load.progress())
      assert.equal(store.refusal?.(), undefined)
      await store.documents.put('a', 'b', '1')
      assert.equal(await store.documents.get('a', 'b'), '1')
      // Listeners with caches learn that they may have missed signals, and receive signals again.
      await eventually(
        'it to listen again',
        BACK_MS,
        () => (heard.at(-1) === undefined && heard.length >= 3) || undefined
      )
      await store.signals!.send('keys', 'news')
      await eventually('the news', BACK_MS, () => heard.at(-1) === 'news' || undefined)
      await load.stop()
      await checkBooks(await open(), load)
    })
  }

  it('rejects waiting writes when it is closed without a database', async () => {
    const store = await open()
    await postgres.halt('immediate')
    try {
      const waiting = store.calls.append(callRecord())
      waiting.catch(() => {})
      await eventually('the loss to be noticed', BACK_MS, () => store.refusal?.())
      await within('the end', BACK_MS, store.close())
      await assert.rejects(waiting, { code: 'store_unavailable' })
    } finally {
      await postgres.resume()
    }
  })

  it("prevents a process that was declared dead from overwriting others' data, and lets it start over", async () => {
    const [dead, alive] = [await open(), await open()]
    let told = 0
    dead.fencing!.onFenced(() => told++)
    await alive.fencing!.fence(dead.fencing!.id)
    await alive.documents.put('a', 'b', 'new')
    await assert.rejects(dead.documents.put('a', 'b', 'old'), { code: 'store_unavailable' })
    assert.equal(told, 1)
    assert.equal(await alive.documents.get('a', 'b'), 'new')
    await dead.documents.put('a', 'b', 'newer')
    assert.equal(await alive.documents.get('a', 'b'), 'newer')
    // A draw runs at most once and only with sufficient balance, so it may be written late.
    await alive.ledger.book(move('cash', 'balance', 10n, 'deposit'))
    await alive.fencing!.fence(dead.fencing!.id)
    assert.equal(await dead.ledger.draw(move('balance', 'spent', 10n, 'one'), 'balance'), 'booked')
    assert.equal(await dead.ledger.draw(move('balance', 'spent', 1n, 'two'), 'balance'), 'short')
  })

  it('reports whether a database is temporarily away or refuses the connection, and why', async () => {
    const at = (change: (url: URL) => void) => {
      const changed = new URL(url)
      change(changed)
      return () => createPostgresStore({ url: changed.href }).open()
    }
    const wrong = [
      ['store_unavailable', /refuses connections/, at((to) => (to.port = '1'))],
      ['store_unavailable', /host name is not found/, at((to) => (to.hostname = 'db.invalid'))],
      ['internal_error', /refuses the user or the password/, at((to) => (to.password = 'secret'))],
      ['internal_error', /no such database/, at((to) => (to.pathname = '/none'))]
    ] as const
    for (const [code, message, opening] of wrong) {
      await assert.rejects(opening(), (error) => {
        assert.ok(isSoukError(error) && error.code === code)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /secret|127\.0\.0\.1|postgres:/)
        return true
      })
    }
  })

  for (const [order, most] of [
    ['rotate', Infinity],
    ['stack', Infinity],
    ['stack', 1]
  ] as const) {
    it(`rejects a pooler in transaction mode (${order}, ${most} connections)`, async () => {
      const pooler = await poolPostgres(url, order, most)
      try {
        const opening = createPostgresStore({ url: pooler.through(url) }).open()
        await within(
          'a refusal',
          10_000,
          assert.rejects(opening, { code: 'internal_error', message: /pooler in transaction mode/ })
        )
      } finally {
        await pooler.close()
      }
    })
  }
})

interface Load {
  /** The acknowledged writes. */
  readonly calls: CallRecord[]
  readonly drawn: bigint[]
  underWay(): number
  /** Resolves when each worker got a response to a later request. Fails if one got an error. */
  progress(): Promise<void>
  stop(): Promise<void>
}

/** Workers that record calls and draw on a balance in closed loops. */
function startLoad(stores: readonly Store[]): Load {
  const load = { calls: [] as CallRecord[], drawn: [] as bigint[] }
  const errors: unknown[] = []
  const rounds: number[] = []
  const over = new AbortController()
  let underWay = 0
  const work = async (store: Store, worker: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round++) {
      rounds[worker] = round
      const record = callRecord({ price: 3n, charged: 3n, response: storedResponse() })
      const amount = BigInt(1 + (round % 3))
      underWay++
      await Promise.all([
        store.calls.append(record, { postings: postings('owed', 'earned', 3n) }),
        store.ledger.draw(move('balance', 'spent', amount, `${worker}/${round}`), 'balance')
      ]).then(([, outcome]) => {
        assert.equal(outcome, 'booked')
        load.calls.push(record)
        load.drawn.push(amount)
      })
      underWay--
    }
  }
  const depositing = stores[0]!.ledger.book(move('cash', 'balance', DEPOSIT, 'deposit'))
  const working = depositing.then(() =>
    Promise.all(
      stores.flatMap((store, s) =>
        Array.from({ length: WORKERS }, (_, w) =>
          work(store, s * WORKERS + w).catch((error: unknown) => void errors.push(error))
        )
      )
    )
  )
  return {
    ...load,
    underWay: () => underWay,
    async progress() {
      const before = [...rounds]
      await eventually('all workers to go on', 60_000, () => {
        assert.deepEqual(errors, [])
        const isOn =
          rounds.length === stores.length * WORKERS && rounds.every((round, i) => round > (before[i] ?? 0) + 1)
        return isOn || undefined
      })
    },
    async stop() {
      over.abort()
      await working
      assert.deepEqual(errors, [])
    }
  }
}

async function checkBooks({ calls, ledger }: Store, load: Load): Promise<void> {
  const recorded = await calls.recent({ limit: Number.MAX_SAFE_INTEGER })
  assert.equal(recorded.length, load.calls.length, 'each call is there once')
  for (const record of load.calls.slice(-50)) assert.deepEqual(await calls.find(record.peer, record.requestId), record)
  assert.equal((await calls.usage())[0]?.captured, load.calls.length)
  const spent = load.drawn.reduce((sum, amount) => sum + amount, 0n)
  assert.deepEqual(await ledger.balances(''), [
    { account: 'balance', amount: spent - DEPOSIT },
    { account: 'cash', amount: DEPOSIT },
    { account: 'earned', amount: -3n * BigInt(load.calls.length) },
    { account: 'owed', amount: 3n * BigInt(load.calls.length) },
    { account: 'spent', amount: -spent }
  ])
}

function postings(from: string, to: string, amount: bigint): Entry['postings'] {
  return [
    { account: from, amount },
    { account: to, amount: -amount }
  ]
}

function move(from: string, to: string, amount: bigint, reference: string): Entry {
  return { kind: 'test', reference, at: 0, postings: postings(from, to, amount) }
}
