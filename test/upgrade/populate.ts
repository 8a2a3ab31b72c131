/**
 * Makes a fixture with the code of the checkout that contains this file, where `make.ts` copies it. Runs real nodes by the
 * command line, with dev keys and dev money.
 */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { Client } from 'pg'
import { checksummed, createPostgresStore, createSqliteStore } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { startDevChain } from '../../node/demo/chain/dev-chain.ts'
import { SAMPLE_APIS } from '../../node/demo/sample-apis.ts'
import { startAccount } from '../../node/demo/account.ts'
import { startTicker } from '../../node/demo/ticker.ts'
import { startUsers } from '../../node/demo/users.ts'
import { actor, type ChainBench } from '../helpers/chain.ts'
import { post } from '../helpers/ingress-client.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { soukHome } from '../helpers/souk-home.ts'
import { walletsIn } from '../helpers/wallets.ts'
import { DOCUMENT_KINDS_SQL, documentKinds, figuresOf, writeFixture } from './fixture.ts'
import { dumpSql } from './sql-dump.ts'

const USDC = 1_000_000n
const STARTS = [startTicker, startAccount, startUsers]
const CALLS_EACH = 3
const TRANSIENT = /\.db-(?:wal|shm)$|\/(?:lock|running\.json)$/

const [commit, out] = process.argv.slice(2)
assert.ok(commit !== undefined && out !== undefined, 'populate.ts <commit> <folder>')

const home = await soukHome()
const stateFile = join(home.directory, 'chain.state')
const chain = await startDevChain({ mining: 'instant', stateFile })
const postgres = await startPostgres()
const url = await postgres.create()
const upstreams = await Promise.all(STARTS.map((start) => start()))
try {
  // The helper needs only the parts of a bench that a dev chain has as well.
  const wallets = await walletsIn(home, chain as unknown as ChainBench)
  for (const name of ['owner', 'consumer', 'ingress']) {
    const address = await wallets.create(name)
    await chain.fundGas(address)
    await chain.mint(address, 5n * USDC)
  }
  const payout = checksummed(actor('provider of upgrades').address.toLowerCase() as Address)
  const owner = await home.up('owner', '--no-ingress', ...wallets.flags, '--payout', payout)
  for (const [index, { name, protocol, price }] of SAMPLE_APIS.entries()) {
    const endpoint = upstreams[index]!.url
    await owner.cli(`api register --name ${name} --protocol ${protocol} --endpoint ${endpoint} --price ${price}`)
  }
  await owner.cli('plan set bb-soap-account free --included 5')
  await owner.cli('plan set bb-graphql-user pro --fee 0.05 --included 50')
  const { id: webhook } = await owner.cli<{ id: string }>('webhook add http://127.0.0.1:9/hook --allow-private')

  const joining = ['--bootstrap', ...owner.p2p]
  const consumer = await home.up('consumer', ...wallets.flags, ...joining)
  const ingress = await home.up('ingress', ...wallets.flags, '--accounts', '--store', url, ...joining)
  const issued = await consumer.cli<{ key: string }>('key issue --label upgrade')
  const call = async (at: string, key: string, index: number) => {
    const { name, body } = SAMPLE_APIS[index]!
    const answer = await post(at, name, { key, body })
    assert.equal(answer.status, 200, `${name}: ${answer.text}`)
  }
  for (const index of SAMPLE_APIS.keys()) {
    for (let i = 0; i < CALLS_EACH; i++) await call(consumer.ingress, issued.key, index)
  }
  const subscribe = async (plan: string) =>
    (await consumer.cli<{ subscription: { id: string } }>(`subscribe ${plan}`)).subscription.id
  const free = await subscribe('bb-soap-account --plan free --max-price 0')
  const pro = await subscribe('bb-graphql-user --plan pro --max-price 0 --max-fee 0.05')
  await call(consumer.ingress, issued.key, 1)
  await call(consumer.ingress, issued.key, 2)

  const opened = (await (await fetch(`${ingress.ingress}/v1/account`, { method: 'POST' })).json()) as { key: string }
  const headers = { 'content-type': 'application/json', 'x-consumer-key': opened.key }
  await chain.mint(actor('guest of upgrades').address.toLowerCase() as Address, 2n * USDC)
  const client = new ExactEvmScheme(actor('guest of upgrades'))
  const schemes = [{ network: `eip155:${chain.parameters.chainId}` as const, client }]
  const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes, spendControls: { allowedAssets: true } })
  const deposit = { method: 'POST', headers, body: JSON.stringify({ amount: '1' }) }
  assert.equal((await pay(`${ingress.ingress}/v1/account/deposits`, deposit)).status, 200)
  for (let i = 0; i < CALLS_EACH; i++) await call(ingress.ingress, opened.key, 0)
  const { balance } = (await (await fetch(`${ingress.ingress}/v1/account`, { headers })).json()) as { balance: string }
  // Pays one provider for the calls so far; later calls are still in the channels.
  await owner.cli('settle --now')
  await call(consumer.ingress, issued.key, 0)

  for (const node of [ingress, consumer, owner]) await node.end()
  await chain.close()
  const db = new Client({ connectionString: url })
  await db.connect()
  const sql = await dumpSql(db)
  const kinds = (await db.query<{ collection: string; number: number }>(DOCUMENT_KINDS_SQL)).rows
  await db.end()

  const stores: Record<string, Awaited<ReturnType<typeof figuresOf>>> = {}
  const onFailure = (error: Error) => {
    throw error
  }
  for (const name of ['owner', 'consumer', 'ingress']) {
    const path = join(home.directory, name, 'souk.db')
    const kinds = documentKinds(path)
    const store = createSqliteStore({ path, onFailure })
    await store.open()
    stores[name] = await figuresOf(store, kinds)
    await store.close()
  }
  const shared = createPostgresStore({ url })
  await shared.open()
  stores['postgres'] = await figuresOf(
    shared,
    Object.fromEntries(kinds.map(({ collection, number }) => [collection, number]))
  )
  await shared.close()

  const files: Record<string, string> = {}
  const entries = await readdir(home.directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const within = path.slice(home.directory.length + 1)
    if (TRANSIENT.test(path) || path === stateFile || within.split('/').length > 2) continue
    files[within] = (await readFile(path)).toString('base64')
  }
  const fixture = { files, sql, chain: await readFile(stateFile, 'utf8') }
  await writeFixture(out, fixture, {
    commit,
    stores,
    endpoints: Object.fromEntries(SAMPLE_APIS.map(({ name }, index) => [name, upstreams[index]!.url])),
    peers: { owner: owner.peer, consumer: consumer.peer, ingress: ingress.peer },
    keys: { consumer: issued.key, account: opened.key },
    balance,
    subscriptions: { free, pro },
    webhook,
    payout
  })
} catch (error) {
  console.error(home.log())
  throw error
} finally {
  await home.close()
  await postgres.stop()
  await chain.close().catch(() => undefined)
  await Promise.all(upstreams.map((each) => each.close()))
}
