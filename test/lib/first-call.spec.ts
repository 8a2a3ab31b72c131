import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { createNode, handler, type NodeOptions, type SoukNode } from '../../lib/index.ts'
import { DIAL_ADDRESS_MS } from '../../lib/base/limits/link.ts'
import { forwarder } from '../helpers/forwarder.ts'
import { portOf } from '../helpers/port-of.ts'
import { freePort } from '../helpers/free-port.ts'

/** Behind a router that lets nothing in. */
const HIDDEN = { listen: [] }

describe('a call right after a start', () => {
  let nodes: SoukNode[]

  const up = async (options: NodeOptions = {}): Promise<SoukNode> => {
    const node = await createNode({ network: 'first-call', ...options })
    nodes.push(node)
    await node.start()
    return node
  }
  const sells: Pick<NodeOptions, 'prepare'> = {
    prepare: async (souk) => void (await souk.serve({ name: 'echo', price: '0' }, echo))
  }
  const addressesOf = ({ libp2p }: SoukNode) => libp2p.getMultiaddrs().map(String)
  const called = async ({ souk }: SoukNode) => (await souk.call({ api: 'echo', body: 'hello' })).json()
  /** A place for a bootstrap node that starts later, or again. */
  const placeOf = async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const listen = [`/ip4/127.0.0.1/tcp/${await freePort()}`]
    return {
      options: { privateKey, listen },
      bootstrap: [`${listen[0]}/p2p/${peerIdFromPrivateKey(privateKey).toString()}`]
    }
  }

  beforeEach(() => {
    nodes = []
  })
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  })

  it('succeeds, also a search', async () => {
    const bootstrap = addressesOf(await up())
    await up({ bootstrap, ...sells })
    const consumer = await up({ bootstrap })
    assert.equal(await called(consumer), 'hello')
    assert.equal((await consumer.souk.search({})).listings.length, 1)
  })

  it('succeeds where the owner needs a relay', async () => {
    const bootstrap = addressesOf(await up())
    const before = await up({ bootstrap, ...HIDDEN })
    const owner = await up({ bootstrap, ...HIDDEN, ...sells })
    assert.equal(owner.souk.status().reachability.state, 'relayed')
    const after = await up({ bootstrap, ...HIDDEN })
    assert.deepEqual(await Promise.all([called(before), called(after)]), ['hello', 'hello'])
  })

  it('waits for a network that is slow, and says so when its time is up', async () => {
    const owner = await up(sells)
    const link = await forwarder(portOf(owner.libp2p))
    link.silence()
    try {
      const bootstrap = addressesOf(owner).map((address) => address.replace(/tcp\/\d+/, `tcp/${link.port}`))
      const consumer = await up({ bootstrap, ...HIDDEN })
      await assert.rejects(consumer.souk.call({ api: 'echo', body: 'hello', timeoutMs: 100 }), isOffline)
      const calling = called(consumer)
      await pause(DIAL_ADDRESS_MS)
      link.proceed()
      assert.equal(await calling, 'hello')
    } finally {
      link.stop()
    }
  })

  it('succeeds where the bootstrap node has lost what it stored', async () => {
    const { options, bootstrap } = await placeOf()
    const first = await up(options)
    await up({ bootstrap, ...HIDDEN, ...sells })
    await first.stop()
    await up(options)
    assert.equal(await called(await up({ bootstrap, ...HIDDEN })), 'hello')
  })
})

const isOffline = ({ code, members }: { code: string; members?: { reason: string } }) =>
  code === 'owner_unreachable' && members?.reason === 'network_unreachable'

const echo = handler(({ body }) => body)
