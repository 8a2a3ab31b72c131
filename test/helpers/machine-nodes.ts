import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import assert from 'node:assert/strict'
import type { StatusView } from '../../node/admin/api.ts'
import { eventually, within } from './eventually.ts'
import type { Machine } from './machines.ts'

const MAIN = resolve(import.meta.dirname, '../../node/main.ts')
/** Starts of a node and of its first links, on a busy machine. */
const READY_MS = 90_000
const API = `
  import { createServer } from 'node:http'
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"from":"home"}'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

type IsMeant = (reach: StatusView['reachability']) => boolean

export interface MachineNode {
  readonly process: ChildProcess
  /** The first announced address; empty where there is none. */
  readonly address: string
  cli<View>(...args: string[]): Promise<View>
  /** Registers the API `home`, and resolves with the node's reach, once `isMeant` holds. */
  sells(isMeant: IsMeant): Promise<StatusView['reachability']>
  /** Resolves with the node's reach, once `isMeant` holds. */
  reaches(isMeant: IsMeant): Promise<StatusView['reachability']>
  /** Calls `home`. The time at the consumer's ingress, in milliseconds. */
  call(): Promise<number>
  /** The addresses of the connections to a peer. */
  linksTo(peer: string): Promise<string[]>
  peerId(): Promise<string>
}

/** Nodes on machines, each started as `souk up` with its default options and ports. */
export async function machineNodes() {
  const home = await mkdtemp(join(tmpdir(), 'souk-machine-nodes-'))
  const env = () => ({ ...process.env, SOUK_HOME: home })

  async function up(machine: Machine, profile: string, ...flags: string[]): Promise<MachineNode> {
    const common = ['--network', 'base-sepolia', '--payment-scheme', 'metered', '--no-input', '--json']
    const child = machine.spawn(process.execPath, [MAIN, 'up', ...common, '--profile', profile, ...flags], env())
    const { p2p } = JSON.parse(await firstLine(child.stdout!, `souk up of the ${profile}`)) as { p2p: string[] }
    async function cli<View>(...args: string[]): Promise<View> {
      const { stdout } = await machine.run(process.execPath, [MAIN, '--profile', profile, '--json', ...args], env())
      return JSON.parse(stdout) as View
    }
    const reaches = (isMeant: IsMeant) =>
      eventually('the owner to be reachable', READY_MS, async () => {
        const { reachability } = await cli<StatusView>('status')
        return isMeant(reachability) ? reachability : undefined
      })
    return {
      process: child,
      address: p2p[0] ?? '',
      cli,
      async sells(isMeant) {
        const api = machine.spawn(process.execPath, ['--input-type=module', '--eval', API])
        const endpoint = `http://127.0.0.1:${await firstLine(api.stdout!, 'the API')}/`
        await cli('api', 'register', '--name', 'home', '--protocol', 'REST', '--endpoint', endpoint, '--price', '0')
        return reaches(isMeant)
      },
      reaches,
      async call() {
        const { body, ms } = await cli<{ body: unknown; ms: number }>('call', 'home', '{}')
        assert.deepEqual(body, { from: 'home' })
        return Math.round(ms)
      },
      async linksTo(peer) {
        const { peers } = await cli<{ peers: Array<{ peer: string; addresses: string[] }> }>('peers')
        return peers.find((each) => each.peer === peer)?.addresses ?? []
      },
      peerId: async () => (await cli<StatusView>('status')).peer
    }
  }
  return { up, close: () => rm(home, { recursive: true, force: true }) }
}

export type MachineNodes = Awaited<ReturnType<typeof machineNodes>>

export const isRelayed = (address: string) => address.includes('/p2p-circuit')

/** Waits for a direct connection to a peer. The first call may still have gone through a relay. */
export const directLink = (from: MachineNode, peer: string) =>
  eventually('a direct link', READY_MS, async () =>
    (await from.linksTo(peer)).some((link) => !isRelayed(link)) ? true : undefined
  )

async function firstLine(stream: NodeJS.ReadableStream, what: string): Promise<string> {
  const lines = createInterface({ input: stream })
  const [line] = (await within(what, READY_MS, Promise.race([once(lines, 'line'), once(lines, 'close')]))) as [string?]
  return line ?? assert.fail(`${what} ended without output`)
}
