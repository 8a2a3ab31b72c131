import assert from 'node:assert/strict'
import type { Libp2pEvents } from '@libp2p/interface'
import type { AddressManager, TransportManager } from '@libp2p/interface-internal'
import { multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { LISTEN_MS } from '../../../lib/base/limits/link.ts'
import { listening } from '../../../lib/link/listening.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

describe('listening', () => {
  let clock: ManualClock
  let events: TypedEventEmitter<Libp2pEvents>
  /** Which of the two ports are open. */
  let open: boolean[]
  let isDone: boolean

  const start = (...wanted: string[]) => {
    const addressManager: Pick<AddressManager, 'getListenAddrs'> = {
      getListenAddrs: () => wanted.map((each) => multiaddr(each))
    }
    const transportManager = {
      getListeners: () =>
        open.map((isOpen) => ({ getAddrs: () => (isOpen ? [multiaddr('/ip4/11.1.1.1/tcp/4402')] : []) }))
    } as unknown as TransportManager
    void listening({ addressManager, transportManager, events }, clock).then(() => {
      isDone = true
    })
  }
  const opens = async (port: number) => {
    open[port] = true
    events.dispatchEvent(new CustomEvent('transport:listening'))
    await settle()
  }

  beforeEach(() => {
    clock = manualClock()
    events = new TypedEventEmitter()
    open = [false, false]
    isDone = false
  })
  afterEach(() => assert.equal(clock.pending, 0))

  it('waits for all ports, but not for relays', async () => {
    start('/ip4/0.0.0.0/tcp/4402', '/ip6/::/tcp/4402', '/p2p-circuit')
    await opens(0)
    assert.equal(isDone, false)
    await opens(1)
    assert.equal(isDone, true)
  })

  it('waits for a moment only where a port never opens', async () => {
    start('/ip4/0.0.0.0/tcp/4402', '/ip6/::/tcp/4402')
    await opens(0)
    await clock.advance(LISTEN_MS)
    assert.equal(isDone, true)
  })

  it('does not wait in a node that listens nowhere', async () => {
    start()
    await settle()
    assert.equal(isDone, true)
  })
})
