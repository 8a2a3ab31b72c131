import assert from 'node:assert/strict'
import { Client } from 'pg'
import type { Store } from '../../../../lib/interface/store.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { eventually, within } from '../../../helpers/eventually.ts'
import { createRole, dropRole, outageBench } from './outage-bench.ts'
import { move } from './outage-load.ts'

const BOUND_MS = 20_000
const ROLE = 'souk_test'

describe('a PostgreSQL whose administrator changes what its user may do', () => {
  const bench = outageBench()
  let admin: Client
  let url: string
  let store: Store

  beforeEach(async () => {
    admin = new Client({ connectionString: bench.url })
    await admin.connect()
    url = await createRole(admin, ROLE, bench.url)
    store = await bench.open(url)
    await store.ledger.book(move('cash', 'balance', 1_000n, 'deposit'))
  })
  afterEach(async () => {
    await store.close()
    await dropRole(admin, ROLE)
    await admin.end()
  })
  const refusal = (words: RegExp) =>
    eventually('the refusal', BOUND_MS, () => {
      const refused = store.refusal?.()
      return refused !== undefined && words.test(refused.message) ? refused : undefined
    })

  for (const table of ['writers', 'entries', 'names']) {
    it(`keeps outcomes until the permission on ${table} is back`, async () => {
      await admin.query(`REVOKE ALL ON ${table} FROM ${ROLE}`)
      const booking = store.ledger.draw(move('balance', `spent on ${table}`, 10n, 'draw'), 'balance')
      const { code } = await refusal(/denies a permission/)
      assert.equal(code, 'store_unavailable')
      await admin.query(`GRANT ALL ON ${table} TO ${ROLE}`)
      assert.equal(await within('the outcome', BOUND_MS, booking), 'booked')
      await eventually('it to go on', BOUND_MS, () => store.refusal?.() === undefined || undefined)
      await store.documents.put('a', 'b', '1')
      assert.equal(await store.ledger.balance('balance'), -990n)
    })
  }

  it('does not start without a permission, because waiting does not help', async () => {
    await admin.query(`REVOKE ALL ON writers FROM ${ROLE}`)
    await assert.rejects(createPostgresStore({ url }).open(), { code: 'internal_error' })
    await admin.query(`GRANT ALL ON writers TO ${ROLE}`)
  })

  it('starts without the right to create tables, once they are there', async () => {
    await admin.query(`DO $$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM ${ROLE}', current_schema()); END $$`)
    const other = await bench.open(url)
    assert.equal(await other.ledger.balance('balance'), -1_000n)
    await admin.query('DELETE FROM schema_version')
    await assert.rejects(createPostgresStore({ url }).open(), { message: /create its tables, or read and write them/ })
  })

  it('migrates tables even if that takes longer than a statement may', async () => {
    await admin.query(`
      DROP TABLE listing_operations;
      DROP TABLE listing_descriptions;
      UPDATE schema_version SET version = version - 1;
      ALTER ROLE ${ROLE} SET statement_timeout = '400ms';
      CREATE FUNCTION linger() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); END';
      CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION linger();
    `)
    try {
      const other = await bench.open(url)
      assert.equal(await other.ledger.balance('balance'), -1_000n)
    } finally {
      await admin.query('DROP EVENT TRIGGER slow; DROP FUNCTION linger')
    }
  })

  it('keeps outcomes while a table is locked for longer than a time limit', async () => {
    await admin.query(`ALTER ROLE ${ROLE} SET lock_timeout = '50ms'`)
    const other = await bench.open(url)
    await admin.query('BEGIN')
    await admin.query('LOCK TABLE accounts IN EXCLUSIVE MODE')
    const booking = other.ledger.book(move('cash', 'balance', 10n, 'more'))
    const refused = await eventually('the refusal', BOUND_MS, () => other.refusal?.())
    assert.match(refused.message, /a table is locked/)
    await admin.query('ROLLBACK')
    assert.equal(await within('the outcome', BOUND_MS, booking), true)
    await other.close()
  })

  it('rejects nothing if transactions are serializable by default', async () => {
    await admin.query(`ALTER ROLE ${ROLE} SET default_transaction_isolation = serializable`)
    const stores = await Promise.all([1, 2, 3].map(() => bench.open(url)))
    const draws = stores.map(async ({ ledger }, s) => {
      for (let i = 0; i < 60; i++) {
        assert.equal(await ledger.draw(move('balance', `spent ${s} ${i}`, 1n, `${s}/${i}`), 'balance'), 'booked')
      }
    })
    await Promise.all(draws)
    assert.equal(await store.ledger.balance('balance'), -820n)
  })
})
