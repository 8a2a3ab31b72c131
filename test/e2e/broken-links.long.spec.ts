import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../../lib/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { type HomeNetwork, homeNetwork } from '../helpers/home-router.ts'
import { directLink, isRelayed, type MachineNode, type MachineNodes, machineNodes } from '../helpers/machine-nodes.ts'
import { type Machine, type Machines, machines, whyNoMachines } from '../helpers/machines.ts'

const CUT_MS = 10_000
/** Then all nodes have noticed a restart. */
const RESTART_MS = 30_000
/** Peers hang up after `HEARTBEAT_MS` and `HEARTBEAT_ANSWER_MS` without a response. A longer sleep changes nothing. */
const SLEEP_MS = 45_000

/** Without its own search for the peer, a node waits for the next heartbeat, or gives the call up. */
const SOON_MS = 10_000

/** An owner behind a router with two relays, a consumer behind another router, and a public consumer. */
describe('links of nodes behind routers', function () {
  const reason = whyNoMachines()
  if (reason !== undefined) {
    it(`cannot be simulated on this machine: ${reason}`, () => assert.equal(whyNoMachines(), reason))
    return
  }
  this.timeout(300_000)
  let internet: Machines
  let nodes: MachineNodes
  const homes: HomeNetwork[] = []
  let relays: MachineNode[]
  let owner: MachineNode
  let ownerId: string
  let inside: MachineNode
  let free: MachineNode

  before(async () => {
    nodes = await machineNodes()
    internet = await machines([1, 2, 3, 4, 5].map((last) => [`11.1.1.${last}/24`]))
    const [one, two, a, b, open] = internet.all as [Machine, Machine, Machine, Machine, Machine]
    const first = await nodes.up(one, 'first', '--no-ingress', '--relay')
    const second = await nodes.up(two, 'second', '--no-ingress', '--relay', '--bootstrap', first.address)
    relays = [first, second]
    const join = ['--bootstrap', first.address, '--bootstrap', second.address]
    homes.push(await homeNetwork(a, 'a'), await homeNetwork(b, 'b'))
    owner = await nodes.up(homes[0]!.host, 'owner', '--no-ingress', ...join)
    await owner.sells(({ relays: held }) => held.length === 2)
    ownerId = await owner.peerId()
    inside = await nodes.up(homes[1]!.host, 'inside', ...join)
    free = await nodes.up(open, 'free', ...join)
    await inside.call()
    await free.call()
    await directLink(free, ownerId)
  })
  after(async () => {
    for (const network of homes.splice(0)) await network.close()
    await internet?.close()
    await nodes?.close()
  })

  const bothCall = async () => Promise.all([inside.call(), free.call()])

  it(`cut for ${CUT_MS / 1_000} s, heal without an error to calls that were not running`, async () => {
    await internet.plug(2, false)
    await pause(CUT_MS)
    await internet.plug(2, true)
    const ms = await bothCall()
    console.log(`      after the cut: ${ms[0]} ms relayed, ${ms[1]} ms direct`)
  })

  it("carry each call over a restart of the owner's router", async () => {
    await homes[0]!.restart()
    const restartedAt = Date.now()
    const ms: number[] = []
    do ms.push(...(await bothCall()))
    while (Date.now() - restartedAt < RESTART_MS)
    console.log(`      after the restart of its router: ${ms.join(' ')} ms`)
    assert.ok(ms.slice(-2).every((last) => last < SOON_MS))
  })

  /** Lets a node sleep, and wakes it. The time until each caller's next call succeeds, in milliseconds. */
  const sleepAndWake = async (sleeper: MachineNode, callers: readonly MachineNode[]) => {
    sleeper.process.kill('SIGSTOP')
    await pause(SLEEP_MS)
    sleeper.process.kill('SIGCONT')
    const wokeAt = Date.now()
    const succeeds = async (caller: MachineNode) => {
      // An owner that was away for long is given up at once, so a call before it is back fails.
      await eventually('a call', RESTART_MS, () => caller.call().catch(() => undefined))
      return Date.now() - wokeAt
    }
    return Promise.all(callers.map(succeeds))
  }

  it('work soon after a sleep of the owner', async () => {
    const ms = await sleepAndWake(owner, [inside, free])
    console.log(`      after the owner's sleep: ${ms.join(' and ')} ms`)
    assert.ok(Math.max(...ms) < SOON_MS, ms.join())
  })

  it('work soon after a sleep of the consumer', async () => {
    const [ms] = await sleepAndWake(inside, [inside])
    console.log(`      after the consumer's sleep: ${ms} ms`)
    assert.ok(ms! < SOON_MS, String(ms))
  })

  it('move at once to the other relay when one is killed', async () => {
    const [link = ''] = await inside.linksTo(ownerId)
    assert.ok(isRelayed(link), link)
    // Every public node relays on a test network, also the consumer.
    const publicNodes = [...relays, free]
    const ids = await Promise.all(publicNodes.map((node) => node.peerId()))
    const used = ids.findIndex((id) => link.includes(`/p2p/${id}/p2p-circuit`))
    publicNodes[used]!.process.kill('SIGKILL')
    const ms = await inside.call()
    console.log(`      after the relay's end: ${ms} ms`)
    assert.ok(ms < limits.LINK_PROBE_MS, String(ms))
    const links = await inside.linksTo(ownerId)
    assert.ok(links.length > 0 && !links.some((each) => each.includes(`/p2p/${ids[used]}/`)), links.join())
  })
})
