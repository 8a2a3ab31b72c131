import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { handler, type SoukNode } from '../../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../../lib/testing/index.ts'
import { eventually, within } from '../../../helpers/eventually.ts'
import { freePort } from '../../../helpers/free-port.ts'

/** The first node is public; it is the relay. An owner without a listening socket is behind a router that lets nothing in. */
describe('a node that cannot be dialled', () => {
  let testnet: Testnet
  beforeEach(async () => {
    testnet = await createTestnet({ nodes: 2 })
  })
  afterEach(() => testnet.stop())

  const hiddenOwner = async () => {
    const owner = await testnet.add({ listen: [] })
    await owner.souk.serve(
      { name: 'hidden', price: '0' },
      handler(() => 'found')
    )
    return owner
  }
  const called = (by: SoukNode | undefined) =>
    eventually('the call', 10_000, async () => {
      const reply = await by?.souk.call({ api: 'hidden', body: null }).catch(() => undefined)
      return reply?.json()
    })
  const linkOf = (from: SoukNode, to: SoukNode) =>
    from.souk
      .status()
      .peers.filter(({ id }) => id === to.souk.status().peer)
      .flatMap(({ addresses }) => addresses)

  it('reserves two relays, and is called through them by a node that cannot be dialled either', async () => {
    const ids = testnet.nodes.map(({ souk }) => souk.status().peer)
    const owner = await hiddenOwner()
    const reach = () => owner.souk.status().reachability
    await eventually('two relays', 10_000, () => (reach().relays.length === 2 ? true : undefined))
    assert.equal(reach().state, 'relayed')
    assert.deepEqual(reach().relays.toSorted(), ids.toSorted())
    const consumer = await testnet.add({ listen: [] })
    assert.equal(await called(consumer), 'found')
    assert.match(linkOf(consumer, owner).join(), /p2p-circuit/)
    // A consumer needs no reservation.
    assert.deepEqual(consumer.souk.status().reachability.relays, [])
  })

  it('is called at once through the other relay when one stops', async () => {
    const owner = await hiddenOwner()
    const relays = () => owner.souk.status().reachability.relays
    await eventually('two relays', 10_000, () => (relays().length === 2 ? true : undefined))
    const consumer = await testnet.add({ listen: [] })
    assert.equal(await called(consumer), 'found')
    const used = /\/p2p\/([^/]+)\/p2p-circuit/.exec(linkOf(consumer, owner).join())?.[1]
    const relay = testnet.nodes.find(({ souk }) => souk.status().peer === used)
    await relay?.stop()
    const reply = await within('the response', 2_000, consumer.souk.call({ api: 'hidden', body: null }))
    assert.equal(await reply.json(), 'found')
    await eventually('the relay to be dropped', 10_000, () => (relays().length === 1 ? true : undefined))
  })

  it('has relays again after its links broke, however many consumers call meanwhile', async () => {
    const owner = await hiddenOwner()
    const relays = () => owner.souk.status().reachability.relays
    const announced = () => owner.libp2p.getMultiaddrs().length
    const consumers = await Promise.all([1, 2, 3].map(() => testnet.add({ listen: [] })))
    for (let round = 0; round < 3; round++) {
      await eventually('two relays', 10_000, () => (relays().length === 2 && announced() === 2 ? true : undefined))
      for (const connection of owner.libp2p.getConnections()) connection.abort(new Error('the link broke'))
      await Promise.all(consumers.map(called))
    }
  })

  it('dials a public consumer back; a running call ends on the relay, and the next one runs directly', async () => {
    const owner = await testnet.add({ listen: [] })
    const held = Promise.withResolvers<string>()
    const slowApi = await owner.souk.serve(
      { name: 'slow', price: '0' },
      handler(() => held.promise)
    )
    await owner.souk.serve(
      { name: 'hidden', price: '0' },
      handler(() => 'found')
    )
    await eventually('two relays', 10_000, () =>
      owner.souk.status().reachability.relays.length === 2 ? true : undefined
    )
    const gate = await closedGate()
    // Not one of the relays, to which the owner keeps a link of its own.
    const consumer = await testnet.add(gate.addresses)
    const onDirect = () => streamsOf(consumer, owner, false)
    const onRelay = () => streamsOf(consumer, owner, true)
    const slow = consumer.souk.call({ api: slowApi.signed.id, body: null })
    await eventually('the call to run on the relay', 10_000, () => (onRelay() > 0 ? true : undefined))
    gate.open()
    await eventually('a direct channel', 5_000, () => (onDirect() > 0 ? true : undefined))
    assert.equal(await (await consumer.souk.call({ api: 'hidden', body: null })).json(), 'found')
    assert.equal(onRelay(), 1)
    held.resolve('late')
    assert.equal(await (await slow).json(), 'late')
    await eventually('the relayed channel to close', 5_000, () => (onRelay() === 0 ? true : undefined))
  })
})

/** Addresses of a node that others can dial, but their connections wait until the gate is open. */
async function closedGate() {
  const port = await freePort()
  const opened = Promise.withResolvers<void>()
  const server = createServer((inward) => {
    const outward = new Socket()
    inward.on('error', () => outward.destroy())
    outward.on('error', () => inward.destroy())
    void opened.promise.then(() => inward.pipe(outward.connect(port, '127.0.0.1')).pipe(inward))
  }).listen(0, '127.0.0.1')
  server.unref()
  await once(server, 'listening')
  const announced = (server.address() as AddressInfo).port
  return {
    addresses: { listen: [`/ip4/127.0.0.1/tcp/${port}`], announce: [`/ip4/127.0.0.1/tcp/${announced}`] },
    open: opened.resolve
  }
}

/** Open call channels between two nodes. */
function streamsOf(from: SoukNode, to: SoukNode, isRelayed: boolean): number {
  const connections = from.libp2p.getConnections(to.libp2p.peerId)
  const meant = connections.filter(({ remoteAddr }) => remoteAddr.toString().includes('p2p-circuit') === isRelayed)
  return meant.flatMap(({ streams }) => streams).filter(({ protocol }) => protocol === '/souk/call/1.0.0').length
}
