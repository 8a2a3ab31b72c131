import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPostgresStore, limits, systemClock, systemRandom } from '../../../lib/index.ts'
import { type Hosting, startHosting } from '../../../node/accounts/hosting.ts'
import { createKeys } from '../../../node/keys/keys.ts'
import { createLog } from '../../../node/log.ts'
import type { NetworkName } from '../../../node/networks.ts'
import { openStores } from '../../../node/stores.ts'
import { openProfile, profileFile } from '../../../node/profile/profile.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'

describe('ingress nodes that share a store', function () {
  this.timeout(60_000)
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
  async function start(name: string, store: string | undefined, network: NetworkName = 'dev'): Promise<Hosting> {
    const profile = profileOf(name)
    await openProfile(profile)
    const config = { profile, network, ...(store === undefined ? {} : { store }) }
    const { own, shared = own } = await openStores({ config, onFailure: (error) => assert.fail(error), undo })
    return startHosting({
      config,
      log: createLog(() => {}),
      clock: systemClock,
      store: shared,
      self: name,
      money: () => undefined,
      undo
    })
  }
  /** As an operator does it, with the second node stopped. */
  async function copyPepper(from: string, to: string): Promise<void> {
    await openProfile(profileOf(to))
    await copyFile(profileFile(profileOf(from), 'pepper'), profileFile(profileOf(to), 'pepper'))
  }

  it('know each other’s keys and accounts, once they hash keys alike', async () => {
    const url = await postgres!.create()
    const first = await start('first', url)
    await copyPepper('first', 'second')
    const second = await start('second', url)
    const { account, key } = await first.accounts.open('shop')
    const holder = await second.keys.verify(key.key)
    assert.equal(holder.account, account.id)
    assert.deepEqual(await second.accounts.get(account.id), account)
  })

  it('refuse a key that another of them revoked or disabled, long before they would have read it again', async () => {
    const url = await postgres!.create()
    const first = await start('first', url)
    await copyPepper('first', 'second')
    const second = await start('second', url)
    const codeAt = async ({ keys }: Hosting, key: string) =>
      Promise.resolve()
        .then(() => keys.verify(key))
        .then(() => 'ok')
        .catch((error: unknown) => (error as { code: string }).code)
    for (const [move, refusal] of [
      ['disable', 'key_disabled'],
      ['revoke', 'key_revoked']
    ] as const) {
      const { key, id } = await first.keys.issue()
      assert.equal(await codeAt(second, key), 'ok')
      const doneAt = performance.now()
      await first.keys[move](id)
      await eventually('the other to know', 1_000, async () => (await codeAt(second, key)) === refusal || undefined)
      assert.ok(performance.now() - doneAt < limits.KEY_FRESH_MS / 2)
    }
  })

  it('hear of revocations again after the database was away for a moment', async () => {
    const url = await postgres!.create()
    const stores = [createPostgresStore({ url }), createPostgresStore({ url })] as const
    for (const store of stores) await store.open()
    const [mine, others] = stores.map(({ documents, signals }) =>
      createKeys({
        documents,
        signals: signals!,
        secret: Buffer.alloc(32),
        clock: systemClock,
        random: systemRandom,
        network: 'dev'
      })
    )
    const { key, id } = await mine!.issue()
    await others!.verify(key)
    await postgres!.dropListeners()
    await mine!.revoke(id)
    const refused = () =>
      Promise.resolve()
        .then(() => others!.verify(key))
        .then(() => undefined)
        .catch(() => true)
    await eventually('the other to have read it anew', 3_000, refused)
    for (const store of stores) await store.close()
  })

  it('do not start where they would not, and say which file to copy', async () => {
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
    await assert.rejects(start('other', url, 'base-sepolia'), { code: 'config_invalid', message: /network dev/ })
  })

  it('say nothing of the store’s address when it cannot be opened', async () => {
    const url = 'postgres://souk:hidden@127.0.0.1:1/souk'
    await assert.rejects(start('first', url), (error: Error & { code?: string; hint?: string }) => {
      assert.equal(error.code, 'start_failed')
      assert.doesNotMatch(`${error.message} ${error.hint}`, /hidden|127\.0\.0\.1/)
      return true
    })
  })

  it('that share none keep their own', async () => {
    const { accounts, keys } = await start('alone', undefined)
    const { account, key } = await accounts.open()
    assert.equal((await keys.verify(key.key)).account, account.id)
    assert.deepEqual(await accounts.list(), [account])
    assert.equal(await accounts.held(), 0n)
  })
})
