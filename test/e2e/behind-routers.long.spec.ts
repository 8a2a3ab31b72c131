import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type HomeNetwork, type HomeRouterInit, homeNetwork, type RouterKind } from '../helpers/home-router.ts'
import { directLink, isRelayed, type MachineNodes, machineNodes } from '../helpers/machine-nodes.ts'
import { type Machine, type Machines, machines, whyNoMachines } from '../helpers/machines.ts'

/** Nodes with the default options of `souk up`: a bootstrap with a public address, and nodes behind routers. */
describe('nodes behind routers', function () {
  const reason = whyNoMachines()
  if (reason !== undefined) {
    it(`cannot be simulated on this machine: ${reason}`, () => assert.equal(whyNoMachines(), reason))
    return
  }
  this.timeout(400_000)
  let internet: Machines
  let nodes: MachineNodes
  const homes: HomeNetwork[] = []
  const behindRouter = async (outer: Machine, name: string, init?: HomeRouterInit) => {
    const network = await homeNetwork(outer, name, init)
    homes.push(network)
    return network.host
  }

  beforeEach(async () => {
    nodes = await machineNodes()
    internet = await machines([1, 2, 3, 4].map((last) => [`11.1.1.${last}/24`]))
  })
  afterEach(async () => {
    for (const network of homes.splice(0)) await network.close()
    await internet?.close()
    await nodes?.close()
  })

  it('announce the address of a router that forwards the port, after the bootstrap dialled it', async () => {
    const [first, outer, , free] = internet.all as [Machine, Machine, Machine, Machine]
    const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress')
    const host = await behindRouter(outer, 'a', { forwarded: 4402 })
    const owner = await nodes.up(host, 'owner', '--no-ingress', '--bootstrap', bootstrap.address)
    const reach = await owner.sells(({ state }) => state === 'direct')
    assert.equal(reach.text, 'reachable directly at 11.1.1.2:4402')
    assert.equal(reach.confirmed, true)
    const consumer = await nodes.up(free, 'consumer', '--bootstrap', bootstrap.address)
    const ms = await consumer.call()
    await directLink(consumer, await owner.peerId())
    const nextMs = await consumer.call()
    console.log(`      | forwards the port | ${ms} ms, then ${nextMs} ms direct | |`)
  })

  for (const by of ['UPnP', 'NAT-PMP'] as const) {
    it(`have their port forwarded by a router that they ask by ${by}, until they stop`, async () => {
      const [first, outer, , free] = internet.all as [Machine, Machine, Machine, Machine]
      const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress')
      const host = await behindRouter(outer, 'a', { forwardsBy: by })
      const owner = await nodes.up(host, 'owner', '--no-ingress', '--bootstrap', bootstrap.address)
      const reach = await owner.sells(({ state }) => state === 'direct')
      assert.equal(reach.text, `reachable directly at 11.1.1.2:4402; the router forwards TCP port 4402 (${by})`)
      const consumer = await nodes.up(free, 'consumer', '--bootstrap', bootstrap.address)
      const ms = await consumer.call()
      await directLink(consumer, await owner.peerId())
      const nextMs = await consumer.call()
      console.log(`      | forwards the port when asked by ${by} | ${ms} ms, then ${nextMs} ms direct | |`)
      const stopped = once(owner.process, 'exit')
      owner.process.kill('SIGINT')
      await stopped
      const isOpen = [
        '--eval',
        "require('net').connect(4402, '11.1.1.2').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"
      ]
      await assert.rejects(free.run(process.execPath, isOpen))
    })
  }

  it('call an owner whose router gets another address, which the owner then announces', async () => {
    const [first, outer, , free] = internet.all as [Machine, Machine, Machine, Machine]
    const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress')
    const join = ['--bootstrap', bootstrap.address]
    const owner = await nodes.up(await behindRouter(outer, 'a', { forwarded: 4402 }), 'owner', '--no-ingress', ...join)
    await owner.sells(({ text }) => text === 'reachable directly at 11.1.1.2:4402')
    const consumer = await nodes.up(free, 'consumer', ...join)
    await consumer.call()
    await outer.run('ip', ['addr', 'del', '11.1.1.2/24', 'dev', 'eth0'])
    await outer.run('ip', ['addr', 'add', '11.1.1.22/24', 'dev', 'eth0'])
    const ms = await consumer.call()
    await owner.reaches(({ text }) => text === 'reachable directly at 11.1.1.22:4402')
    console.log(`      | gets another address, which is lost with all connections | ${ms} ms | |`)
  })

  it('call an owner at another port from a network that lets only port 443 out', async () => {
    const [first, outer, , free] = internet.all as [Machine, Machine, Machine, Machine]
    const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress', '--p2p-port', '443')
    const join = ['--bootstrap', bootstrap.address]
    const owner = await nodes.up(free, 'owner', '--no-ingress', ...join)
    const reach = await owner.sells(({ state, relays }) => state === 'direct' && relays.length > 0)
    assert.equal(reach.text, 'reachable directly at 11.1.1.4:4402')
    const inside = await nodes.up(await behindRouter(outer, 'a', { kind: 'web-only' }), 'inside', ...join)
    const ms = await inside.call()
    const links = await inside.linksTo(await owner.peerId())
    assert.ok(links.length > 0 && links.every(isRelayed), links.join())
    console.log(`      | public address, port 4402 | | ${ms} ms relayed, from a network that lets only 443 out |`)
  })

  it('call an owner that has IPv4 only from a machine that has IPv6 only, over a node that has both', async () => {
    const [first, , other, free] = internet.all as [Machine, Machine, Machine, Machine]
    await first.run('ip', ['addr', 'add', '2a00:11:1::1/64', 'dev', 'eth0', 'nodad'])
    await other.run('ip', ['-4', 'addr', 'flush', 'dev', 'eth0'])
    await other.run('ip', ['addr', 'add', '2a00:11:1::3/64', 'dev', 'eth0', 'nodad'])
    const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress')
    const owner = await nodes.up(free, 'owner', '--no-ingress', '--bootstrap', bootstrap.address)
    await owner.sells(({ state, relays }) => state === 'direct' && relays.length > 0)
    const address = bootstrap.address.replace('/ip4/11.1.1.1/', '/ip6/2a00:11:1::1/')
    const consumer = await nodes.up(other, 'consumer', '--bootstrap', address)
    await consumer.call()
    const links = await consumer.linksTo(await owner.peerId())
    assert.ok(links.length > 0 && links.every(isRelayed), links.join())
  })

  for (const kind of ['full-cone', 'port-restricted', 'symmetric', 'two routers', 'web-only'] as const) {
    it(`are called behind a router of this kind: ${kind}`, async () => {
      const [first, outer, another, free] = internet.all as [Machine, Machine, Machine, Machine]
      const isWebOnly = kind === 'web-only'
      const bootstrap = await nodes.up(first, 'bootstrap', '--no-ingress', ...(isWebOnly ? ['--p2p-port', '443'] : []))
      const join = ['--bootstrap', bootstrap.address]
      const router: { kind: RouterKind } = { kind: kind === 'two routers' ? 'symmetric' : kind }
      const nearest = await behindRouter(outer, 'a', router)
      const host = kind === 'two routers' ? await behindRouter(nearest, 'b', router) : nearest
      const owner = await nodes.up(host, 'owner', '--no-ingress', ...join)
      const reach = await owner.sells(({ state }) => state === 'relayed')
      assert.equal(reach.text, 'reachable through 1 relay; forward TCP port 4402 to be faster')
      const id = await owner.peerId()

      const inside = await nodes.up(await behindRouter(another, 'c', router), 'inside', ...join)
      const insideMs = await inside.call()
      const links = await inside.linksTo(id)
      assert.ok(links.length > 0 && links.every(isRelayed), links.join())

      const consumer = await nodes.up(free, 'public', ...join)
      const publicMs = await consumer.call()
      if (!isWebOnly) await directLink(consumer, id)
      const nextMs = await consumer.call()
      const then = isWebOnly ? 'relayed' : 'direct'
      console.log(`      | ${kind} | ${publicMs} ms relayed, then ${nextMs} ms ${then} | ${insideMs} ms relayed |`)
    })
  }
})
