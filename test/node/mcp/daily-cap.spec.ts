import assert from 'node:assert/strict'
import { parseUsdc, SoukError, systemClock, systemRandom } from '../../../lib/index.ts'
import type { CallInit, CallReply, SearchPage } from '../../../lib/interface/index.ts'
import { KeyLimiter } from '../../../node/keys/key-limiter.ts'
import { Market } from '../../../node/mcp/market.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { answer, descriptionsOf, memoryDocuments } from '../ingress/harness.ts'
import { signed } from './signed.ts'

const PRICE = 1_000n
const { signal } = new AbortController()

describe('the daily cap of agents without a key', () => {
  let documents: ReturnType<typeof memoryDocuments>
  let sent: CallInit[]
  let onSent: (call: CallInit) => CallReply | Promise<CallReply>
  beforeEach(() => {
    documents = memoryDocuments()
    sent = []
    onSent = () => answer({ price: PRICE, charged: PRICE })
  })

  /** The tools of `souk mcp` at a node that has just started. */
  function toolsWith(cap?: string) {
    const known = signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    const market = new Market({
      souk: {
        call: async (call) => {
          await call.onPrice?.(PRICE)
          sent.push(call)
          return onSent(call)
        },
        search: (): Promise<SearchPage> => Promise.resolve({ listings: [] }),
        resolve: () => Promise.resolve({ signed: known, owners: [] }),
        reputation: () => Promise.resolve({ quality: { score: 0.8, calls: 0 } }),
        descriptions: descriptionsOf(systemClock)
      },
      spending: new Spending({ caps: new DailyCaps({ clock: systemClock, documents }) }),
      keys: { nameFor: () => assert.fail('there is no key') },
      keyLimiter: new KeyLimiter(systemClock),
      clock: systemClock,
      random: systemRandom,
      log: { error: (message) => assert.fail(message) }
    })
    const capped = cap === undefined ? {} : { dailyCap: parseUsdc(cap) }
    const { tools } = market.for({ apis: ['plain'], maxPrice: 50_000n, ...capped })
    return async (name = 'plain_call', given = {}) => {
      const {
        isError = false,
        content,
        structuredContent
      } = await tools.call({ name, arguments: given, meta: {} }, signal)
      return { isError, said: JSON.stringify(content), shown: (structuredContent ?? {}) as Record<string, unknown> }
    }
  }

  it('refuses calls past it before they are sent, also after a restart', async () => {
    const call = toolsWith('0.0025')
    for (let at = 0; at < 2; at++) assert.equal((await call()).isError, false)
    for (const again of [call, toolsWith('0.0025')]) {
      const { isError, said } = await again()
      assert.equal(isError, true)
      assert.match(said, /spend_cap_reached[^]*\\"charged\\":false/)
    }
    assert.equal(sent.length, 2)
    assert.equal((await call('souk_call', { api: 'plain', max_price: '0.01' })).isError, true)
  })

  it('follows a changed cap', async () => {
    const call = toolsWith('0.0025')
    await call()
    await call()
    assert.equal((await toolsWith('0.001')()).isError, true)
    const higher = toolsWith('0.003')
    assert.equal((await higher()).isError, false)
    assert.equal((await higher()).isError, true)
  })

  it('counts only what was charged, also with calls at once', async () => {
    const call = toolsWith('0.002')
    onSent = () => Promise.reject(new SoukError('upstream_unreachable'))
    for (let at = 0; at < 5; at++) assert.match((await call()).said, /upstream_unreachable/)
    onSent = () => answer({ price: PRICE, charged: 0n })
    for (let at = 0; at < 5; at++) assert.equal((await call()).isError, false)
    onSent = () => answer({ price: PRICE, charged: PRICE })
    const all = await Promise.all(Array.from({ length: 8 }, () => call()))
    assert.equal(all.filter(({ isError }) => !isError).length, 2)
  })

  it('is shown, and excludes subscriptions', async () => {
    const call = toolsWith('0.0025')
    await call()
    const { shown } = await call('souk_balance')
    assert.deepEqual([shown['daily_cap'], shown['left_today']], ['0.0025', '0.0015'])
    const subscribing = await call('souk_subscribe', { api: 'plain', plan: 'pro', max_price: '0' })
    assert.match(subscribing.said, /may not change subscriptions|no subscriptions/)
    const uncapped = toolsWith()
    for (let at = 0; at < 5; at++) assert.equal((await uncapped()).isError, false)
    assert.equal((await uncapped('souk_balance')).shown['daily_cap'], undefined)
  })
})
