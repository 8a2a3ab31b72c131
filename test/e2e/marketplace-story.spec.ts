import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { checksummed, parseUsdc } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import type { CallHead } from '../../node/admin/api.ts'
import type { EarningsView } from '../../node/admin/money/money-api.ts'
import type {
  PlansView,
  SubscribersView,
  SubscriptionChangeView,
  SubscriptionView
} from '../../node/admin/subscriptions/subscription-api.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { type Wallets, walletsIn } from '../helpers/wallets.ts'
import { connectCurrent } from '../node/mcp/clients.ts'

const USDC = 1_000_000n
const FREE_CALLS = 5
const PRO_CALLS = 500
const FEE = 250_000n
const PRICE = 2_000n
/** Running calls while the key is rotated. */
const IN_FLIGHT = 100

type Json = Record<string, unknown>
interface Changed {
  readonly subscription: Omit<SubscriptionView, 'period_end'> & { readonly period_end: string }
  readonly charged: string
}

/** A provider sells plans; a newcomer has only an HTTP client and an x402 wallet. */
describe('the marketplace, from the first search to the last call', () => {
  let chain: ChainBench
  let home: SoukHome
  let wallets: Wallets
  let api: JudgeApi
  let owner: HomeNode
  let ingress: HomeNode
  let managing: string
  let key: string
  let id: string
  /** The newcomer's charges according to the responses. */
  let charged = 0n
  let calls = 0

  async function ask<T = Json>(method: string, path: string, body?: object, by = managing): Promise<[number, T]> {
    const response = await fetch(`${ingress.ingress}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-consumer-key': by },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [response.status, (await response.json()) as T]
  }
  async function call(by = key): Promise<Answered> {
    const answered = await post(ingress.ingress, 'weather', { key: by, body: { id: `call ${calls++}` } })
    charged += parseUsdc(answered.headers.get('souk-charged') ?? '0')
    return answered
  }
  const codeOf = ({ json }: Pick<Answered, 'json'>) => (json as { code?: string }).code
  const balance = async (by = managing) =>
    parseUsdc(String((await ask('GET', '/v1/account', undefined, by))[1]['balance']))

  async function openAccount(name: string): Promise<string> {
    const opened = await fetch(`${ingress.ingress}/v1/account`, { method: 'POST' })
    const { key } = (await opened.json()) as { key: string }
    const network = `eip155:${chain.parameters.chainId}` as const
    await chain.mint(actor(name).address, 2n * USDC)
    const schemes = [{ network, client: new ExactEvmScheme(actor(name)) }]
    const paid = await wrapFetchWithPaymentFromConfig(fetch, { schemes, spendControls: { allowedAssets: true } })(
      `${ingress.ingress}/v1/account/deposits`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-consumer-key': key },
        body: JSON.stringify({ amount: '1' })
      }
    )
    assert.equal(paid.status, 200, await paid.text())
    return key
  }

  before(async () => {
    chain = await chainBench()
    home = await soukHome()
    api = await judgeApi('weather')
    wallets = await walletsIn(home, chain)
    await chain.fundGas(await wallets.create('owner'))
    const payer = await wallets.create('ingress')
    await chain.fundGas(payer)
    const payout = checksummed(actor('provider of the story').address.toLowerCase() as Address)
    owner = await home.up('owner', '--no-ingress', ...wallets.flags, '--payout', payout)
    await owner.cli(`api register --name weather --protocol REST --endpoint ${api.url} --price 0.002`)
    await owner.cli(`plan set weather free --included ${FREE_CALLS}`)
    const { plans } = await owner.cli<PlansView>(`plan set weather pro --fee 0.25 --included ${PRO_CALLS}`)
    assert.deepEqual(
      plans.map(({ id, fee, included }) => [id, fee, included]),
      [
        ['free', '0', FREE_CALLS],
        ['pro', '0.25', PRO_CALLS]
      ]
    )
    ingress = await home.up('ingress', ...wallets.flags, '--accounts', '--bootstrap', ...owner.p2p)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await api?.close()
    await chain?.close()
  })

  it('shows listings and prices to a newcomer without a key', async () => {
    const found = (await (await fetch(`${ingress.ingress}/v1/apis?q=weather`)).json()) as { data: Json[] }
    const [listing] = found.data
    assert.deepEqual([found.data.length, listing?.['price'], listing?.['pay_per_call']], [1, '0.002', true])
    assert.deepEqual(listing?.['cheapest_plan'], { id: 'free', fee: '0', period: 'month' })
    const details = (await (await fetch(`${ingress.ingress}/v1/apis/${String(listing?.['id'])}`)).json()) as Json
    const shown = details['plans'] as PlansView['plans']
    assert.deepEqual(
      shown.map(({ id, fee, period, included, closed }) => [id, fee, period, included, closed]),
      [
        ['free', '0', 'month', FREE_CALLS, false],
        ['pro', '0.25', 'month', PRO_CALLS, false]
      ]
    )
  })

  it('opens an account, takes a deposit by x402, and issues a key that can only call', async () => {
    managing = await openAccount('newcomer')
    assert.equal(await balance(), USDC)
    const [status, made] = await ask('POST', '/v1/keys', { apis: ['weather'], max_price: '0.01', daily_cap: '0.10' })
    assert.equal(status, 201)
    key = String(made['key'])
  })

  it('sells the free plan, whose calls cost nothing and stop at the quota', async () => {
    const wish = { api: 'weather', plan: 'free' }
    assert.equal((await ask('POST', '/v1/subscriptions', wish))[0], 400, 'the price limit of a call is required')
    const [forbidden, problem] = await ask('POST', '/v1/subscriptions', { ...wish, max_price: '0' }, key)
    assert.deepEqual([forbidden, problem['code']], [403, 'key_not_permitted'])
    const [status, sold] = await ask<Changed>('POST', '/v1/subscriptions', { ...wish, max_price: '0' })
    assert.deepEqual([status, sold.subscription.state, sold.charged], [201, 'active', '0'])
    id = sold.subscription.id
    for (let left = FREE_CALLS - 1; left >= 0; left--) {
      const answered = await call()
      assert.equal(answered.status, 200, answered.text)
      assert.equal(answered.headers.get('ratelimit-policy'), `"quota";q=${FREE_CALLS}`)
      assert.match(answered.headers.get('ratelimit') ?? '', new RegExp(`^"quota";r=${left};t=\\d+$`))
    }
    for (const over of await Promise.all([call(), call(), call()])) {
      assert.deepEqual([over.status, codeOf(over)], [429, 'quota_exceeded'])
      assert.ok(Number(over.headers.get('retry-after')) > 0)
    }
    assert.deepEqual([api.reached.length, charged, await balance()], [FREE_CALLS, 0n, USDC])
  })

  it('changes to the paid plan and charges the agreed fee once', async () => {
    const [refused, problem] = await ask('PATCH', `/v1/subscriptions/${id}`, { plan: 'pro' })
    assert.deepEqual([refused, problem['code']], [402, 'price_exceeds_limit'])
    assert.equal(await balance(), USDC)
    const terms = { plan: 'pro', max_fee: '0.25' }
    const asked = await Promise.all([1, 2].map(() => ask<Changed>('PATCH', `/v1/subscriptions/${id}`, terms)))
    for (const [status, { subscription }] of asked) {
      assert.deepEqual([status, subscription.plan.id, subscription.state], [200, 'pro', 'active'])
    }
    assert.deepEqual(asked.map(([, change]) => change.charged).sort(), ['0', '0.25'])
    charged += FEE
    assert.equal(await balance(), USDC - FEE)
  })

  it('rotates the key during a hundred running calls, and none fails', async () => {
    const [, { data }] = await ask<{ data: Json[] }>('GET', '/v1/keys')
    const old = data.find(({ manages }) => manages === false)
    const [reachedBefore, before] = [api.reached.length, key]
    api.hold()
    const underWay = Array.from({ length: IN_FLIGHT }, () => call(before))
    const [status, rotated] = await ask('POST', `/v1/keys/${String(old?.['id'])}/rotate`, { overlap_seconds: 3_600 })
    assert.equal(status, 201)
    key = String(rotated['key'])
    for (let i = 0; i < IN_FLIGHT; i++) underWay.push(call(i % 2 === 0 ? before : key))
    api.release()
    const answers = await Promise.all(underWay)
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200).map(({ text }) => text),
      []
    )
    assert.equal(api.reached.length - reachedBefore, 2 * IN_FLIGHT)
    const left = answers.map(({ headers }) => Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]))
    assert.equal(Math.min(...left), PRO_CALLS - 2 * IN_FLIGHT)
    assert.equal((await ask('DELETE', `/v1/keys/${String(old?.['id'])}`))[0], 200)
    const late = await call(before)
    assert.deepEqual([late.status, codeOf(late)], [401, 'key_revoked'])
    assert.equal((await call()).status, 200)
  })

  it('sells to the operator and to an agent with separate balances', async () => {
    const bought = await ingress.cli<SubscriptionChangeView>(
      'subscribe weather --plan pro --max-price 0 --max-fee 0.25 --daily-cap 0.25'
    )
    assert.equal(bought.charged, '0.25')
    const head = await ingress.cli<CallHead>('call weather', '{"id":"by the operator"}')
    assert.deepEqual([head.status, head.charged], [200, '0'])
    const { subscriptions } = await ingress.cli<{ subscriptions: SubscriptionView[] }>('subscriptions')
    assert.deepEqual(
      subscriptions.map(({ id, quota }) => [id, quota?.used]),
      [[bought.subscription.id, 1]]
    )
    const [, held] = await ask<{ data: Json[] }>('GET', '/v1/subscriptions')
    assert.deepEqual(
      held.data.map((each) => each['id']),
      [id]
    )
    const agentKey = await openAccount('agent')
    const agent = await connectCurrent({
      url: `${ingress.ingress}/mcp`,
      headers: { 'x-consumer-key': agentKey }
    })
    const shown = await agent.call('souk_show', { api: 'weather' })
    assert.match(JSON.stringify(shown.structuredContent), /"id":"free"/)
    const subscribed = await agent.call('souk_subscribe', { api: 'weather', plan: 'free', max_price: '0' })
    assert.notEqual(subscribed.isError, true, JSON.stringify(subscribed))
    const called = await agent.call('souk_call', { api: 'weather', max_price: '0', arguments: { id: 'by an agent' } })
    assert.notEqual(called.isError, true, JSON.stringify(called))
    await agent.close()
    assert.equal(await balance(agentKey), USDC)
  })

  it('cancels: the paid period stays usable, then calls are charged one by one if that is offered', async () => {
    const [, canceling] = await ask<Changed>('DELETE', `/v1/subscriptions/${id}`)
    assert.equal(canceling.subscription.state, 'canceling')
    const covered = await call()
    assert.deepEqual([covered.status, covered.headers.get('souk-charged') ?? '0'], [200, '0'])
    const [, canceled] = await ask<Changed>('DELETE', `/v1/subscriptions/${id}?now=true`)
    assert.equal(canceled.subscription.state, 'canceled')
    for (let i = 0; i < 3; i++) {
      const paid = await call()
      assert.deepEqual([paid.status, paid.headers.get('souk-charged')], [200, '0.002'], paid.text)
    }
    await owner.cli('api set weather --no-pay-per-call')
    const refused = await call()
    assert.deepEqual([refused.status, codeOf(refused)], [403, 'subscription_required'], refused.text)
  })

  it('agrees to the atom in the books of newcomer and provider', async () => {
    assert.equal(charged, FEE + 3n * PRICE)
    assert.equal(await balance(), USDC - charged)
    const [, { data }] = await ask<{ data: Array<{ kind: string; amount: string }> }>('GET', '/v1/account/entries')
    const charges = data.filter(({ kind }) => kind === 'charge').map(({ amount }) => amount)
    assert.deepEqual(charges.sort(), ['-0.002', '-0.002', '-0.002', '-0.25'])

    const { subscribers } = await owner.cli<SubscribersView>('subscribers weather')
    const sold = subscribers.map(({ plan, state, peer, account }) => [plan, state, peer, account !== null])
    assert.deepEqual(sold, [
      ['free', 'active', ingress.peer, true],
      ['pro', 'active', ingress.peer, false],
      ['pro', 'canceled', ingress.peer, true]
    ])
    const { providers } = await owner.cli<EarningsView>('earnings')
    const gross = providers.reduce((sum, each) => sum + parseUsdc(each.gross), 0n)
    assert.equal(gross, charged + FEE, 'gross earnings from the newcomer and the operator')
  })
})
