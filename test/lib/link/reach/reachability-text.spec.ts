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
    isOffline: false,
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

  it('names the web server of a node that announces nothing else', () => {
    const behind = { ...reach, addresses: ['/dns4/node.example/tcp/443/wss'], port: undefined, mapped: undefined }
    const at = '/dns4/node.example/tcp/443/wss'
    assert.equal(reachabilityText(behind).text, `reachable directly at ${at}`)
    const untried = reachabilityText({ ...behind, isConfirmed: false, asked: 0 })
    assert.equal(untried.text, `reachable directly at ${at}, not confirmed by a peer yet`)
    const failed = reachabilityText({ ...behind, state: 'none', isConfirmed: false, asked: 2 })
    assert.equal(failed.text, `not reachable: 2 peers could not connect to ${at}, and no relay is in use`)
    for (const { hint } of [untried, failed]) assert.match(hint ?? '', /web server .* certificate is valid/)
    const local = { ...behind, state: 'private' as const, addresses: ['/ip4/127.0.0.1/tcp/4402'] }
    assert.match(reachabilityText(local).text, /^reachable from this machine only/)
  })

  it('says that the clock is wrong, and by how much', () => {
    const clocks = [
      [301_000, '5 minutes ahead of'],
      [-600_000, '10 minutes behind'],
      [7_200_000, '2 hours ahead of'],
      [-1_790_000_000_000, '20718 days behind']
    ] as const
    for (const [clockAheadMs, what] of clocks) {
      assert.deepEqual(reachabilityText({ ...reach, mapped: undefined, clockAheadMs }), {
        text: `reachable directly at 11.1.1.2:9000, but the clock of this machine is ${what} its peers’`,
        hint: 'Set the clock, for example with NTP. Until then others do not find the APIs of this node.',
        clock: `clock of this machine is ${what} its peers’`
      })
    }
    assert.equal(reachabilityText({ ...reach, clockAheadMs: 0 }).clock, undefined)
  })

  it('does not blame an option where the machine has no network', () => {
    const alone = { ...reach, addresses: ['/ip4/127.0.0.1/tcp/4402'], port: undefined, isConfirmed: false, asked: 0 }
    const none = { ...alone, state: 'none' as const }
    assert.deepEqual(reachabilityText({ ...none, isOffline: true }), {
      text: 'not reachable: this machine has no network',
      hint: 'Connect this machine to a network. The node notices it by itself.'
    })
    assert.equal(reachabilityText(none).hint, 'souk up --p2p-host 0.0.0.0')
    const { text, hint } = reachabilityText({ ...alone, state: 'private', isOffline: true })
    assert.equal(text, 'reachable from this machine only, at 127.0.0.1:4402')
    assert.match(hint ?? '', /^Connect this machine/)
  })
})
