import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import type { Connection, StreamHandler, StreamMuxerFactory } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import type { Clock } from '../../../lib/base/clock.ts'
import { HEARTBEAT_ANSWER_MS, HEARTBEAT_MS, HEARTBEAT_SPREAD_MS } from '../../../lib/base/limits/link.ts'
import { heartbeat } from '../../../lib/link/heartbeat.ts'
import { muxerOf } from '../../../lib/link/ping-connection.ts'
import { eventually } from '../../helpers/eventually.ts'
import { forwarder } from '../../helpers/forwarder.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { portOf } from '../../helpers/port-of.ts'

const ROUNDS = 3
const LINKS = 6

/** Yamux without the pings of its own, as other muxers. */
function withoutPings(): StreamMuxerFactory {
  const inner = yamux({ enableKeepAlive: false })()
  return {
    protocol: inner.protocol,
    createStreamMuxer: (connection) => Object.assign(inner.createStreamMuxer(connection), { ping: undefined })
  }
}

describe('the heartbeat of connections', () => {
  const ends: Array<() => unknown> = []
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()))
  })

  async function start(clock?: Clock, muxer: () => StreamMuxerFactory = yamux({ enableKeepAlive: false })) {
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [muxer],
      connectionMonitor: { enabled: false },
      services: { ping: ping(), ...(clock && { heartbeat: heartbeat({ clock }) }) }
    })
    ends.push(() => node.stop())
    return node
  }

  /** A connection whose pings are answered until `silence`. */
  async function connect(clock: Clock, muxer?: () => StreamMuxerFactory) {
    const [node, peer] = [await start(clock, muxer), await start(undefined, muxer)]
    const { port, silence, stop } = await forwarder(portOf(peer))
    ends.push(stop)
    const connection = await node.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`))
    return { node, connection, silence }
  }

  const hasPinged = (connection: Connection) =>
    eventually('the response to a ping', 2_000, () => {
      const { rtt } = connection
      delete connection.rtt
      return rtt
    })

  /** A manual clock that lists the delays of pings. */
  function listing() {
    const clock = manualClock()
    const due: number[] = []
    const after: Clock['after'] = (ms, task) => {
      if (ms > HEARTBEAT_ANSWER_MS) due.push(ms)
      return clock.after(ms, task)
    }
    /** Advances to the next ping. */
    const toPing = () => clock.advance(due.at(-1) ?? 0)
    return { clock: { ...clock, after }, due, toPing }
  }

  const cases = { yamux: yamux({ enableKeepAlive: false }), 'another muxer': withoutPings }
  for (const [name, muxer] of Object.entries(cases)) {
    it(`pings over ${name}, and closes the connection of a silent peer`, async () => {
      const { clock, toPing } = listing()
      const { connection, silence } = await connect(clock, muxer)
      for (let round = 0; round < ROUNDS; round++) {
        await toPing()
        await hasPinged(connection)
      }
      silence()
      await toPing()
      assert.equal(connection.status, 'open')
      await clock.advance(HEARTBEAT_ANSWER_MS)
      await eventually('the connection to close', 2_000, () => (connection.status === 'open' ? undefined : true))
    })
  }

  it('keeps a connection on which bytes arrive before the response, until none do', async () => {
    const { clock, toPing } = listing()
    const [node, peer] = [await start(clock), await start()]
    let bytes = 0
    const read: StreamHandler = (stream) => stream.addEventListener('message', ({ data }) => (bytes += data.byteLength))
    await node.handle('/test/body', read)
    const connection = await node.dial(peer.getMultiaddrs())
    const accepted = await eventually('the other end', 2_000, () => peer.getConnections(node.peerId)[0])
    // On a slow link, the response waits behind the bytes of a body.
    Object.assign(muxerOf(accepted) ?? {}, { handlePing: () => {} })
    const body = await accepted.newStream('/test/body')
    await toPing()
    for (let round = 1; round <= ROUNDS; round++) {
      await clock.advance(HEARTBEAT_ANSWER_MS - 1)
      body.send(new Uint8Array(1))
      await eventually('the byte', 2_000, () => (bytes === round ? true : undefined))
      assert.equal(connection.status, 'open')
    }
    await clock.advance(HEARTBEAT_ANSWER_MS)
    await eventually('the connection to close', 2_000, () => (connection.status === 'open' ? undefined : true))
  })

  it('pings from the end that dialled only', async () => {
    const [from, to] = [listing(), listing()]
    const [node, peer] = [await start(from.clock), await start(to.clock)]
    const connection = await node.dial(peer.getMultiaddrs())
    const accepted = await eventually('the other end', 2_000, () => peer.getConnections(node.peerId)[0])
    for (let round = 1; round <= ROUNDS; round++) {
      await from.toPing()
      await hasPinged(connection)
      assert.equal(to.due.length, 1 + round)
      await to.clock.advance(HEARTBEAT_MS - HEARTBEAT_SPREAD_MS)
    }
    assert.equal(accepted.rtt, undefined)
    await to.clock.advance(HEARTBEAT_SPREAD_MS)
    await hasPinged(accepted)
  })

  it('keeps the connection of a peer that refuses pings', async () => {
    const { clock, due, toPing } = listing()
    const [node, peer] = [await start(clock, withoutPings), await start(undefined, withoutPings)]
    let asked = 0
    const refuse: StreamHandler = (stream) => {
      asked++
      stream.abort(new Error('no pings here'))
    }
    await peer.handle('/ipfs/ping/1.0.0', refuse, { force: true })
    const connection = await node.dial(peer.getMultiaddrs())
    for (let round = 1; round <= ROUNDS; round++) {
      await toPing()
      await eventually('the next ping to be due', 2_000, () => (due.length > round ? true : undefined))
    }
    assert.equal(asked, ROUNDS)
    assert.equal(connection.status, 'open')
  })

  it('pings connections that opened together at different times', async () => {
    const { clock, due } = listing()
    const node = await start(clock)
    for (let link = 0; link < LINKS; link++) await node.dial((await start()).getMultiaddrs())
    assert.equal(new Set(due).size, LINKS)
    const latestMs = HEARTBEAT_MS - HEARTBEAT_SPREAD_MS
    for (const ms of due) assert.ok(ms > latestMs - HEARTBEAT_SPREAD_MS && ms <= latestMs)
  })

  it('ends with its connection, and with its node', async () => {
    const clock = manualClock()
    const [node, peer] = [await start(clock), await start()]
    const connection = await node.dial(peer.getMultiaddrs())
    assert.equal(clock.pending, 1)
    await connection.close()
    await eventually('the timer to end', 2_000, () => (clock.pending === 0 ? true : undefined))
    await node.dial(peer.getMultiaddrs())
    assert.equal(clock.pending, 1)
    await node.stop()
    assert.equal(clock.pending, 0)
  })
})
