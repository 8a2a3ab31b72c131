import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Machine, type Machines, machines } from './machines.ts'

/**
 * How a router translates connections that its network opens (RFC 4787 and RFC 5382):
 * - `full-cone`: keeps the port, and lets everybody in at it;
 * - `port-restricted`: keeps the port, and lets only the contacted peer answer;
 * - `symmetric`: uses a random port for each connection.
 */
export type RouterKind = 'full-cone' | 'port-restricted' | 'symmetric'

/** Parts of both halves of a router. */
const JOIN = `
  import { createServer, connect } from 'node:net'
  function join(a, b) {
    a.pipe(b).pipe(a)
    for (const [one, other] of [[a, b], [b, a]]) one.on('error', () => other.destroy()).on('close', () => other.destroy())
  }
  /** Accepts connections of the other half, which start with a line: the place to dial, and the port inside. */
  const relays = (path, dial, ready) => createServer((on) => on.once('data', (line) => {
    const end = line.indexOf('\\n')
    on.unshift(line.subarray(end + 1))
    join(on, dial(...line.subarray(0, end).toString().split(' ')))
  })).listen(path, ready)
  /** Opens a connection to the other half. The line is written first, because bytes of the peer may already wait. */
  function handOver(socket, path, ...line) {
    const on = connect(path)
    on.write(line.join(' ') + '\\n')
    join(socket, on)
  }`

/**
 * The half of a router inside its network. It accepts connections to any address of the Internet, which the kernel
 * delivers to it by a `local` route, and hands them to the half outside.
 */
const INSIDE = `${JOIN}
  const [outside, inside, ports] = process.argv.slice(1)
  const listening = ports.split(',').map((port) => new Promise((resolve) => {
    const server = createServer((socket) => handOver(socket, outside, socket.localAddress, port, socket.remotePort))
    server.listen({ port, host: '0.0.0.0' }, resolve)
  }))
  relays(inside, (host, port) => connect({ host, port }), async () => {
    await Promise.all(listening)
    console.log('ready')
  })`

/** The half outside dials from the router's own address. It lets in what its kind says, and what it forwards. */
const OUTSIDE = `${JOIN}
  const [outside, inside, kind, forwarded, lanHost] = process.argv.slice(1)
  const letIn = (port, lanPort, ready) =>
    createServer((socket) => handOver(socket, inside, lanHost, lanPort)).on('error', () => {}).listen({ port, host: '0.0.0.0' }, ready)
  function dial(host, port, lanPort) {
    const keepsPort = kind === 'full-cone' || kind === 'port-restricted'
    const socket = connect({ host, port, ...(keepsPort ? { localPort: Number(lanPort) } : {}) })
    if (kind === 'full-cone') socket.once('connect', () => {
      const open = letIn(Number(lanPort), lanPort)
      socket.once('close', () => open.close())
    })
    return socket
  }
  relays(outside, dial, () => {
    if (forwarded === '0') console.log('ready')
    else letIn(Number(forwarded), forwarded, () => console.log('ready'))
  })`

const LAN_HOST = '192.168.1.2'
/** Ports of peers that a router lets its network dial. */
const PORTS = '4402,4403'

export interface HomeNetwork {
  /** The machine behind the router. */
  readonly host: Machine
  close(): Promise<void>
}

export interface HomeRouterInit {
  /** Default `symmetric`. */
  readonly kind?: RouterKind
  /** The TCP port that the router forwards to the machine; 0 for none, which is the default. */
  readonly forwarded?: number
}

/**
 * A home network behind a router, whose outer side is a machine of another network. The router is two programs in user
 * space: it translates TCP, so that peers see the router's address, and drops what it does not let in.
 */
export async function homeNetwork(
  outer: Machine,
  name: string,
  { kind = 'symmetric', forwarded = 0 }: HomeRouterInit = {}
): Promise<HomeNetwork> {
  const sockets = await mkdtemp(join(tmpdir(), 'souk-router-'))
  const lan: Machines = await machines([['192.168.1.1/24'], [`${LAN_HOST}/24`]], name)
  const [router, host] = lan.all as [Machine, Machine]
  const paths = [join(sockets, 'outside'), join(sockets, 'inside')]
  const node = (on: Machine, program: string, ...args: string[]) =>
    on.spawn(process.execPath, ['--input-type=module', '--eval', program, ...args])
  await router.run('ip', ['route', 'add', 'local', '11.0.0.0/8', 'dev', 'lo'])
  await router.run('ip', ['link', 'set', 'lo', 'up'])
  await host.run('ip', ['route', 'add', 'default', 'via', '192.168.1.1'])
  const halves = [
    node(router, INSIDE, ...paths, PORTS),
    node(outer, OUTSIDE, ...paths, kind, String(forwarded), LAN_HOST)
  ]
  await Promise.all(halves.map((half) => once(half.stdout!, 'data')))
  return {
    host,
    async close() {
      await lan.close()
      await rm(sockets, { recursive: true, force: true })
    }
  }
}
