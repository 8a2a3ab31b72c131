import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { type Machine, type Machines, machines } from './machines.ts'

/**
 * The half of a router inside its network. It accepts connections to any address of the Internet, which the kernel
 * delivers to it by a `local` route, and hands them to the half outside.
 */
const INSIDE = `
  import { createServer, connect } from 'node:net'
  const [outside, inside, ports] = process.argv.slice(1)
  for (const port of ports.split(',')) createServer((socket) => {
    const on = connect(outside, () => on.write(socket.localAddress + ' ' + port + '\\n'))
    join(socket, on)
  }).listen({ port, host: '0.0.0.0' })
  function join(a, b) {
    a.pipe(b).pipe(a)
    for (const [one, other] of [[a, b], [b, a]]) one.on('error', () => other.destroy()).on('close', () => other.destroy())
  }
  createServer((on) => on.once('data', (line) => {
    const end = line.indexOf('\\n')
    const [host, port] = line.subarray(0, end).toString().split(' ')
    on.unshift(line.subarray(end + 1))
    join(on, connect({ host, port }))
  })).listen(inside, () => console.log('ready'))`

/** The half outside dials from the router's own address. It lets in what it forwards, and nothing else. */
const OUTSIDE = `
  import { createServer, connect } from 'node:net'
  const [outside, inside, forwarded, host] = process.argv.slice(1)
  function join(a, b) {
    a.pipe(b).pipe(a)
    for (const [one, other] of [[a, b], [b, a]]) one.on('error', () => other.destroy()).on('close', () => other.destroy())
  }
  createServer((on) => on.once('data', (line) => {
    const end = line.indexOf('\\n')
    const [host, port] = line.subarray(0, end).toString().split(' ')
    on.unshift(line.subarray(end + 1))
    join(on, connect({ host, port }))
  })).listen(outside, () => {
    if (forwarded === '0') return console.log('ready')
    createServer((socket) => {
      const on = connect(inside, () => {
        on.write(host + ' ' + forwarded + '\\n')
        join(socket, on)
      })
    }).listen({ port: Number(forwarded), host: '0.0.0.0' }, () => console.log('ready'))
  })`

const LAN_HOST = '192.168.1.2'
/** Ports that the inner half accepts connections to: those of Souk. */
const PORTS = '443,4402,4403'

export interface HomeNetwork {
  /** The machine behind the router. */
  readonly host: Machine
  close(): Promise<void>
}

/**
 * A home network behind a router, whose outer side is a machine of another network. The router is two programs in user
 * space: it translates TCP, so that peers see the router's address, and drops what was not asked for.
 * @param forwarded - the TCP port that the router forwards to the machine; 0 for none
 */
export async function homeNetwork(outer: Machine, name: string, forwarded = 0): Promise<HomeNetwork> {
  const sockets = await mkdtemp(join(tmpdir(), 'souk-router-'))
  const lan: Machines = await machines([['192.168.1.1/24'], [`${LAN_HOST}/24`]], name)
  const [router, host] = lan.all as [Machine, Machine]
  const paths = [join(sockets, 'outside'), join(sockets, 'inside')]
  const node = (on: Machine, program: string, ...args: string[]) =>
    on.spawn(process.execPath, ['--input-type=module', '--eval', program, ...args])
  await router.run('ip', ['route', 'add', 'local', '11.0.0.0/8', 'dev', 'lo'])
  await router.run('ip', ['link', 'set', 'lo', 'up'])
  await host.run('ip', ['route', 'add', 'default', 'via', '192.168.1.1'])
  const halves = [node(router, INSIDE, ...paths, PORTS), node(outer, OUTSIDE, ...paths, String(forwarded), LAN_HOST)]
  await Promise.all(halves.map((half) => once(half.stdout!, 'data')))
  return {
    host,
    async close() {
      await lan.close()
      await rm(sockets, { recursive: true, force: true })
    }
  }
}
