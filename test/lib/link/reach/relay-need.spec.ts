import assert from 'node:assert/strict'
import { RELAYS_WANTED } from '../../../../lib/base/limits/reach.ts'
import { relayNeed } from '../../../../lib/link/reach/relay-need.ts'

const V4 = '/ip4/11.1.1.1/tcp/4402'
const V6 = '/ip6/2a00:11:1::1/tcp/4402'
const WEB = '/dns/node.example/tcp/443/wss'

describe('relayNeed', () => {
  it('is a relay for each kind of peer that cannot dial this node', () => {
    const gaps = (
      addresses: readonly string[],
      listened: readonly string[],
      state: 'direct' | 'private' = 'direct'
    ) => {
      const { relays, gaps } = relayNeed({ needsRelay: false, status: () => ({ state, addresses }) }, listened)
      assert.equal(relays, 0)
      return gaps.join()
    }
    assert.equal(gaps([V4], [V4]), 'web,ip6')
    assert.equal(gaps([V6], [V6]), 'web,ip4')
    assert.equal(gaps([V4, V6], [V4, V6]), 'web')
    assert.equal(gaps([V4], ['/ip4/192.168.1.2/tcp/4402']), 'web,ip6,router')
    assert.equal(gaps([WEB], []), 'router')
    assert.equal(gaps([V4], [V4], 'private'), '')
  })

  it('is several relays for a node that nobody can dial', () => {
    const { relays, gaps } = relayNeed({ needsRelay: true, status: () => ({ state: 'none', addresses: [] }) }, [])
    assert.deepEqual([relays, gaps.join()], [RELAYS_WANTED, 'web,ip4,ip6,router'])
  })
})
