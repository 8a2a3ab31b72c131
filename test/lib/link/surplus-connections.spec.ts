import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import type { Connection, Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { SURPLUS_CONNECTION_MS } from '../../../lib/base/limits/link.ts'
import { surplusConnections } from '../../../lib/link/surplus-connections.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

const WAIT_MS = 20_000
const PROTOCOL = '/test/1.0.0'

describe('connections to a peer that has another one', () => {
  let clock: ManualClock
  /** Sorted by peer id. */
  let lower: Libp2p
  let higher: Libp2p

  async function start(): Promise<Libp2p> {
    const node = await createLibp2p({
      addresses: { listen: Array.from({ length: 3 }, () => '/ip4/127.0.0.1/tcp/0') },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionMonitor: { enabled: false },
      services: { surplus: surplusConnections({ clock }) }
    })
    await node.handle(PROTOCOL, () => {})
    return node
  }
  beforeEach(async () => {
    clock = manualClock()
    const nodes = [await start(), await start()].toSorted((a, b) =>
      a.peerId.toString() < b.peerId.toString() ? -1 : 1
    )
    ;[lower, higher] = nodes as [Libp2p, Libp2p]
  })
  afterEach(async () => {
    for (const node of [lower, higher]) await node.stop()
  })

  /** `force` makes a connection of its own, as a dial at the same moment does. */
  const dial = (from: Libp2p, to: Libp2p, listener = 0) => from.dial(to.getMultiaddrs()[listener]!, { force: true })
  const between = () => [lower.getConnections(higher.peerId), higher.getConnections(lower.peerId)] as const
  const both = (count: number) =>
    eventually(`${count} connections at both ends`, WAIT_MS, () =>
      between().every((open) => open.length === count) ? true : undefined
    )
  const isOpen = ({ status }: Connection) => status === 'open'

  it('are closed while idle, the one of the lower peer id stays', async () => {
    const [kept, other] = await Promise.all([dial(lower, higher), dial(higher, lower)])
    await both(2)
    await clock.advance(SURPLUS_CONNECTION_MS - 1)
    assert.ok(isOpen(kept) && isOpen(other))
    await clock.advance(1)
    await both(1)
    assert.ok(isOpen(kept) && !isOpen(other))
    await clock.advance(2 * SURPLUS_CONNECTION_MS)
    assert.ok(isOpen(kept))
    assert.equal(clock.pending, 0)
  })

  it('are closed down to the oldest where one end dialled them all', async () => {
    const kept = await dial(higher, lower)
    await dial(higher, lower, 1)
    await dial(higher, lower, 2)
    await both(3)
    await clock.advance(SURPLUS_CONNECTION_MS)
    await both(2)
    await clock.advance(SURPLUS_CONNECTION_MS)
    await both(1)
    assert.ok(isOpen(kept))
  })

  it('stay while they carry a stream, and the idle one is closed', async () => {
    const [idle, busy] = await Promise.all([dial(lower, higher), dial(higher, lower)])
    await both(2)
    const stream = await busy.newStream(PROTOCOL)
    await eventually('the stream at the other end', WAIT_MS, () =>
      lower.getConnections(higher.peerId).some(({ streams }) => streams.length > 0) ? true : undefined
    )
    await clock.advance(SURPLUS_CONNECTION_MS)
    await both(1)
    assert.ok(isOpen(busy) && !isOpen(idle))
    assert.equal(stream.status, 'open')
  })

  it('stay while both carry streams, until one is idle', async () => {
    const [one, two] = await Promise.all([dial(lower, higher), dial(higher, lower)])
    const streams = [await one.newStream(PROTOCOL), await two.newStream(PROTOCOL)]
    await both(2)
    await clock.advance(3 * SURPLUS_CONNECTION_MS)
    assert.ok(isOpen(one) && isOpen(two))
    for (const stream of streams) stream.abort(new Error('the test ends it'))
    await eventually('the end of the streams', WAIT_MS, () =>
      between().every((open) => open.every((each) => each.streams.length === 0)) ? true : undefined
    )
    await clock.advance(SURPLUS_CONNECTION_MS)
    await both(1)
    assert.ok(isOpen(one))
  })
})
