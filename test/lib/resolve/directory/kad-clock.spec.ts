import assert from 'node:assert/strict'
import { apiId } from '../../../../lib/base/api-name.ts'
import { offerNamed } from '../fixtures.ts'
import { type KadNode, kadNetwork, stopAll } from './kad-network.ts'

const HOUR_MS = 60 * 60 * 1000
const soon = (): AbortSignal => AbortSignal.timeout(30_000)

describe('the DHT when the clock is set', () => {
  const { now } = Date
  let nodes: KadNode[]

  before(async () => {
    nodes = await kadNetwork(3)
  })
  afterEach(() => {
    Date.now = now
  })
  after(() => stopAll(nodes))

  for (const [what, byMs] of [
    ['back by two hours', -2 * HOUR_MS],
    ['forward by two hours', 2 * HOUR_MS]
  ] as const) {
    it(`finds and publishes after the clock was set ${what}`, async () => {
      const [owner, reader] = nodes
      assert.ok(owner !== undefined && reader !== undefined)
      const offer = offerNamed(byMs < 0 ? 'clock-back' : 'clock-forward', owner.self)
      await owner.directory.publish(offer, soon())
      assert.ok(await reader.directory.record(offer.id, soon()))

      Date.now = () => now() + byMs
      let unanswered = 0
      const onUnanswered = () => unanswered++
      const missing = apiId('missing', owner.self)
      // The first request after the change spoils the average, so the next ones would fail.
      for (let lookups = 0; lookups < 3; lookups++) await reader.directory.record(missing, soon(), { onUnanswered })
      assert.equal(unanswered, 0, 'every lookup reaches peers')
      const later = offerNamed(`${byMs < 0 ? 'back' : 'forward'}-later`, owner.self)
      const { stored } = await owner.directory.publish(later, soon())
      assert.ok(stored > 0, 'peers store the record')
    })
  }
})
