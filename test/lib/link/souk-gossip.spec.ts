import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { encode } from 'uint8-varint'
import { utf8 } from '../../../lib/base/bytes.ts'
import { GOSSIP_DECLINED_BYTES_MIN, GOSSIP_TURN_MESSAGES_MAX } from '../../../lib/base/limits/directory.ts'
import { KiB } from '../../../lib/base/limits/units.ts'
import { announcementTopic, soukGossip } from '../../../lib/link/souk-gossip.ts'
import { eventually } from '../../helpers/eventually.ts'

const NETWORK = 'test'
const TOPIC = announcementTopic(NETWORK)
/** More than two meshes have places for. */
const LEAVES = 40
/** The smallest that yamux allows. */
const WINDOW_BYTES = 256 * KiB

const gossipNode = () =>
  createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ streamOptions: { maxStreamWindowSize: WINDOW_BYTES } })],
    connectionManager: { inboundConnectionThreshold: Number.POSITIVE_INFINITY, maxIncomingPendingConnections: LEAVES },
    services: { identify: identify(), pubsub: soukGossip({ network: NETWORK, privateAddresses: true }) }
  })

describe('an announcement in a network where most nodes know only two busy ones', () => {
  const nodes: Array<Awaited<ReturnType<typeof gossipNode>>> = []
  const heard = new Set<string>()

  before(async () => {
    const started = await Promise.all(Array.from({ length: 2 + LEAVES }, gossipNode))
    nodes.push(...started)
    for (const { services, peerId } of nodes) {
      services.pubsub.subscribe(TOPIC)
      services.pubsub.addEventListener('message', () => void heard.add(peerId.toString()))
    }
    const [first, second, ...leaves] = nodes
    if (first === undefined || second === undefined) throw new Error('no nodes')
    await second.dial(first.getMultiaddrs())
    for (const hub of [first, second]) for (const leaf of leaves) await leaf.dial(hub.getMultiaddrs())
    await eventually('the busy nodes to know all others', 10_000, () =>
      [first, second].every(({ services }) => services.pubsub.getSubscribers(TOPIC).length === nodes.length - 1)
        ? true
        : undefined
    )
  })
  after(async () => {
    await Promise.all(nodes.map(async (node) => node.stop()))
  })

  it('reaches all of them', async () => {
    const publisher = nodes.at(-1)
    await publisher?.services.pubsub.publish(TOPIC, utf8('a new listing'))
    await eventually('all nodes to hear it', 10_000, () => (heard.size === nodes.length - 1 ? true : undefined)).catch(
      () => assert.fail(`${heard.size} of ${nodes.length - 1} nodes heard it`)
    )
  })
})

describe('a node with two neighbours that are connected too', () => {
  const nodes: Array<Awaited<ReturnType<typeof gossipNode>>> = []
  const received: number[] = []
  /** Ids of announcements that a neighbour declined. */
  let declined = 0

  before(async () => {
    nodes.push(...(await Promise.all([gossipNode(), gossipNode(), gossipNode()])))
    for (const { services } of nodes) {
      const inside = services.pubsub as unknown as Inside
      const decline = inside.handleIdontwant.bind(inside)
      inside.handleIdontwant = (from, lists) => {
        declined += lists.flatMap(({ messageIDs }) => messageIDs).length
        decline(from, lists)
      }
      services.pubsub.subscribe(TOPIC)
      services.pubsub.addEventListener('message', ({ detail }) => void received.push(detail.data.length))
    }
    const [first, second, third] = nodes
    for (const [from, to] of [
      [first, second],
      [second, third],
      [third, first]
    ])
      await from?.dial(to?.getMultiaddrs() ?? [])
    await eventually('all to be in the mesh of all', 10_000, () =>
      nodes.every(({ services }) => (services.pubsub as unknown as Inside).getMeshPeers(TOPIC).length === 2)
        ? true
        : undefined
    )
  })
  after(async () => {
    await Promise.all(nodes.map(async (node) => node.stop()))
  })

  const publish = async (bytes: number) => {
    received.length = 0
    await nodes[0]?.services.pubsub.publish(TOPIC, new Uint8Array(bytes).fill(1))
    await eventually('both to receive it', 5_000, () => (received.length === 2 ? true : undefined))
  }

  it('is told of large announcements that they have, and of no small ones', async () => {
    await publish(GOSSIP_DECLINED_BYTES_MIN - 1)
    // Messages of one connection arrive in order, so those about the first would come before those about the second.
    await publish(GOSSIP_DECLINED_BYTES_MIN)
    await eventually('both to decline it', 5_000, () => (declined >= 2 ? true : undefined))
    assert.equal(declined, 2)
  })
})

/** Private parts of gossipsub. */
interface Inside {
  getMeshPeers(topic: string): readonly string[]
  handleIdontwant(from: string, lists: Array<{ readonly messageIDs: readonly Uint8Array[] }>): void
}

describe('a neighbour that sends many messages at once', () => {
  let node: Awaited<ReturnType<typeof gossipNode>>
  let peer: Awaited<ReturnType<typeof gossipNode>>
  beforeEach(async () => {
    ;[node, peer] = await Promise.all([gossipNode(), gossipNode()])
  })
  afterEach(() => Promise.all([node.stop(), peer.stop()]))

  /** Counts the messages that the node handles. */
  function countMessages(onMessage: () => void): void {
    const inside = node.services.pubsub as unknown as { decodeRpc(bytes: Uint8Array): object }
    inside.decodeRpc = () => {
      onMessage()
      return { subscriptions: [], messages: [] }
    }
  }

  it('has them handled in several turns of the event loop', async () => {
    const turns: number[] = [0]
    let isOver = false
    const count = () => {
      turns.push(0)
      if (!isOver) setImmediate(count)
    }
    try {
      countMessages(() => turns[turns.length - 1]!++)
      count()
      const stream = await peer.dialProtocol(node.getMultiaddrs(), '/meshsub/1.1.0')
      const messages = 10 * GOSSIP_TURN_MESSAGES_MAX
      stream.send(new Uint8Array(2 * messages).fill(1))
      await eventually('all messages', 5_000, () => turns.reduce((sum, each) => sum + each, 0) >= messages || undefined)
      assert.ok(Math.max(...turns) <= 2 * GOSSIP_TURN_MESSAGES_MAX, `${Math.max(...turns)} in one turn`)
    } finally {
      isOver = true
    }
  })

  it('waits with more than the window of its stream until the node has handled them', async () => {
    // A turn handles a tenth of a window.
    const message = Buffer.concat([encode(99), Buffer.alloc(99)])
    const messages = Math.ceil((16 * WINDOW_BYTES) / message.length)
    const stream = await peer.dialProtocol(node.getMultiaddrs(), '/meshsub/1.1.0')
    let handled = 0
    let most = 0
    countMessages(() => {
      handled++
      most = Math.max(most, (messages - handled) * message.length - stream.writeBufferLength)
    })
    stream.send(Buffer.concat(Array.from({ length: messages }, () => message)))
    await eventually('all messages', 20_000, () => handled === messages || undefined)
    assert.ok(most < 3 * WINDOW_BYTES, `${most} bytes were queued`)
  })
})
