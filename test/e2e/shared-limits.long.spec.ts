import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { checksummed, parseUsdc } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import type { SubscribersView } from '../../node/admin/subscriptions/subscription-api.ts'
import { profileFile } from '../../node/profile/profile.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { post } from '../helpers/ingress-client.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { type Wallets, walletsIn } from '../helpers/wallets.ts'

const USDC = 1_000_000n
const INCLUDED = 300
const CAP = 100_000n
const PRICE = 1_000n
const WORKERS = 8
/** Successful included calls before one of the owners is killed. */
const ANSWERS_BEFORE_KILL = 100

type Json = Record<string, unknown>

/** Two ingresses share accounts, and two owners share an API. Each pair uses one PostgreSQL database. */
describe('two ingress nodes and two owner nodes that share their limits', () => {
  let chain: ChainBench
  let postgres: TestPostgres
  let home: SoukHome
  let wallets: Wallets
  let near: JudgeApi
  let far: JudgeApi
  let provider: NodeProcess
  let replica: NodeProcess
  let ingresses: HomeNode[]
  let owners: string
  let managing: string
  let id: string
  /** Successful calls under the subscription. */
  let answeredOfQuota = 0

  const profileOf = (name: string) => ({ name, directory: join(home.directory, name) })
  const flags = (store: string) => [...wallets.flags, '--store', store]
  /** Copies the pepper, as an operator must to add a node to a shared store. */
  const copyPepper = (from: string, to: string) =>
    copyFile(profileFile(profileOf(from), 'pepper'), profileFile(profileOf(to), 'pepper'))

  async function ask(method: string, path: string, body?: object, at = 0): Promise<[number, Json]> {
    const response = await fetch(`${ingresses[at]!.ingress}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-consumer-key': managing },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [response.status, (await response.json()) as Json]
  }
  const account = async () => {
    const [, shown] = await ask('GET', '/v1/account')
    return { balance: parseUsdc(String(shown['balance'])), spent: parseUsdc(String(shown['spent'])) }
  }
  async function newKey(terms: object): Promise<string> {
    const [status, made] = await ask('POST', '/v1/keys', { apis: ['shared'], ...terms })
    assert.equal(status, 201)
    return String(made['key'])
  }
  const reached = () => [...near.reached, ...far.reached]

  /** Calls through both ingresses until each worker gets the error `over`. Returns the successful calls and other errors. */
  async function callUntil(over: string, key: string, onAnswer: (answers: number) => void = () => {}) {
    const [answered, others]: [string[], Set<string>] = [[], new Set()]
    let next = 0
    const work = async ({ ingress }: HomeNode) => {
      for (;;) {
        const id = `${over}-${next++}`
        assert.ok(next < 3_000, `never told ${over}, only ${[...others].join(', ')}`)
        const { status, json } = await post(ingress, 'shared', { key, body: { id } })
        const { code = '' } = json as { code?: string }
        if (status === 200) onAnswer(answered.push(id))
        else if (code === over) return
        else others.add(code)
      }
    }
    await Promise.all(ingresses.flatMap((node) => Array.from({ length: WORKERS }, () => work(node))))
    return { answered, others: [...others] }
  }

  before(async () => {
    ;[chain, postgres, home, near, far] = await Promise.all([
      chainBench(),
      startPostgres(),
      soukHome(),
      judgeApi('provider'),
      judgeApi('replica')
    ])
    wallets = await walletsIn(home, chain)
    for (const name of ['provider', 'replica']) await chain.fundGas(await wallets.create(name))
    // A deposit goes to the wallet of one ingress. The other one pays owners from its own wallet.
    for (const name of ['first', 'second']) {
      const address = await wallets.create(name)
      await chain.fundGas(address)
      await chain.mint(address, 2n * USDC)
    }
    owners = await postgres.create()
    const accounts = await postgres.create()
    const payout = checksummed(actor('provider of shared limits').address.toLowerCase() as Address)
    provider = await home.asProcess.up('provider', '--no-ingress', ...flags(owners), '--payout', payout)
    await copyPepper('provider', 'replica')
    const bootstrap = ['--bootstrap', ...provider.p2p]
    const [, first] = await Promise.all([
      home.asProcess.up('replica', '--no-ingress', ...flags(owners), ...bootstrap).then((node) => (replica = node)),
      home.up('first', '--accounts', ...flags(accounts), ...bootstrap)
    ])
    await copyPepper('first', 'second')
    const adding = home.up('second', '--accounts', ...flags(accounts), ...bootstrap)
    await provider.cli(`api register --name shared --protocol REST --price 0.001 --endpoint ${near.url}`)
    await provider.cli(`plan set shared basic --included ${INCLUDED}`)
    await provider.cli(`provider delegate ${replica.peer}`)
    await replica.cli(`api serve shared@${provider.peer} --endpoint ${far.url}`)
    ingresses = [first, await adding]
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await Promise.all([near?.close(), far?.close(), chain?.close()])
    await postgres?.stop()
  })

  it('share an account that was opened and funded at one ingress', async () => {
    const { ingress } = ingresses[0]!
    managing = ((await (await fetch(`${ingress}/v1/account`, { method: 'POST' })).json()) as { key: string }).key
    await chain.mint(actor('sharer').address, 2n * USDC)
    const network = `eip155:${chain.parameters.chainId}` as const
    const schemes = [{ network, client: new ExactEvmScheme(actor('sharer')) }]
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes, spendControls: { allowedAssets: true } })
    const paid = await pay(`${ingress}/v1/account/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-consumer-key': managing },
      body: JSON.stringify({ amount: '1' })
    })
    assert.equal(paid.status, 200, await paid.text())
    const [status, shown] = await ask('GET', '/v1/account', undefined, 1)
    assert.deepEqual([status, shown['balance']], [200, '1'])
  })

  it('never charge above the daily cap of a key', async () => {
    const key = await newKey({ daily_cap: '0.1' })
    const { answered, others } = await callUntil('spend_cap_reached', key)
    assert.deepEqual(others, [])
    assert.equal(BigInt(answered.length) * PRICE, CAP)
    assert.deepEqual(await account(), { balance: USDC - CAP, spent: CAP })
    assert.deepEqual(reached().sort(), answered.sort(), 'a rejected call reached an API')
  })

  it('never accept calls beyond the quota, even if an owner is killed meanwhile', async () => {
    const [status, sold] = await ask('POST', '/v1/subscriptions', { api: 'shared', plan: 'basic', max_price: '0' })
    assert.equal(status, 201, JSON.stringify(sold))
    id = (sold['subscription'] as { id: string }).id
    const { subscribers } = await provider.cli<SubscribersView>('subscribers shared')
    // Only the owner that sold the subscription can change it, so the other owner is killed.
    const [other, stays] = subscribers.some((each) => each.id === id) ? [replica, provider] : [provider, replica]
    const key = await newKey({})
    // The other ingress caches that there is no subscription, and checks again after a few seconds.
    for (const { ingress } of ingresses) {
      await eventually('both to call with it', 10_000, async () => {
        const { status, headers } = await post(ingress, 'shared', { key, body: { id: 'looking' } })
        return status === 200 && headers.get('ratelimit-policy') === `"quota";q=${INCLUDED}` ? true : undefined
      })
    }
    const [before, money] = [reached().length, await account()]
    const { answered, others } = await callUntil('quota_exceeded', key, (answers) => {
      if (answers === ANSWERS_BEFORE_KILL) process.kill(other.pid, 'SIGKILL')
    })
    answeredOfQuota += answered.length
    assert.ok(
      answered.length >= ANSWERS_BEFORE_KILL && answered.length <= INCLUDED,
      `${answered.length} calls succeeded`
    )
    const came = reached().slice(before)
    await eventually('the killed owner to be gone', 5_000, () => (other.isRunning() ? undefined : true))
    assert.ok(stays.isRunning())
    // Interrupted calls at the killed owner also count towards the quota.
    const counted = reached().length - before
    assert.ok(counted <= INCLUDED, `${counted} reached the API`)
    assert.deepEqual(
      answered.filter((call) => !came.includes(call) && !reached().includes(call)),
      [],
      'a successful call did not reach the API'
    )
    assert.deepEqual(
      others.filter((code) => !['call_interrupted', 'owner_unreachable', 'deadline_exceeded'].includes(code)),
      []
    )
    assert.deepEqual(await account(), money, 'calls of the plan cost nothing')
  })

  it('continue after the killed owner restarts, up to the quota and no further', async () => {
    const other = provider.isRunning() ? 'replica' : 'provider'
    const back = await home.asProcess.up(other, '--no-ingress', ...flags(owners))
    assert.ok(back.isRunning())
    const key = await newKey({})
    const used = async (at: number) => {
      const [, shown] = await ask('GET', `/v1/subscriptions/${id}`, undefined, at)
      return { state: shown['state'], used: (shown['quota'] as Json | null)?.['used'] }
    }
    // Calls that the kill interrupted reached the API but failed for the consumer, so this count excludes them.
    answeredOfQuota += (await callUntil('quota_exceeded', key)).answered.length
    assert.ok(answeredOfQuota <= INCLUDED, `${answeredOfQuota} calls succeeded`)
    for (const at of [0, 1]) {
      const { state, used: told } = await used(at)
      assert.equal(state, 'active')
      assert.ok(Number(told) <= INCLUDED)
    }
  })

  it('both accept a cancellation, and the other one knows of it', async () => {
    const [status, canceled] = await ask('DELETE', `/v1/subscriptions/${id}?now=true`, undefined, 1)
    assert.equal(status, 200, JSON.stringify(canceled))
    const [, { data }] = await ask('GET', '/v1/subscriptions', undefined, 0)
    assert.deepEqual(data, [])
  })
})
