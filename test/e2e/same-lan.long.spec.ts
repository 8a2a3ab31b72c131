import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { StatusView } from '../../node/admin/api.ts'
import { eventually, within } from '../helpers/eventually.ts'
import { type Machine, type Machines, machines, whyNoMachines } from '../helpers/machines.ts'

const MAIN = resolve(import.meta.dirname, '../../node/main.ts')
const READY_MS = 20_000
const FOUND_MS = 30_000

/** Three machines on one LAN. No node knows the address of another. */
describe('nodes on the same LAN', () => {
  const reason = whyNoMachines()
  if (reason !== undefined) {
    it(`cannot be simulated on this machine: ${reason}`, () => assert.equal(whyNoMachines(), reason))
    return
  }
  let lan: Machines
  let home: string

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-lan-'))
    lan = await machines(
      [1, 2, 3].map((last) => [`10.1.1.${last}/24`]),
      'lan'
    )
    // Machines with a router have a default route, which multicast uses as well.
    for (const machine of lan.all) await machine.run('ip', 'route add 224.0.0.0/4 dev eth0'.split(' '))
  })
  after(async () => {
    await lan?.close()
    await rm(home, { recursive: true, force: true })
  })

  const env = () => ({ ...process.env, SOUK_HOME: home })
  const up = async (machine: Machine, profile: string, ...flags: string[]): Promise<string> => {
    const common = ['--network', 'dev', '--p2p-host', '0.0.0.0', '--payment-scheme', 'metered', '--no-input', '--json']
    const child = machine.spawn(process.execPath, [MAIN, 'up', ...common, '--profile', profile, ...flags], env())
    const lines = createInterface({ input: child.stdout! })
    const [line] = (await within(`souk up of ${profile}`, READY_MS, once(lines, 'line'))) as [string]
    return (JSON.parse(line) as { peer: string }).peer
  }
  const peersOf = async (machine: Machine, profile: string): Promise<string[]> => {
    const { stdout } = await machine.run(process.execPath, [MAIN, '--profile', profile, '--json', 'peers'], env())
    return (JSON.parse(stdout) as { peers: Array<{ peer: string }> }).peers.map(({ peer }) => peer)
  }

  it('find each other without an address, except a node with --no-mdns', async () => {
    const [first, second, third] = lan.all as [Machine, Machine, Machine]
    const ids = [await up(first, 'first'), await up(second, 'second')]
    const alone = await up(third, 'third', '--no-mdns')
    await eventually('the two to meet', FOUND_MS, async () =>
      (await peersOf(second, 'second')).includes(ids[0]!) ? true : undefined
    )
    assert.deepEqual(await peersOf(first, 'first'), [ids[1]])
    assert.deepEqual(await peersOf(third, 'third'), [])
    assert.ok(!ids.includes(alone))
    const { stdout } = await first.run(process.execPath, [MAIN, '--profile', 'first', '--json', 'status'], env())
    assert.equal((JSON.parse(stdout) as StatusView).peers, 1)
  })
})
