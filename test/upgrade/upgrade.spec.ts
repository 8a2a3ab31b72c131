import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { createPostgresStore, createSqliteStore, parseUsdc } from '../../lib/index.ts'
import type { Address, Store } from '../../lib/interface/index.ts'
import { createChain } from '../../lib/pay/index.ts'
import { type AdminClient, connect } from '../../node/admin/client.ts'
import { startAccount } from '../../node/demo/account.ts'
import { type DevChain, startDevChain } from '../../node/demo/chain/dev-chain.ts'
import { rpc } from '../../node/demo/chain/rpc.ts'
import type { DemoServer } from '../../node/demo/demo-server.ts'
import { SAMPLE_APIS } from '../../node/demo/sample-apis.ts'
import { startTicker } from '../../node/demo/ticker.ts'
import { startUsers } from '../../node/demo/users.ts'
import { loadConfig, runNode, type RunningNode } from '../../node/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { post } from '../helpers/ingress-client.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'
import {
  DOCUMENT_KINDS_SQL,
  documentKinds,
  type Expected,
  type Figures,
  figuresOf,
  type Fixture,
  readFixture,
  unpackHome
} from './fixture.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const PROFILES = ['owner', 'consumer', 'ingress'] as const
const STARTS = [startTicker, startAccount, startUsers]
const onFailure = (error: Error) => {
  throw error
}

