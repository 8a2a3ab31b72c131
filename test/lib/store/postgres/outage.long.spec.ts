import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { within } from '../../../helpers/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type CommitFault, type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'
import { checkBooks, startLoad } from './outage-load.ts'

/** These faults are noticed by a time limit only. */
describe('a connection to PostgreSQL that stays open and silent', function () {
  this.timeout(120_000)
  let postgres: TestPostgres
  let url: string
  let proxy: PostgresProxy
  const stores: Store[] = []

  async function open(at: string): Promise<Store> {
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
    ['swallowed', 'writes everything once if it swallows a COMMIT'],
    ['silent', 'writes everything once if it never reports a COMMIT'],
    ['late', 'writes nothing of a COMMIT that arrives after the process reconnected']
  ]
  for (const [fault, what] of faults) {
    it(what, async () => {
      const load = startLoad([await open(proxy.through(url))])
      await load.progress()
      await within('a commit', 20_000, proxy.fail(fault))
      await load.progress()
      if (fault === 'late') {
        proxy.release()
        await load.progress()
      }
      await load.stop()
      await checkBooks(await open(url), load)
    })
  }
})
