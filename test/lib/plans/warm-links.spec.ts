import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { WARM_LINKS_CHECK_MS, WARM_LINKS_MAX } from '../../../lib/base/limits/plans.ts'
import type { Resolution } from '../../../lib/interface/directory.ts'
import type { Channel, PeerAddress } from '../../../lib/interface/link.ts'
import type { OwnSubscription } from '../../../lib/interface/subscription.ts'
import { WarmLinks } from '../../../lib/plans/warm-links.ts'
import { MANUAL_START, manualClock } from '../../helpers/manual-clock.ts'
import { idOf, keyOf } from '../resolve/fixtures.ts'

const DAY = 86_400_000

describe('links to the owners of subscriptions', () => {
  let provider: string
  before(async () => (provider = idOf(await keyOf('provider'))))

  const held = (name: string, changes: Partial<OwnSubscription> = {}) =>
    ({ api: `${name}@${provider}`, state: 'active', periodEnd: MANUAL_START + DAY, ...changes }) as OwnSubscription

  /** Subscriptions, and the owners that were connected since the last look. */
  function bench(list: readonly OwnSubscription[], ownerOf = (name: string) => `owner of ${name}`) {
    const clock = manualClock()
    const connected: string[] = []
    const connect = async ({ id }: PeerAddress) => {
      connected.push(id)
      return {} as Channel
    }
    const links = new WarmLinks({
      clock,
      link: { self: 'self', connect },
      subscriptions: { list: async () => list },
      resolve: async ({ name }) => {
        if (name === 'lost') throw new SoukError('owner_unreachable')
        return { owners: [{ id: ownerOf(name), addresses: [] }] } as unknown as Resolution
      }
    })
    return { clock, links, since: () => connected.splice(0).sort() }
  }

  it('open at the start, one for each API that may be called, and again when one is lost', async () => {
    const { clock, links, since } = bench([
      held('one'),
      held('one'),
      held('lost'),
      held('trial', { state: 'trialing' }),
      held('due', { periodEnd: MANUAL_START }),
      held('gone', { state: 'canceled' }),
      held('paused', { state: 'paused' })
    ])
    links.start()
    await clock.advance(1)
    const all = ['owner of due', 'owner of one', 'owner of trial']
    assert.deepEqual(since(), all)
    await clock.advance(WARM_LINKS_CHECK_MS)
    assert.deepEqual(since(), all)
    links.stop()
    await clock.advance(2 * WARM_LINKS_CHECK_MS)
    assert.deepEqual(since(), [])
    assert.equal(clock.pending, 0)
  })

  it('are limited in number, and none leads to this node', async () => {
    const many = Array.from({ length: 2 * WARM_LINKS_MAX }, (_, i) => held(`api-${i}`))
    const crowd = bench(many)
    crowd.links.start()
    await crowd.clock.advance(1)
    assert.equal(crowd.since().length, WARM_LINKS_MAX)
    crowd.links.stop()
    const own = bench([held('own')], () => 'self')
    own.links.start()
    await own.clock.advance(1)
    assert.deepEqual(own.since(), [])
    own.links.stop()
  })
})
