import assert from 'node:assert/strict'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { CLOCK_CHECK_MS } from '../../../lib/base/limits/directory.ts'
import { handler, reachabilityText } from '../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { eventually } from '../../helpers/eventually.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('a provider whose clock is wrong', () => {
  let testnet: Testnet
  let aheadMs: number
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    after: (ms, task) => systemClock.after(ms === CLOCK_CHECK_MS ? 50 : ms, task)
  }
  const told: string[] = []

  before(async () => {
    aheadMs = 0
    testnet = await createTestnet({
      nodes: 3,
      options: (at) => (at === 0 ? { clock, onReach: (reach) => void told.push(reachabilityText(reach).text) } : {})
    })
  })
  after(() => testnet.stop())

  const cases = [
    ['an hour ahead', HOUR, 'wrong_clock', /60 minutes ahead/],
    ['ten years ahead', 3_650 * DAY, 'wrong_clock', /3650 days ahead/],
    ['fifty years behind', -18_250 * DAY, 'expired', /18250 days behind/]
  ] as const
  for (const [at, [what, ms, reason, text]] of cases.entries()) {
    it(`is told so, ${what}, and its API is found once the clock is right`, async () => {
      const [owner, consumer] = testnet.nodes
      assert.ok(owner !== undefined && consumer !== undefined)
      aheadMs = ms
      const name = `late-${at}`
      const { signed } = await owner.souk.serve(
        { name, price: '0' },
        handler(() => ({}))
      )
      await assert.rejects(consumer.souk.resolve(name), ({ members }: { members: { reason: string } }) => {
        assert.equal(members.reason, reason)
        return true
      })
      assert.deepEqual(await owner.souk.knownBy(signed.id, new AbortController().signal), [])
      const { reachability } = owner.souk.status()
      assert.ok(Math.abs((reachability.clockAheadMs ?? 0) - ms) < HOUR / 2, `${reachability.clockAheadMs} ms`)
      assert.match(reachabilityText(reachability).text, text)
      assert.match(told.at(-1) ?? '', text)
      assert.equal(consumer.souk.status().reachability.clockAheadMs ?? 0, 0)
      aheadMs = 0
      await eventually('a peer to have the API', 5_000, async () => {
        const [peer] = await owner.souk.knownBy(signed.id, new AbortController().signal)
        return peer
      })
      await consumer.souk.resolve(name, { refresh: true })
      await consumer.souk.call({ api: name, body: {} })
      assert.equal(owner.souk.status().reachability.clockAheadMs, 0)
      assert.doesNotMatch(told.at(-1) ?? '', /clock/)
    })
  }
})
