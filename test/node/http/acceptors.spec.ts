import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '../../../lib/index.ts'
import { listenWide } from '../../../node/http/acceptors.ts'
import { graceful } from '../../../node/http/graceful.ts'
import { eventually, within } from '../../helpers/eventually.ts'
import { freePort } from '../../helpers/free-port.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { until } from '../../helpers/scripted-upstream.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'

const HOST = '127.0.0.1'

describe('listenWide', () => {
  const open: NetServer[] = []
  const sockets: Socket[] = []
  const listening = async (server: Server, port = 0, exact = false, acceptorsMax?: number) => {
    open.push(server)
    const { acceptors, ...place } = await listenWide(server, { host: HOST, port, exact }, acceptorsMax)
    open.push(...acceptors)
    return { acceptors, ...place }
  }
  afterEach(async () => {
    for (const each of sockets.splice(0)) each.destroy()
    await Promise.all(open.splice(0).map((each) => new Promise((resolve) => each.close(resolve))))
  })

  /** Counts turns of a busy event loop until `connections` new connections are accepted. */
  async function turnsUntilAccepted(acceptorsMax: number, connections: number): Promise<number> {
    const server = createServer()
    let accepted = 0
    server.on('connection', () => accepted++)
    const { port } = await listening(server, 0, false, acceptorsMax)
    for (let at = 0; at < connections; at++) sockets.push(connect(port, HOST).on('error', () => {}))
    let turns = 0
    // `setImmediate` in a row keeps the loop busy.
    await new Promise<void>((resolve) => {
      const turn = () => {
        turns++
        if (accepted < connections) setImmediate(turn)
        else resolve()
      }
      turn()
    })
    return turns
  }

  it('accepts many connections in a few turns of a busy loop, if sockets can share a port', async () => {
    const [one, many] = [await turnsUntilAccepted(1, 128), await turnsUntilAccepted(32, 128)]
    assert.ok(
      process.platform !== 'linux' || (one >= 128 && many < 64),
      `${one} turns with one socket, ${many} with 32`
    )
  })

  it('serves requests, and ends with the server after their responses', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let asked = 0
    const server = createServer((_req, res) => {
      asked++
      void promise.then(() => res.end('answered'))
    })
    const ending = graceful(server, systemClock)
    const { port, acceptors } = await listening(server)
    ending.acceptors.push(...acceptors)
    const answers = Array.from({ length: 20 }, async () => (await fetch(`http://${HOST}:${port}`)).text())
    await until(() => asked === 20, 'all requests')
    const closed = ending.close(5_000)
    resolve()
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['answered']))
    await closed
    await assert.rejects(fetch(`http://${HOST}:${port}`))
  })

  it('does not share a port with another such server', async () => {
    const { port } = await listening(createServer())
    const moved = await listening(createServer(), port)
    assert.ok(moved.port > port)
    await assert.rejects(listenWide(createServer(), { host: HOST, port, exact: true }), { code: 'port_busy' })
  })

  it('leaves a port to a node that has claimed it and does not listen yet', async () => {
    if (process.platform !== 'linux') return
    const port = await freePort()
    const claim = createNetServer().listen(`\0souk:${HOST}:${port}`)
    open.push(claim)
    await once(claim, 'listening')
    const moved = await listening(createServer(), port)
    assert.ok(moved.port > port)
  })

  it('closes the sockets of clients that leave during a TLS handshake', async () => {
    const server = createTlsServer(SELF_SIGNED)
    let accepted = 0
    let left = 0
    server.on('connection', (socket: Socket) => {
      accepted++
      socket.once('close', () => left++)
    })
    const { port } = await listening(server)
    const clients = 16
    for (let at = 0; at < clients; at++) {
      const client = connect(port, HOST)
      await once(client, 'connect')
      client.destroy()
    }
    await eventually('all sockets are closed', 5_000, () => (accepted === clients && left === clients) || undefined)
  })

  it('ends without a wait for a client whose TLS handshake ends later', async () => {
    const server = createTlsServer(SELF_SIGNED)
    // Its time limit never comes.
    const ending = graceful(server, manualClock())
    const { port, acceptors } = await listening(server)
    ending.acceptors.push(...acceptors)
    const client = connect(port, HOST)
    sockets.push(client)
    await once(server, 'connection')
    const closed = ending.close(1)
    connectTls({ socket: client, rejectUnauthorized: false }).on('error', () => {})
    await within('the end', 5_000, closed)
  })
})
