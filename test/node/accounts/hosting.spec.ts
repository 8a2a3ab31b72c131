import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiId, createPostgresStore, parseApiRef, systemClock } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'
import { type Hosting, startHosting } from '../../../node/accounts/hosting.ts'
import { createLog } from '../../../node/log.ts'
import { type Network, NETWORKS } from '../../../node/networks.ts'
import { openStores } from '../../../node/stores.ts'
import { openProfile, profileFile } from '../../../node/profile/profile.ts'
import { Bindings } from '../../../node/subscriptions/bindings.ts'
import { hastyClock } from '../../helpers/hasty-clock.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'

const MOVES = [
  ['disable', 'key_disabled'],
  ['revoke', 'key_revoked']
] as const

describe('ingress nodes that share a store', () => {
  let postgres: TestPostgres | undefined
  let home: string
  let undo: AsyncDisposableStack

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-hosting-'))
    undo = new AsyncDisposableStack()
  })
  afterEach(async () => {
    await undo.disposeAsync()
    await rm(home, { recursive: true })
  })

  const profileOf = (name: string) => ({ name, directory: join(home, name) })
  async function start(
    name: string,
    store: string | undefined,
    { network = NETWORKS.dev, clock = systemClock }: { network?: Network; clock?: Clock } = {}
  ): Promise<Hosting> {
    const profile = profileOf(name)
    await openProfile(profile)
    const config = { profile, network, ...(store === undefined ? {} : { store }) }
    const stores = await openStores({
      config,
      clock,
      log: createLog(() => {}),
      signal: new AbortController().signal,
      onFailure: (error) => assert.fail(error)
    })
    undo.use(stores)
    const { own, shared = own } = stores
    const hosting = await startHosting({
      config,
      log: createLog(() => {}),
      clock,
      store: shared,
      self: name,
      money: () => undefined
    })
    return undo.use(hosting)
  }
  /** Copies the pepper with the second node stopped, as operators do. */
  async function copyPepper(from: string, to: string): Promise<void> {
    await openProfile(profileOf(to))
    await copyFile(profileFile(profileOf(from), 'pepper'), profileFile(profileOf(to), 'pepper'))
  }

  it('share keys and accounts if they have the same pepper', async () => {
    const url = await postgres!.create()
    const first = await start('first', url)
    await copyPepper('first', 'second')
    const second = await start('second', url)
    const { account, key } = await first.accounts.open('shop')
    const holder = await second.keys.verify(key.key)
    assert.equal(holder.account, account.id)
    assert.deepEqual(await second.accounts.get(account.id), account)
  })

  const codeAt = async ({ keys }: Hosting, key: string) =>
    Promise.resolve()
      .then(() => keys.verify(key))
      .then(() => 'ok')
      .catch((error: unknown) => (error as { code: string }).code)

  it('reject a key at the next call after another node revoked or disabled it', async () => {
    const url = await postgres!.create()
    const first = await start('first', url)
    await copyPepper('first', 'second')
    const second = await start('second', url)
    for (const [move, refusal] of Array.from({ length: 5 }).flatMap(() => MOVES)) {
      const { key, id } = await first.keys.issue()
      assert.equal(await codeAt(second, key), 'ok')
      assert.ok(!(second.keys.verify(key) instanceof Promise), 'the key is cached')
      await first.keys[move](id)
      assert.equal(await codeAt(second, key), refusal)
    }
  })

  it('reject such a key even if notifications were lost during a database outage', async () => {
    const url = await postgres!.create()
    const first = await start('first', url, { clock: hastyClock })
    await copyPepper('first', 'second')
    const second = await start('second', url, { clock: hastyClock })
    for (const [move, refusal] of MOVES) {
      const { key, id } = await first.keys.issue()
      assert.equal(await codeAt(second, key), 'ok')
      await postgres!.dropListeners()
      await first.keys[move](id)
      assert.equal(await codeAt(second, key), refusal)
    }
  })

  it('use a new subscription of another node at once, and drop a cancelled one', async () => {
    const url = await postgres!.create()
    const first = await start('first', url)
    await copyPepper('first', 'second')
    const second = await start('second', url)
    const store = createPostgresStore({ url })
    await store.open()
    undo.defer(() => store.close())
    const bindingsAt = ({ coherence }: Hosting, self: string) =>
      new Bindings({ clock: systemClock, documents: store.documents, self, coherence })
    const [mine, others] = [bindingsAt(first, 'first'), bindingsAt(second, 'second')]
    const api = 'weather@12D3KooWQyCpP6Sq4tpSd8LZyGKMa4qycEpW8pkpR366VW6NjfWo' as ApiId
    const known = async () => (await others.find('acct_1', parseApiRef('weather')))?.subscription
    assert.equal(await known(), undefined)
    await mine.put('acct_1', { api, subscription: 'one' }, undefined)
    assert.equal(await known(), 'one')
    assert.ok(!(others.find('acct_1', parseApiRef('weather')) instanceof Promise), 'the subscription is cached')
    await mine.delete('acct_1', api)
    assert.equal(await known(), undefined)
  })

  it('do not start with another pepper, and name the file to copy', async () => {
    const url = await postgres!.create()
    await start('first', url)
    await assert.rejects(start('second', url), (error: Error & { code?: string; hint?: string }) => {
      assert.equal(error.code, 'config_invalid')
      assert.match(error.message, /another secret/)
      assert.ok(error.hint?.includes(profileFile(profileOf('second'), 'pepper')), error.hint)
      return true
    })
    await undo.disposeAsync()
    undo = new AsyncDisposableStack()
    await start('first', url)
  })

  it('belong to one network', async () => {
    const url = await postgres!.create()
    await start('first', url)
    await copyPepper('first', 'other')
    await assert.rejects(start('other', url, { network: NETWORKS['base-sepolia'] }), {
      code: 'config_invalid',
      message: /network dev/
    })
  })

  it('do not reveal the store’s URL when it cannot be opened', async () => {
    const url = new URL(await postgres!.create())
    url.password = 'hidden'
    await assert.rejects(start('first', url.href), (error: Error & { code?: string; hint?: string }) => {
      assert.equal(error.code, 'config_invalid')
      assert.doesNotMatch(`${error.message} ${error.hint}`, /hidden|127\.0\.0\.1/)
      return true
    })
  })

  it('without a shared store keep their own', async () => {
    const { accounts, keys } = await start('alone', undefined)
    const { account, key } = await accounts.open()
    assert.equal((await keys.verify(key.key)).account, account.id)
    assert.deepEqual(await accounts.list(), [account])
    assert.equal(await accounts.held(), 0n)
  })
})
