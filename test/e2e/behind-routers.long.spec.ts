import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { StatusView } from '../../node/admin/api.ts'
import { eventually, within } from '../helpers/eventually.ts'
import { type HomeNetwork, type HomeRouterInit, homeNetwork, type RouterKind } from '../helpers/home-router.ts'
import { type Machine, type Machines, machines, whyNoMachines } from '../helpers/machines.ts'

const MAIN = resolve(import.meta.dirname, '../../node/main.ts')
const READY_MS = 90_000
const API = `
  import { createServer } from 'node:http'
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"from":"home"}'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

/** Nodes with the default options of `souk up`: a bootstrap with a public address, and nodes behind routers. */
describe('nodes behind routers', function () {
  const reason = whyNoMachines()
  if (reason !== undefined) {
    it(`cannot be simulated on this machine: ${reason}`, () => assert.equal(whyNoMachines(), reason))
    return
  }
  this.timeout(400_000)
  let internet: Machines
  let home: string
  const homes: HomeNetwork[] = []
  let bootstrap: string

  const env = () => ({ ...process.env, SOUK_HOME: home })
  async function up(machine: Machine, profile: string, ...flags: string[]): Promise<{ p2p: string[] }> {
    const common = ['--network', 'base-sepolia', '--payment-scheme', 'metered', '--no-input', '--json']
    const args = [MAIN, 'up', ...common, '--profile', profile, ...flags]
    const child = machine.spawn(process.execPath, args, env())
    return JSON.parse(await firstLine(child.stdout!, `souk up of the ${profile}`)) as { p2p: string[] }
  }
  async function cli<View>(machine: Machine, profile: string, ...args: string[]): Promise<View> {
    const { stdout } = await machine.run(process.execPath, [MAIN, '--profile', profile, '--json', ...args], env())
    return JSON.parse(stdout) as View
  }
  const behindRouter = async (outer: Machine, name: string, init?: HomeRouterInit) => {
    const network = await homeNetwork(outer, name, init)
    homes.push(network)
    return network.host
  }
  const reachOf = async (machine: Machine, profile: string) =>
    (await cli<StatusView>(machine, profile, 'status')).reachability
  /** A node that sells one API. Returns how it is reached, in words, once `isMeant` holds. */
  async function owner(machine: Machine, isMeant: (reach: StatusView['reachability']) => boolean) {
    await up(machine, 'owner', '--no-ingress', '--bootstrap', bootstrap)
    const api = machine.spawn(process.execPath, ['--input-type=module', '--eval', API])
    const endpoint = `http://127.0.0.1:${await firstLine(api.stdout!, 'the API')}/`
    await cli(
      machine,
      'owner',
      'api',
      'register',
      '--name',
      'home',
      '--endpoint',
      endpoint,
      '--price',
      '0',
      '--protocol',
      'REST'
    )
    return eventually('the owner to be reachable', READY_MS, async () => {
      const reach = await reachOf(machine, 'owner')
      return isMeant(reach) ? reach : undefined
    })
  }
  /** The time of a call at the consumer's ingress, in milliseconds. */
  async function call(machine: Machine, profile: string): Promise<number> {
    const { body, ms } = await cli<{ body: unknown; ms: number }>(machine, profile, 'call', 'home', '{}')
    assert.deepEqual(body, { from: 'home' })
    return Math.round(ms)
  }
  /** How a consumer is connected to the owner: all peers but the bootstrap. */
  async function linksOf(machine: Machine, profile: string): Promise<string[]> {
    const { peers } = await cli<{ peers: Array<{ peer: string; addresses: string[] }> }>(machine, profile, 'peers')
    return peers.filter(({ peer }) => !bootstrap.endsWith(peer)).flatMap(({ addresses }) => addresses)
  }
  const isRelayed = (address: string) => address.includes('/p2p-circuit')

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-routers-'))
    internet = await machines([1, 2, 3, 4].map((last) => [`11.1.1.${last}/24`]))
  })
  afterEach(async () => {
    for (const network of homes.splice(0)) await network.close()
    await internet?.close()
    await rm(home, { recursive: true, force: true })
  })

  async function startBootstrap(...flags: string[]): Promise<void> {
    bootstrap = (await up(internet.all[0]!, 'bootstrap', '--no-ingress', ...flags)).p2p[0] ?? ''
  }

  it('announce the address of a router that forwards the port, after the bootstrap dialled it', async () => {
    await startBootstrap()
    const host = await behindRouter(internet.all[1]!, 'a', { forwarded: 4402 })
    const reach = await owner(host, ({ state }) => state === 'direct')
    assert.equal(reach.text, 'reachable directly at 11.1.1.2:4402')
    assert.equal(reach.confirmed, true)
    await up(internet.all[3]!, 'consumer', '--bootstrap', bootstrap)
    const ms = await call(internet.all[3]!, 'consumer')
    assert.ok(!(await linksOf(internet.all[3]!, 'consumer')).some(isRelayed))
    console.log(`      | forwards the port | ${ms} ms, direct | |`)
  })

  for (const kind of ['full-cone', 'port-restricted', 'symmetric', 'two routers', 'web-only'] as const) {
    it(`are called behind a router of this kind: ${kind}`, async () => {
      const isWebOnly = kind === 'web-only'
      await startBootstrap(...(isWebOnly ? ['--p2p-port', '443'] : []))
      const router: { kind: RouterKind } = { kind: kind === 'two routers' ? 'symmetric' : kind }
      const nearest = await behindRouter(internet.all[1]!, 'a', router)
      const host = kind === 'two routers' ? await behindRouter(nearest, 'b', router) : nearest
      const reach = await owner(host, ({ state }) => state === 'relayed')
      assert.equal(reach.text, 'reachable through 1 relay; forward TCP port 4402 to be faster')

      const inside = await behindRouter(internet.all[2]!, 'c', router)
      await up(inside, 'inside', '--bootstrap', bootstrap)
      const insideMs = await call(inside, 'inside')
      assert.ok((await linksOf(inside, 'inside')).every(isRelayed))

      await up(internet.all[3]!, 'public', '--bootstrap', bootstrap)
      const publicMs = await call(internet.all[3]!, 'public')
      if (!isWebOnly) {
        await eventually('a direct link', READY_MS, async () =>
          (await linksOf(internet.all[3]!, 'public')).some((link) => !isRelayed(link)) ? true : undefined
        )
      }
      const nextMs = await call(internet.all[3]!, 'public')
      const then = isWebOnly ? 'relayed' : 'direct'
      console.log(`      | ${kind} | ${publicMs} ms relayed, then ${nextMs} ms ${then} | ${insideMs} ms relayed |`)
    })
  }
})

async function firstLine(stream: NodeJS.ReadableStream, what: string): Promise<string> {
  const lines = createInterface({ input: stream })
  const [line] = (await within(what, READY_MS, Promise.race([once(lines, 'line'), once(lines, 'close')]))) as [string?]
  return line ?? assert.fail(`${what} ended without output`)
}
