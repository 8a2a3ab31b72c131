import assert from 'node:assert/strict'
import { type NotFoundReason, reasonOf, type Trail } from '../../../lib/resolve/not-found.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { JOINING_MS } from '../../../lib/base/limits/link.ts'
import { createNode, handler } from '../../../lib/index.ts'

describe('why an API was not found', () => {
  /** Nodes that have joined long ago do not repeat a lookup that finds nothing. */
  let upForMs = 0
  const clock: Clock = { ...systemClock, elapsed: () => systemClock.elapsed() + upForMs }
  const joined = async (nodes: number) => {
    const testnet = await createTestnet({ nodes, options: () => ({ clock }) })
    upForMs += JOINING_MS
    return testnet
  }
  const trail = { asked: 0, answered: 0, refusals: [], hasOlder: false, isCutOff: false, isConnected: true }
  const cases: ReadonlyArray<readonly [NotFoundReason, Partial<Trail>]> = [
    ['no_provider_record', {}],
    ['network_unreachable', { isCutOff: true }],
    ['unreachable', { asked: 2, isCutOff: true }],
    ['not_served', { asked: 2, answered: 1 }],
    ['expired', { asked: 1, answered: 1, refusals: ['The manifest has expired.'] }],
    [
      'signature_refused',
      { asked: 1, answered: 1, refusals: ['The manifest has expired.', 'The manifest has a wrong signature.'] }
    ],
    [
      'wrong_clock',
      { asked: 1, answered: 1, refusals: ['The manifest has expired.', 'The manifest is from the future.'] }
    ],
    ['rolled_back', { asked: 1, answered: 1, hasOlder: true }]
  ]
  for (const [reason, seen] of cases) {
    it(`gives the reason ${reason}`, () => assert.equal(reasonOf({ ...trail, ...seen }), reason))
  }

  describe('on a network', () => {
    let testnet: Testnet
    before(async () => {
      testnet = await joined(3)
    })
    after(() => testnet.stop())

    it('reports an unknown name, and an owner that is offline', async () => {
      const [first, owner, consumer] = testnet.nodes
      assert.ok(first !== undefined && owner !== undefined && consumer !== undefined)
      await assert.rejects(consumer.souk.resolve('nobody-has-this'), (error: { code: string; members: object }) => {
        assert.equal(error.code, 'api_not_found')
        assert.deepEqual(error.members, { reason: 'no_provider_record', nodes_asked: 0, nodes_answered: 0 })
        return true
      })
      const { signed } = await owner.souk.serve(
        { name: 'leaving', price: '0' },
        handler(() => ({}))
      )
      await owner.stop()
      await assert.rejects(consumer.souk.resolve(signed.id), (error: { code: string; members: { reason: string } }) => {
        assert.equal(error.code, 'owner_unreachable')
        assert.equal(error.members.reason, 'unreachable')
        return true
      })
    })

    it('does not report an API as missing if no node could be queried', async () => {
      const [first] = testnet.nodes
      assert.ok(first !== undefined)
      const gone = await testnet.add()
      const bootstrap = gone.libp2p.getMultiaddrs().map(String)
      await gone.stop()
      const alone = await createNode({ network: 'testnet', bootstrap })
      await alone.start()
      try {
        const isOffline = ({ code, members }: { code: string; members: { reason: string } }) => {
          assert.equal(code, 'owner_unreachable')
          assert.equal(members.reason, 'network_unreachable')
          return true
        }
        const apis = ['weather', `weather@${first.souk.status().provider}`]
        await Promise.all(apis.map((api) => assert.rejects(alone.souk.resolve(api), isOffline)))
      } finally {
        await alone.stop()
      }
    })

    it('does not report it as missing after all neighbours left', async () => {
      const pair = await joined(2)
      const [first, second] = pair.nodes
      assert.ok(first !== undefined && second !== undefined)
      try {
        await assert.rejects(second.souk.resolve('weather'), { code: 'api_not_found' })
        await first.stop()
        await assert.rejects(second.souk.resolve('rain'), { code: 'owner_unreachable' })
      } finally {
        await second.stop()
      }
    })
  })
})
