import assert from 'node:assert/strict'
import { Client } from 'pg'
import { isSoukError } from '../../../../lib/base/errors.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { callRecord } from '../../../helpers/call-record.ts'
import { eventually, within } from '../../../helpers/eventually.ts'
import { type CommitFault, poolPostgres } from '../../../helpers/postgres-proxy.ts'
import { outageBench } from './outage-bench.ts'
import { checkBooks, move, startLoad } from './outage-load.ts'

/** The maximum time from the return of the database to the first response. */
const BACK_MS = 5_000

/** As seen on a machine with two busy cores. */
const STALL_MS = 5_000

describe('an unavailable PostgreSQL', () => {
  const bench = outageBench()
  const { open } = bench

  const faults: ReadonlyArray<readonly [CommitFault, string]> = [
    ['lost', 'is lost on its way'],
    ['unanswered', 'is done, and its response is lost'],
    ['racing', 'and the end of its connection race each other']
  ]
  for (const [fault, words] of faults) {
    it(`writes everything once if a COMMIT ${words}`, async () => {
      const store = await open(bench.proxy.through(bench.url))
      const load = startLoad([store])
      for (let round = 0; round < 5; round++) {
        await load.progress()
        await within('a commit', 20_000, bench.proxy.fail(fault))
      }
      await load.progress()
      await load.stop()
      await checkBooks(await open(), load)
    })
  }

  it('recovers each time its connections are ended', async () => {
    const load = startLoad([await open(), await open()])
    for (let round = 0; round < 5; round++) {
      await load.progress()
      await bench.postgres.dropConnections()
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
      await bench.postgres.halt(how)
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
      await bench.postgres.resume()
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
    await bench.postgres.halt('immediate')
    try {
      const waiting = store.calls.append(callRecord())
      waiting.catch(() => {})
      await eventually('the loss to be noticed', BACK_MS, () => store.refusal?.())
      await within('the end', BACK_MS, store.close())
      await assert.rejects(waiting, { code: 'store_unavailable' })
    } finally {
      await bench.postgres.resume()
    }
  })

  it('waits for a server that is busy for some seconds', async () => {
    const stalling = bench.postgres.stall(STALL_MS)
    const store = await open()
    assert.equal(await store.documents.get('a', 'b'), undefined)
    await stalling
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

  it('does not take one process for another after the database was restored from an older backup', async () => {
    const [one, other] = [await open(bench.proxy.through(bench.url)), await open()]
    let told = 0
    one.fencing!.onFenced(() => told++)
    const admin = new Client({ connectionString: bench.url })
    await admin.connect()
    // The backup is older than both processes.
    await admin.query('TRUNCATE writers RESTART IDENTITY')
    await admin.end()
    bench.proxy.outage()
    await bench.postgres.dropConnections()
    await eventually('the other one to be back', BACK_MS, () =>
      other.documents.put('a', 'b', '0').then(
        () => true,
        () => undefined
      )
    )
    bench.proxy.release()
    await eventually('this one to be back', BACK_MS, () =>
      one.documents.put('a', 'b', '1').then(
        () => true,
        () => undefined
      )
    )
    assert.notEqual(one.fencing!.id, other.fencing!.id)
    for (let i = 0; i < 5; i++) for (const store of [one, other]) await store.documents.put('a', 'b', String(i))
    assert.equal(told, 1)
  })

  it('reports whether a database is temporarily away or refuses the connection, and why', async () => {
    const at = (change: (url: URL) => void) => {
      const changed = new URL(bench.url)
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
      const pooler = await poolPostgres(bench.url, order, most)
      try {
        const opening = createPostgresStore({ url: pooler.through(bench.url) }).open()
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
