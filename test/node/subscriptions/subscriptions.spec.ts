import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asSoukError, SoukError, systemRandom } from '../../../lib/index.ts'
import type { PlanInit } from '../../../lib/interface/index.ts'
import { handler } from '../../../lib/owner/handler.ts'
import { type Hosting, startHosting } from '../../../node/accounts/hosting.ts'
import { createIngress, type Ingress } from '../../../node/ingress/ingress.ts'
import { createLog } from '../../../node/log.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { openSubscriptions, type SubscriptionParts } from '../../../node/subscriptions/open.ts'
import { subscriberView, subscriptionView } from '../../../node/subscriptions/view.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type Answered, post } from '../../helpers/ingress-client.ts'
import { type PlansBench, plansBench } from '../../helpers/plans-bench.ts'

const FREE: PlanInit = { id: 'free', included: 3 }
const PRO: PlanInit = { id: 'pro', included: 100 }

describe('subscriptions of a node with an ingress', () => {
  let bench: PlansBench
  let ingress: Ingress
  let hosting: Hosting
  const undo = new AsyncDisposableStack()
  let parts: SubscriptionParts
  let url: string
  let key: string

  before(async () => {
    bench = await plansBench()
    await bench.serve({ plans: [FREE, PRO] })
    const { clock, consumer } = bench
    const { documents } = consumer.souk.store
    const profile = { name: 'subscriber', directory: await mkdtemp(join(tmpdir(), 'souk-subscriber-')) }
    undo.defer(() => rm(profile.directory, { recursive: true }))
    hosting = await startHosting({
      config: { profile, network: NETWORKS.dev },
      log: createLog(() => {}),
      clock,
      store: consumer.souk.store,
      self: consumer.souk.status().peer,
      money: () => undefined
    })
    undo.use(hosting)
    parts = openSubscriptions({ ...hosting, souk: consumer.souk, documents, clock })
    ingress = createIngress({
      souk: consumer.souk,
      ...hosting,
      subscriptions: parts,
      clock,
      random: systemRandom,
      log: { warn() {}, error: (message, facts) => console.error(message, facts) },
      options: { host: '127.0.0.1', port: 0 }
    })
    url = (await ingress.listen()).url
    key = (await hosting.keys.issue()).key
  })
  after(async () => {
    await ingress?.close()
    await undo.disposeAsync()
    await bench?.net.stop()
  })

  const call = (body = '4'): Promise<Answered> => post(url, 'double', { key, body: `{"n":${body}}` })
  const codeOf = ({ json }: Answered) => (json as { code: string }).code
  const operator = undefined

  it('apply to the calls of its keys, and responses show the remaining quota', async () => {
    const { subscription } = await parts.service.subscribe(operator, { api: 'double', plan: 'free', maxPrice: '0' })
    assert.deepEqual([subscription.state, subscription.plan.id], ['active', 'free'])
    for (const left of [2, 1, 0]) {
      const answer = await call()
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('ratelimit-policy'), '"quota";q=3')
      assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"quota";r=${left};t=\\d+$`))
    }
    const over = await call()
    assert.deepEqual([over.status, codeOf(over)], [429, 'quota_exceeded'])
    const { used, resets_at: resetsAt } = (over.json as { quota: Record<string, unknown> }).quota
    assert.deepEqual([used, new Date(String(resetsAt)).toISOString()], [3, resetsAt])
  })

  it('are limited to one per account and listing', async () => {
    await assert.rejects(parts.service.subscribe(operator, { api: 'double', plan: 'pro', maxPrice: '0' }), {
      code: 'invalid_request'
    })
    const { account } = await hosting.accounts.open('somebody')
    const other = await parts.service.subscribe(account.id, { api: 'double', plan: 'pro', maxPrice: '0' })
    assert.match(other.subscription.account ?? '', /^[\da-f]{32}$/)
    assert.equal((await parts.service.list(account.id)).length, 1)
    await assert.rejects(parts.service.get(account.id, (await parts.service.list(operator))[0]?.id ?? ''), {
      code: 'invalid_request'
    })
  })

  it('bind the name to the provider, so that a squatter gets no calls', async () => {
    const { consumer } = bench
    const squatter = await bench.net.add({ clock: bench.clock })
    let stolen = 0
    await squatter.souk.serve(
      { name: 'double', price: '0' },
      handler(() => ++stolen)
    )
    await eventually('two of the name', 10_000, async () => {
      const found = await consumer.souk.resolve('double', { refresh: true }).catch(asSoukError)
      return found instanceof SoukError && found.code === 'name_conflict' ? true : undefined
    })
    const [held] = await parts.service.list(operator)
    await parts.service.change(operator, held?.id ?? '', { plan: 'pro' })
    // A change to a plan of equal or lower fee waits for the period's end. Calls still go to the bound provider.
    const answer = await call()
    assert.notEqual(codeOf(answer), 'name_conflict')
    assert.equal(stolen, 0)
  })

  it('are renewed by the next call, with the scheduled plan', async () => {
    const [held] = await parts.service.list(operator)
    assert.ok(held !== undefined)
    bench.clock.shift(held.periodEnd - bench.clock.now() + 60_000)
    key = (await hosting.keys.issue()).key
    const answer = await call()
    assert.equal(answer.status, 200, answer.text)
    const [renewed] = await parts.service.list(operator)
    assert.deepEqual([renewed?.state, renewed?.plan.id, renewed?.quota?.used], ['active', 'pro', 1])
  })

  it('pause and resume', async () => {
    const [held] = await parts.service.list(operator)
    const id = held?.id ?? ''
    await parts.service.pause(operator, id)
    const paused = await call()
    assert.deepEqual([paused.status, codeOf(paused)], [403, 'subscription_inactive'])
    await parts.service.resume(operator, id)
    assert.equal((await call()).status, 200)
  })

  it('end with their period when cancelled; calls then are charged individually, and a new one is possible', async () => {
    const [held] = await parts.service.list(operator)
    assert.ok(held !== undefined)
    const { subscription } = await parts.service.cancel(operator, held.id, false)
    assert.equal(subscription.state, 'canceling')
    const ending = { ...subscription, nextPlan: 'pro' }
    assert.equal(subscriptionView(ending, bench.clock.now()).next_plan, null)
    assert.equal(subscriptionView({ ...ending, state: 'active' }, bench.clock.now()).next_plan, 'pro')
    assert.equal(subscriberView({ ...ending, state: 'canceled' }).next_plan, null)
    assert.equal((await call()).status, 200)
    bench.clock.shift(held.periodEnd - bench.clock.now() + 60_000)
    key = (await hosting.keys.issue()).key
    assert.equal((await call()).headers.get('ratelimit'), null)
    const again = await parts.service.subscribe(operator, { api: held.api, plan: 'free', maxPrice: '0' })
    assert.notEqual(again.subscription.id, held.id)
    assert.equal((await call()).status, 200)
    await parts.service.cancel(operator, again.subscription.id, true)
    assert.deepEqual(await parts.service.list(operator), [])
  })
})