for (const commit of await readdir(FIXTURES)) {
  describe(`the home of commit ${commit}`, function () {
    const log: string[] = []
    afterEach(function () {
      if (this.currentTest?.state === 'failed') console.log(log.join('\n'))
    })
    let fixture: Fixture
    let expected: Expected
    let home: string
    let url: string
    let postgres: TestPostgres
    let chain: DevChain
    let upstreams: DemoServer[] = []
    const nodes = new Map<string, RunningNode>()

    before(async () => {
      ;({ fixture, expected } = await readFixture(join(FIXTURES, commit)))
      home = await mkdtemp(join(tmpdir(), 'souk-upgrade-'))
      await unpackHome(fixture, home)
      postgres = await startPostgres()
      url = await postgres.create()
      const db = new Client({ connectionString: url })
      await db.connect()
      await db.query(fixture.sql)
      await db.end()
    })
    after(async () => {
      for (const node of [...nodes.values()].toReversed()) await node.stop()
      await Promise.all(upstreams.map((each) => each.close()))
      await chain?.close()
      await postgres?.stop()
      if (home !== undefined) await rm(home, { recursive: true, force: true })
    })

    const database = (profile: string) => join(home, profile, 'souk.db')

    /** The APIs have new ports, because the former ones may be in use. */
    async function moveApis(): Promise<void> {
      upstreams = await Promise.all(STARTS.map((start) => start()))
      const db = new DatabaseSync(database('owner'))
      for (const [index, { name }] of SAMPLE_APIS.entries()) {
        const [from, to] = [expected.endpoints[name]!, upstreams[index]!.url].map((each) => new URL(each).origin)
        db.prepare("UPDATE documents SET value = replace(value, ?, ?) WHERE collection = 'registrations'").run(
          from!,
          to!
        )
      }
      db.close()
    }

    async function up(profile: string, flags: object): Promise<AdminClient> {
      const env = { SOUK_HOME: home }
      const common = { p2pPort: 0, adminPort: 0, ingressPort: 0, chainRpc: chain.parameters.rpcUrl }
      const passphraseFile = join(home, 'passphrase')
      const config = await loadConfig({ profile, env, flags: { ...common, passphraseFile, ...flags } })
      nodes.set(profile, await runNode(config, { onFailure, log: (line) => log.push(`${profile}: ${line}`) }))
      return connect(config.profile)
    }

    async function same(open: Store, kinds: Record<string, number>, figures: Figures): Promise<void> {
      assert.deepEqual(await figuresOf(open, kinds), { ...figures, documents: moved(figures.documents) })
      const sum = Object.values(figures.balances).reduce((total, each) => total + BigInt(each), 0n)
      assert.equal(sum, 0n)
    }

    it('is read to the last atom and document, with equal books on both sides', async () => {
      for (const profile of PROFILES) {
        const store = createSqliteStore({ path: database(profile), onFailure })
        const documents = moved(expected.stores[profile]!.documents)
        await store.open()
        try {
          await same(store, documents, expected.stores[profile]!)
        } finally {
          await store.close()
        }
        assert.deepEqual(documentKinds(database(profile)), documents)
      }
      const shared = createPostgresStore({ url })
      const db = new Client({ connectionString: url })
      await Promise.all([shared.open(), db.connect()])
      try {
        const { rows } = await db.query<{ collection: string; number: number }>(DOCUMENT_KINDS_SQL)
        const kinds = Object.fromEntries(rows.map(({ collection, number }) => [collection, number]))
        await same(shared, kinds, expected.stores['postgres']!)
      } finally {
        await Promise.all([shared.close(), db.end()])
      }
      const side = (profile: string, account: string) =>
        Object.entries(expected.stores[profile]!.balances).filter(([name]) => name.startsWith(`${account}/`))
      const spent = [...side('consumer', 'spent'), ...side('ingress', 'spent')]
      const earned = new Map(side('owner', 'earned'))
      assert.ok(spent.length > 0)
      assert.equal(spent.length, earned.size)
      for (const [account, atoms] of spent) {
        assert.equal(earned.get(account.replace('spent/', 'earned/')), `-${atoms}`, account)
      }
    })

    it('runs: listings, keys, accounts, subscriptions and channels work, and earnings are claimed', async () => {
      const stateFile = join(home, 'chain.state')
      await writeFile(stateFile, fixture.chain)
      chain = await startDevChain({ mining: 'instant', stateFile })
      // anvil has no state of blocks before its restart, so `finalized` must be a later one.
      await rpc(chain.url, 'anvil_mine', ['0x8'])
      await moveApis()
      const owner = await up('owner', { ingress: false })
      const bootstrap = [...nodes.get('owner')!.info.p2p]
      const consumer = await up('consumer', { bootstrap })
      await up('ingress', { bootstrap, store: url, accounts: true })
      for (const profile of PROFILES) assert.equal(nodes.get(profile)!.info.peer, expected.peers[profile])

      const { apis } = await owner.request('GET /apis')
      assert.deepEqual(
        apis.map(({ name, state }) => `${name} ${state}`).sort(),
        SAMPLE_APIS.map(({ name }) => `${name} published`).sort()
      )
      const { webhooks } = await owner.request('GET /webhooks')
      assert.deepEqual(
        webhooks.map(({ id }) => id),
        [expected.webhook]
      )
      assert.equal((await owner.request('GET /status')).payout, expected.payout)
      const { subscriptions } = await consumer.request('GET /subscriptions')
      assert.deepEqual(subscriptions.map(({ id }) => id).sort(), Object.values(expected.subscriptions).sort())

      const open = (await owner.request('GET /channels')).channels
      assert.equal(open.length, 2)
      const spentBefore = open.reduce((sum, { spent }) => sum + parseUsdc(spent), 0n)
      // Only this API is paid per call; the other two have subscriptions.
      const { name, body, price } = SAMPLE_APIS[0]!
      for (const [profile, key] of [
        ['consumer', expected.keys.consumer],
        ['ingress', expected.keys.account]
      ] as const) {
        const answer = await post(nodes.get(profile)!.info.ingress!, name, { key, body })
        assert.deepEqual([answer.status, answer.headers.get('souk-charged')], [200, price], answer.text)
      }
      for (const { name, body } of SAMPLE_APIS.slice(1)) {
        const { ingress } = nodes.get('consumer')!.info
        const answer = await post(ingress!, name, { key: expected.keys.consumer, body })
        assert.equal(answer.status, 200, answer.text)
      }
      const headers = { 'x-consumer-key': expected.keys.account }
      const account = await fetch(`${nodes.get('ingress')!.info.ingress}/v1/account`, { headers })
      const { balance } = (await account.json()) as { balance: string }
      assert.equal(parseUsdc(balance), parseUsdc(expected.balance) - parseUsdc(price))

      await owner.request('POST /settlements')
      const books = createChain(chain.parameters)
      const spent = (await owner.request('GET /channels')).channels.reduce(
        (sum, each) => sum + parseUsdc(each.spent),
        0n
      )
      assert.ok(spent >= spentBefore + 2n * parseUsdc(price))
      await eventually('the provider to be paid', 15_000, async () => {
        await rpc(chain.url, 'evm_mine')
        const paid = await books.balance(expected.payout.toLowerCase() as Address, 'latest')
        return paid === spent - spent / 20n ? true : undefined
      })
    })
  })
}

/** Since schema version 7, finished deposits are in a separate collection. All deposits of the fixture are finished. */
function moved({
  'account-deposits': deposits,
  ...documents
}: Readonly<Record<string, number>>): Record<string, number> {
  const all: Record<string, number> = { ...documents, ...(deposits && { 'account-deposits-ended': deposits }) }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
}
