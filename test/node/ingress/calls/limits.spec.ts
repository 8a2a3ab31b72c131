import assert from 'node:assert/strict'
import { limits, type Problem, SoukError } from '../../../../lib/index.ts'
import { RATE_MEMBER } from '../../../../lib/interface/index.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { answer, eventually, type Running, startIngress } from '../harness.ts'

const PATH = '/api/demo/api/ticker'
const rate = { policy: 'default', calls: 100, perMs: 60_000, remaining: 99, resetMs: 600 }
const headersOf = ({ headers }: Response) => [headers.get('ratelimit-policy'), headers.get('ratelimit')]
const problemOf = async (response: Response) => (await response.json()) as Problem

describe('ingress: limits', () => {
  let ingress: Running
  const clock = manualClock()
  before(async () => {
    ingress = await startIngress({}, clock)
  })
  after(() => ingress.close())
  beforeEach(() => {
    ingress.onCall = () => answer()
  })

  it('returns the rate limit status with each response, if there is a limit', async () => {
    assert.deepEqual(headersOf(await ingress.post(PATH, {})), [null, null])
    ingress.onCall = () => answer({ rate })
    assert.deepEqual(headersOf(await ingress.post(PATH, {})), ['"default";q=100;w=60', '"default";r=99;t=1'])
  })

  it('returns windows in whole seconds, as the header fields require', async () => {
    ingress.onCall = () => answer({ rate: { ...rate, calls: 3, perMs: 100, remaining: 0, resetMs: 34 } })
    assert.deepEqual(headersOf(await ingress.post(PATH, {})), ['"default";q=30;w=1', '"default";r=0;t=1'])
  })

  it('omits invalid limits of an owner', async () => {
    const hostile = [
      { ...rate, policy: 'a"; b' },
      { ...rate, policy: '' },
      { ...rate, calls: 0 },
      { ...rate, perMs: 2 ** 52 },
      { ...rate, remaining: 1e20 },
      { ...rate, resetMs: Number.NaN }
    ]
    for (const told of hostile) {
      ingress.onCall = () => answer({ rate: told })
      const reply = await ingress.post(PATH, {})
      assert.deepEqual([reply.status, ...headersOf(reply)], [200, null, null])
    }
    for (const members of [{ [RATE_MEMBER]: 7 }, { [RATE_MEMBER]: null }, { [RATE_MEMBER]: { policy: {} } }]) {
      ingress.onCall = () => {
        throw new SoukError('rate_limited', undefined, { members, retryAfterMs: 1_500, source: 'owner' })
      }
      const reply = await ingress.post(PATH, {})
      assert.deepEqual([reply.status, reply.headers.get('retry-after'), ...headersOf(reply)], [429, '2', null, null])
    }
  })

  it('does not forward the API’s own limit headers', async () => {
    const headers = ['ratelimit', 'ratelimit-policy', 'idempotency-replayed'].map((name) => [name, 'x'] as const)
    ingress.onCall = () => answer({ headers })
    const reply = await ingress.post(PATH, {})
    assert.deepEqual([...headersOf(reply), reply.headers.get('idempotency-replayed')], [null, null, null])
  })

  it('says when to retry a rejected call', async () => {
    const reputation = { policy: 'default', calls: 100, per_ms: 60_000, remaining: 0, reset_ms: 600 }
    ingress.onCall = () => {
      throw new SoukError('rate_limited', undefined, { members: { [RATE_MEMBER]: reputation }, retryAfterMs: 600 })
    }
    const reply = await ingress.post(PATH, {})
    assert.deepEqual(headersOf(reply), ['"default";q=100;w=60', '"default";r=0;t=1'])
    assert.equal(reply.headers.get('retry-after'), '1')
    const { code, charged, retryable, rate_limit } = await problemOf(reply)
    assert.deepEqual([code, charged, retryable, rate_limit], ['rate_limited', false, true, reputation])
  })

  it('identifies each account to each provider by a different name', async () => {
    await ingress.post(PATH, {})
    const { keys } = ingress
    const nameOf = (provider: string) => Buffer.from(ingress.calls.at(-1)?.consumer?.(provider) ?? []).toString('hex')
    assert.match(nameOf('P'), /^[0-9a-f]{32}$/)
    const [one, other] = [await keys.issue({ account: 'acc_1' }), await keys.issue({ account: 'acc_1' })]
    const rotated = await keys.rotate(other.id)
    const stranger = await keys.issue({ account: 'acc_2' })
    const at = async (provider: string) => {
      const holders = [one, other, rotated, stranger].map(async ({ key }) => keys.verify(key))
      return (await Promise.all(holders)).map((holder) => Buffer.from(keys.nameFor(holder, provider)).toString('hex'))
    }
    const [first, second, third, fourth] = await at('P')
    assert.deepEqual([second, third], [first, first])
    assert.equal(new Set([first, fourth, nameOf('P'), nameOf('Q'), ...(await at('Q'))]).size, 6)
  })

  describe('of a key', () => {
    const limited = async (rateLimit: { calls: number; perMs: number }) => (await ingress.keys.issue({ rateLimit })).key
    const post = (key: string, body: unknown = {}) => ingress.post(PATH, body, { 'x-consumer-key': key })

    it('apply before the call, together with its successor, and in addition to the listing’s', async () => {
      const { key, id } = await ingress.keys.issue({ rateLimit: { calls: 2, perMs: 10_000 } })
      ingress.onCall = () => answer({ rate })
      assert.deepEqual(headersOf(await post(key)), [
        '"key";q=2;w=10, "default";q=100;w=60',
        '"key";r=1;t=5, "default";r=99;t=1'
      ])
      const next = await ingress.keys.rotate(id)
      assert.equal((await post(next.key)).status, 200)
      const before = ingress.calls.length
      for (const each of [key, next.key]) {
        const refused = await post(each)
        assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5'])
        assert.deepEqual(headersOf(refused), ['"key";q=2;w=10', '"key";r=0;t=5'])
      }
      assert.equal(ingress.calls.length, before)
      await clock.advance(5_000)
      assert.equal((await post(key)).status, 200)
    })

    it('are separate for each key', async () => {
      const [a, b] = [await limited({ calls: 1, perMs: 60_000 }), await limited({ calls: 1, perMs: 60_000 })]
      assert.deepEqual([(await post(a)).status, (await post(b)).status, (await post(a)).status], [200, 200, 429])
    })

    it('are rejected if invalid', async () => {
      await assert.rejects(limited({ calls: 0, perMs: 1 }), { code: 'invalid_request' })
    })

    it('reject calls above the concurrency limit until running calls end', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      let underWay = 0
      ingress.onCall = async () => {
        underWay++
        await promise
        return answer()
      }
      const { key } = await ingress.keys.issue()
      const many = Array.from({ length: limits.IN_FLIGHT_PER_KEY_MAX }, () => post(key))
      await eventually(() => underWay === limits.IN_FLIGHT_PER_KEY_MAX)
      const shed = await Promise.all(Array.from({ length: 20 }, () => post(key)))
      for (const reply of shed) {
        assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '1'])
        assert.equal((await problemOf(reply)).code, 'overloaded')
      }
      const other = ingress.post(PATH, {})
      await eventually(() => underWay === limits.IN_FLIGHT_PER_KEY_MAX + 1)
      resolve()
      for (const reply of await Promise.all([...many, other])) assert.equal(reply.status, 200)
      assert.equal((await post(key)).status, 200)
    })
  })
})

describe('ingress: unauthenticated requests', () => {
  it('are rate limited by host, without effect on valid keys', async () => {
    const clock = manualClock()
    const ingress = await startIngress({ unauthenticatedPerHost: 3 }, clock)
    try {
      const stranger = async (key: string) => (await ingress.post(PATH, {}, { 'x-consumer-key': key })).status
      const unknown = `souk_test_${'A'.repeat(38)}`
      const statuses = []
      for (const key of [unknown, '', unknown, unknown, '']) statuses.push(await stranger(key))
      assert.deepEqual(statuses, [401, 401, 401, 429, 429])
      assert.equal((await ingress.post(PATH, {})).status, 200)
      await clock.advance(limits.STRANGERS_PER_HOST_MS / 3)
      assert.deepEqual([await stranger(unknown), await stranger(unknown)], [401, 429])
    } finally {
      await ingress.close()
    }
  })
})
