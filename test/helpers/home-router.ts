import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Machine, type Machines, machines } from './machines.ts'

/**
 * How a router translates connections that its network opens (RFC 4787 and RFC 5382):
 * - `full-cone`: keeps the port, and lets everybody in at it;
 * - `port-restricted`: keeps the port, and lets only the contacted peer answer;
 * - `symmetric`: uses a random port for each connection;
 * - `web-only`: as `symmetric`, and lets nothing out but TCP port 443.
 */
export type RouterKind = 'full-cone' | 'port-restricted' | 'symmetric' | 'web-only'

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
  const [outside, inside, , ports] = process.argv.slice(1)
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
  const [outside, inside, control, kind, forwarded, lanHost] = process.argv.slice(1)
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
  /** The router's own program opens and closes ports: \`open <port> <port inside>\`, \`close <port>\`. */
  const open = new Map()
  createServer((on) => on.once('data', (line) => {
    const [verb, port, lanPort] = line.toString().split(' ')
    open.get(port)?.close()
    open.delete(port)
    if (verb === 'open') open.set(port, letIn(Number(port), Number(lanPort)))
  })).listen(control)
  relays(outside, dial, () => {
    if (forwarded === '0') console.log('ready')
    else letIn(Number(forwarded), forwarded, () => console.log('ready'))
  })`

/** The router's program that forwards ports on request, by NAT-PMP (RFC 6886) or UPnP (WANIPConnection:1). */
const FORWARDS = `
  import { createSocket } from 'node:dgram'
  import { createServer } from 'node:http'
  import { connect } from 'node:net'
  const [control, by, lan] = process.argv.slice(1)
  const tell = (...words) => connect(control).end(words.join(' '))
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  if (by === 'NAT-PMP') socket.on('message', (request, { port, address }) => {
    const [inner, outer, seconds] = [request.readUInt16BE(4), request.readUInt16BE(6), request.readUInt32BE(8)]
    if (seconds > 0) tell('open', outer, inner)
    else tell('close', inner)
    const response = Buffer.alloc(16)
    response.writeUInt8(130, 1)
    response.writeUInt16BE(inner, 8)
    response.writeUInt16BE(outer, 10)
    response.writeUInt32BE(seconds, 12)
    socket.send(response, port, address)
  }).bind(5351, () => console.log('ready'))
  else socket.on('message', (message, { port, address }) => {
    if (/^M-SEARCH/.test(message)) socket.send('HTTP/1.1 200 OK\\r\\nLOCATION: http://' + lan + ':5000/root.xml\\r\\n\\r\\n', port, address)
  }).bind(1900, () => {
    socket.addMembership('239.255.255.250', lan)
    createServer((request, response) => {
      if (request.method === 'GET') return response.end('<root><device><serviceList><service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType><controlURL>/control</controlURL></service></serviceList></device></root>')
      let body = ''
      request.on('data', (chunk) => { body += chunk }).on('end', () => {
        const value = (name) => new RegExp('<' + name + '>([^<]*)<').exec(body)[1]
        if (/#AddPortMapping"/.test(request.headers.soapaction)) tell('open', value('NewExternalPort'), value('NewInternalPort'))
        else tell('close', value('NewExternalPort'))
        response.end('<s:Envelope/>')
      })
    }).listen(5000, lan, () => console.log('ready'))
  })`

const LAN_HOST = '192.168.1.2'
/** Ports of peers that a router lets its network dial. */
const PORTS = { 'web-only': '443', others: '443,4402,4403' }

export interface HomeNetwork {
  /** The machine behind the router. */
  readonly host: Machine
  /** The router restarts, and knows none of its connections any more. Neither end of them hears of it. */
  restart(): Promise<void>
  close(): Promise<void>
}

export interface HomeRouterInit {
  /** Default `symmetric`. */
  readonly kind?: RouterKind
  /** The TCP port that the router forwards to the machine; 0 for none, which is the default. */
  readonly forwarded?: number
  /** Forwards ports to machines that ask by this protocol. Default: none. */
  readonly forwardsBy?: 'UPnP' | 'NAT-PMP'
}

/**
 * A home network behind a router, whose outer side is a machine of another network. The router is two programs in user
 * space: it translates TCP, so that peers see the router's address, and drops what it does not let in.
 */
export async function homeNetwork(
  outer: Machine,
  name: string,
  { kind = 'symmetric', forwarded = 0, forwardsBy }: HomeRouterInit = {}
): Promise<HomeNetwork> {
  const sockets = await mkdtemp(join(tmpdir(), 'souk-router-'))
  const lan: Machines = await machines([['192.168.1.1/24'], [`${LAN_HOST}/24`]], name)
  const [router, host] = lan.all as [Machine, Machine]
  const paths = ['outside', 'inside', 'control'].map((name) => join(sockets, name))
  const node = (on: Machine, program: string, ...args: string[]) =>
    on.spawn(process.execPath, ['--input-type=module', '--eval', program, ...args])
  await router.run('ip', ['route', 'add', 'local', '11.0.0.0/8', 'dev', 'lo'])
  await router.run('ip', ['link', 'set', 'lo', 'up'])
  await host.run('ip', ['route', 'add', 'default', 'via', '192.168.1.1'])
  const startOutside = () => node(outer, OUTSIDE, ...paths, kind, String(forwarded), LAN_HOST)
  let outside = startOutside()
  const halves = [node(router, INSIDE, ...paths, kind === 'web-only' ? PORTS[kind] : PORTS.others), outside]
  const programs =
    forwardsBy === undefined ? halves : [...halves, node(router, FORWARDS, paths[2]!, forwardsBy, '192.168.1.1')]
  await Promise.all(programs.map((program) => once(program.stdout!, 'data')))
  return {
    host,
    async restart() {
      // Its sockets stay open, but pass nothing on.
      outside.kill('SIGSTOP')
      await Promise.all(['outside', 'control'].map((each) => rm(join(sockets, each))))
      outside = startOutside()
      await once(outside.stdout!, 'data')
    },
    async close() {
      await lan.close()
      await rm(sockets, { recursive: true, force: true })
    }
  }
}
