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
