import type { Client } from 'pg'
import type { Store } from '../../../../lib/interface/store.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'

export interface OutageBench {
  readonly postgres: TestPostgres
  /** The database of the running test. */
  readonly url: string
  /** Faults on the way to this database. */
  readonly proxy: PostgresProxy
  /** Opens a store, which is closed after the test. */
  open(at?: string): Promise<Store>
}

/** Creates a role that may use the current schema. Returns the URL of the database for it. */
export async function createRole(admin: Client, role: string, url: string): Promise<string> {
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`)
  await admin.query(`DO $$ BEGIN EXECUTE format('GRANT ALL ON SCHEMA %I TO ${role}', current_schema()); END $$`)
  return url.replace('postgres:test@', `${role}:test@`)
}

export async function dropRole(admin: Client, role: string): Promise<void> {
  await admin.query(`DROP OWNED BY ${role} CASCADE`)
  await admin.query(`DROP ROLE ${role}`)
}

/** A PostgreSQL server for the tests of one `describe`, with a database and a proxy for each test. */
export function outageBench(): OutageBench {
  let postgres: TestPostgres
  let url: string
  let proxy: PostgresProxy
  const stores: Store[] = []
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
  return {
    get postgres() {
      return postgres
    },
    get url() {
      return url
    },
    get proxy() {
      return proxy
    },
    async open(at = url) {
      const store = createPostgresStore({ url: at })
      await store.open()
      stores.push(store)
      return store
    }
  }
}
