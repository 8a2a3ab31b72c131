import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNode, handler, type SoukNode, soukTcp } from '../../lib/index.ts'
import { createTestnet } from '../../lib/testing/testnet.ts'
import { eventually } from '../helpers/eventually.ts'

/** libp2p's TCP transport limited to one kind of address, because it also supports Unix sockets. */
function only(kind: '/unix/' | '/ip4/'): ReturnType<typeof soukTcp> {
  const isOfKind = (address: { toString(): string }): boolean => address.toString().startsWith(kind)
  return (components) => {
    const transport = soukTcp()(components)
    const { dialFilter, listenFilter } = transport
    transport.dialFilter = (addresses) => dialFilter.call(transport, addresses).filter(isOfKind)
    transport.listenFilter = (addresses) => listenFilter.call(transport, addresses).filter(isOfKind)
    // Each transport of a node needs its own name.
    return Object.defineProperty(transport, Symbol.toStringTag, { value: `only ${kind}` })
  }
}

describe('the life of a node', () => {
  it('ends when it is stopped during its start', async () => {
    const node = await createNode()
    const starting = node.start()
    await node.stop()
    await starting
    assert.equal(node.libp2p.status, 'stopped')
  })

  it('has ended for each caller of `stop`, and begins again after it', async () => {
    const node = await createNode()
    await node.start()
    void node.stop()
    await node.stop()
    assert.equal(node.libp2p.status, 'stopped')
    void node.stop()
    void node.start()
    await node.start()
    assert.equal(node.libp2p.status, 'started')
    await node.stop()
  })
})

describe('the transports of a node', () => {
  const started: SoukNode[] = []
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-transports-'))
  })
  afterEach(async () => {
    for (const node of started.splice(0)) await node.stop()
    await rm(directory, { recursive: true })
  })

  async function start(options: Parameters<typeof createNode>[0]): Promise<SoukNode> {
    const node = await createNode(options)
    await node.start()
    started.push(node)
    return node
  }
  const addressOf = ({ libp2p }: SoukNode): string => String(libp2p.getMultiaddrs()[0])
  const socketIn = (name: string): string => `/unix/${encodeURIComponent(join(directory, name))}`
  const echo = handler(({ body }) => ({ echo: body }))

  it('are an option: an API is served, found and called over Unix sockets alone', async () => {
    const transports = [only('/unix/')]
    const provider = await start({ transports, listen: [socketIn('provider')] })
    await provider.souk.serve({ name: 'echo', price: '0' }, echo)
    const bootstrap = [addressOf(provider)]
    const consumer = await start({ transports, listen: [socketIn('consumer')], bootstrap })
    const reply = await consumer.souk.call({ api: 'echo', body: 'hello' })
    assert.deepEqual(await reply.json(), { echo: 'hello' })
    const addresses = consumer.libp2p.getConnections().map(({ remoteAddr }) => remoteAddr.toString())
    assert.ok(addresses.length > 0)
    for (const address of addresses) assert.match(address, /^\/unix\//)
  })

  it('may be several: peers of either kind are reached', async () => {
    const listen = [socketIn('both'), '/ip4/127.0.0.1/tcp/0']
    const provider = await start({ transports: [only('/unix/'), only('/ip4/')], listen })
    await provider.souk.serve({ name: 'echo', price: '0' }, echo)
    const addresses = provider.libp2p.getMultiaddrs().map(String)
    const tcpAddress = addresses.find((address) => address.startsWith('/ip4/'))
    const unixAddress = addresses.find((address) => address.startsWith('/unix/'))
    assert.ok(tcpAddress !== undefined && unixAddress !== undefined, addresses.join())
    const near = await start({ transports: [only('/unix/')], listen: [socketIn('near')], bootstrap: [unixAddress] })
    const far = await start({ bootstrap: [tcpAddress] })
    for (const node of [near, far]) {
      const reply = await node.souk.call({ api: 'echo', body: 1 })
      assert.deepEqual(await reply.json(), { echo: 1 })
    }
  })

  it('are TCP by default', async () => {
    assert.match(addressOf(await start({})), /^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\//)
  })
})

describe('a node that changes', () => {
  it('tells its connected peers', async () => {
    const testnet = await createTestnet()
    try {
      const [first, second] = testnet.nodes.map(({ libp2p }) => libp2p)
      if (first === undefined || second === undefined) throw new Error('no nodes')
      await first.handle('/new/1.0.0', () => {})
      await eventually('the new protocol', 5_000, async () => {
        const { protocols } = await second.peerStore.get(first.peerId)
        return protocols.includes('/new/1.0.0') ? true : undefined
      })
    } finally {
      await testnet.stop()
    }
  })
})
