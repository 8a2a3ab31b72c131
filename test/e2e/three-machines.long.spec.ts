import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { DoctorView, StatusView } from '../../node/admin/api.ts'
import { within } from '../helpers/eventually.ts'
import { type Machine, type Machines, machines, whyNoMachines } from '../helpers/machines.ts'

const MAIN = resolve(import.meta.dirname, '../../node/main.ts')
const READY_MS = 20_000
const API = `
  import { createServer } from 'node:http'
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"from":"afar"}'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

interface Story {
  readonly title: string
  readonly network: 'dev' | 'base-sepolia'
  /** `--p2p-host` of bootstrap, owner and consumer. */
  readonly hosts: readonly [string, string, string]
  /** Prefixes of the first announced address of the bootstrap and of the owner. */
  readonly told: readonly [string, string]
}

const STORIES: readonly Story[] = [
  {
    title: 'connect when each listens on all interfaces',
    network: 'dev',
    hosts: ['0.0.0.0', '0.0.0.0', '0.0.0.0'],
    told: ['/ip4/11.1.1.1/', '/ip4/11.1.1.2/']
  },
  {
    title: 'connect with public addresses, and do not announce 127.0.0.1',
    network: 'base-sepolia',
    hosts: ['0.0.0.0', '0.0.0.0', '0.0.0.0'],
    told: ['/ip4/11.1.1.1/', '/ip4/11.1.1.2/']
  },
  {
    title: 'connect with configured addresses, and a consumer that is not reachable',
    network: 'base-sepolia',
    hosts: ['11.1.1.1', '11.1.1.2', '127.0.0.1'],
    told: ['/ip4/11.1.1.1/', '/ip4/11.1.1.2/']
  },
  {
    title: 'connect by IPv6',
    network: 'base-sepolia',
    hosts: ['::', '::', '::'],
    told: ['/ip6/2a00:11:1::1/', '/ip6/2a00:11:1::2/']
  }
]

/** Bootstrap, owner and consumer, each on a separate machine with a public address. */
describe('three machines', () => {
  const reason = whyNoMachines()
  if (reason !== undefined) {
    it(`cannot be simulated on this machine: ${reason}`, () => assert.equal(whyNoMachines(), reason))
    return
  }
  let internet: Machines
  let home: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-machines-'))
    internet = await machines([1, 2, 3].map((last) => [`11.1.1.${last}/24`, `2a00:11:1::${last}/64`]))
  })
  afterEach(async () => {
    await internet?.close()
    await rm(home, { recursive: true, force: true })
  })

  const env = () => ({ ...process.env, SOUK_HOME: home })

  /** Starts a node with Souk's default ports, because each machine has its own network. */
  async function up(
    machine: Machine,
    profile: string,
    ...flags: string[]
  ): Promise<{ p2p: string[]; stop(): Promise<void> }> {
    const common = ['--payment-scheme', 'metered', '--no-input', '--json', '--profile', profile]
    const child = machine.spawn(process.execPath, [MAIN, 'up', ...common, ...flags], env())
    const started = JSON.parse(await firstLine(child.stdout!, `souk up of the ${profile}`)) as { p2p: string[] }
    const stop = async () => {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await within(`the end of the ${profile}`, READY_MS, exit)
    }
    return { ...started, stop }
  }
  /** Registers an API that runs on the owner's machine. */
  async function register(owner: Machine): Promise<void> {
    const api = owner.spawn(process.execPath, ['--input-type=module', '--eval', API])
    const endpoint = `http://127.0.0.1:${await firstLine(api.stdout!, 'the API')}/`
    const terms = ['--name', 'afar', '--protocol', 'REST', '--endpoint', endpoint, '--price', '0']
    await cli(owner, 'owner', 'api', 'register', ...terms)
  }
  async function call(consumer: Machine): Promise<void> {
    const { stdout } = await consumer.run(
      process.execPath,
      [MAIN, '--profile', 'consumer', 'call', 'afar', '{}'],
      env()
    )
    assert.deepEqual(JSON.parse(stdout), { from: 'afar' })
  }
  async function cli<View>(machine: Machine, profile: string, ...args: string[]): Promise<View> {
    const { stdout } = await machine.run(process.execPath, [MAIN, '--profile', profile, '--json', ...args], env())
    return JSON.parse(stdout) as View
  }

  for (const { title, network, hosts, told } of STORIES) {
    it(title, async () => {
      const [bootstrap, owner, consumer] = internet.all as [Machine, Machine, Machine]
      const flags = (index: number) => ['--network', network, '--p2p-host', hosts[index]!]
      const first = await up(bootstrap, 'bootstrap', ...flags(0), '--no-ingress')
      const address = first.p2p[0] ?? ''
      assert.ok(address.startsWith(told[0]), first.p2p.join())
      const join = ['--bootstrap', address]
      const sold = await up(owner, 'owner', ...flags(1), '--no-ingress', ...join)
      assert.ok(sold.p2p[0]?.startsWith(told[1]), sold.p2p.join())
      await register(owner)

      await up(consumer, 'consumer', ...flags(2), ...join)
      await call(consumer)

      const { checks } = await cli<DoctorView>(owner, 'owner', 'doctor')
      const named = (name: string) => checks.find((check) => check.name === name)
      assert.equal(named('ports')?.result, 'ok')
      assert.match(named('reachability')?.message ?? '', /^reachable directly at|^reachable in its own network/)
      const { p2p } = await cli<StatusView>(owner, 'owner', 'status')
      const isPublic = network !== 'dev'
      assert.ok(
        p2p.every((address) => !isPublic || address.startsWith(told[1])),
        p2p.join()
      )
      const { peers } = await cli<{ peers: Array<{ addresses: string[] }> }>(consumer, 'consumer', 'peers')
      assert.equal(peers.length, 2)
    })
  }

  for (const laterMs of [0, 500]) {
    it(`connect when the owner starts ${laterMs} ms after the bootstrap node`, async () => {
      const [bootstrap, owner, consumer] = internet.all as [Machine, Machine, Machine]
      const flags = ['--network', 'base-sepolia', '--p2p-host', '0.0.0.0']
      const first = await up(bootstrap, 'bootstrap', ...flags, '--no-ingress')
      await first.stop()
      const join = [...flags, '--bootstrap', first.p2p[0] ?? '']
      const starting = up(bootstrap, 'bootstrap', ...flags, '--no-ingress')
      await pause(laterMs)
      await Promise.all([starting, up(owner, 'owner', ...join, '--no-ingress')])
      await register(owner)
      await up(consumer, 'consumer', ...join)
      await call(consumer)
    })
  }
})

async function firstLine(stream: NodeJS.ReadableStream, what: string): Promise<string> {
  const lines = createInterface({ input: stream })
  const [line] = (await within(what, READY_MS, Promise.race([once(lines, 'line'), once(lines, 'close')]))) as [string?]
  return line ?? assert.fail(`${what} ended without output`)
}
