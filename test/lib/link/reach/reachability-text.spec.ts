import assert from 'node:assert/strict'
import type { Reachability } from '../../../../lib/interface/reachability.ts'
import { reachabilityText } from '../../../../lib/index.ts'

describe('reachabilityText', () => {
  const reach: Reachability = {
    state: 'direct',
    addresses: ['/ip4/11.1.1.2/tcp/9000'],
    isConfirmed: true,
    relays: [],
    port: 4402,
    asked: 1,
    mapped: { port: 9_000, by: 'UPnP' }
  }

  it('says that the router forwards the port, only where peers use it', () => {
    assert.deepEqual(reachabilityText(reach), {
      text: 'reachable directly at 11.1.1.2:9000; the router forwards TCP port 9000 (UPnP)',
      hint: undefined
    })
    const other = { ...reach, addresses: ['/ip4/11.1.1.2/tcp/4402'] }
    assert.equal(reachabilityText(other).text, 'reachable directly at 11.1.1.2:4402')
  })

  it('says what to do where a forwarded port leads to no peer', () => {
    for (const state of ['relayed', 'none'] as const) {
      const { text, hint } = reachabilityText({ ...reach, state, isConfirmed: false, relays: ['a'] })
      assert.doesNotMatch(text, /router forwards/)
      assert.match(hint ?? '', /^The router forwards its TCP port 9000 \(UPnP\), but no peer can connect to it/)
    }
    const { hint } = reachabilityText({ ...reach, state: 'relayed', mapped: undefined })
    assert.equal(hint, 'Forward TCP port 4402 of the router to this machine, or allow it in the firewall.')
  })
})
