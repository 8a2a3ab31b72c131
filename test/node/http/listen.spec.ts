import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { listenOnFreePort } from '../../../node/http/listen.ts'

describe('listenOnFreePort', () => {
  const servers: Server[] = []
  const server = () => {
    const made = createServer()
    servers.push(made)
    return made
  }
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((each) => new Promise((resolve) => each.close(resolve))))
  })

  it('uses any free port for 0', async () => {
    const { host, port } = await listenOnFreePort(server(), { host: '127.0.0.1', port: 0 })
    assert.equal(host, '127.0.0.1')
    assert.ok(port > 0)
  })

  it('skips taken ports upwards', async () => {
    const { port } = await listenOnFreePort(server(), { host: '127.0.0.1', port: 0 })
    const second = await listenOnFreePort(server(), { host: '127.0.0.1', port })
    const third = await listenOnFreePort(server(), { host: '127.0.0.1', port })
    assert.ok(second.port > port && third.port > second.port)
  })

  it('does not move from a requested port', async () => {
    const { port } = await listenOnFreePort(server(), { host: '127.0.0.1', port: 0 })
    const refused = server()
    await assert.rejects(listenOnFreePort(refused, { host: '127.0.0.1', port, exact: true }), { code: 'port_busy' })
    assert.equal(refused.listenerCount('listening') + refused.listenerCount('error'), 0)
  })

  it('refuses a requested port that HTTP clients refuse, and moves past others', async () => {
    for (const port of [1, 6000, 6665, 10_080]) {
      await assert.rejects(fetch(`http://127.0.0.1:${port}`), (error: Error) => /bad port/.test(String(error.cause)))
      await assert.rejects(listenOnFreePort(server(), { host: '127.0.0.1', port, exact: true }), {
        code: 'config_invalid'
      })
    }
    const { port } = await listenOnFreePort(server(), { host: '127.0.0.1', port: 6_665 })
    assert.ok(port > 6_669)
    const raw = await listenOnFreePort(server(), { host: '127.0.0.1', port: 6_665, isRaw: true })
    assert.ok(raw.port >= 6_665)
  })

  it('reports an address that is not of this machine', async () => {
    await assert.rejects(listenOnFreePort(server(), { host: '192.0.2.1', port: 0 }), {
      code: 'start_failed',
      hint: /an address of this machine/
    })
  })

  it('fails after the highest port', async () => {
    const holder = server()
    const taken = await listenOnFreePort(holder, { host: '127.0.0.1', port: 65_535, exact: true }).catch(
      () => undefined
    )
    const wish = { host: '127.0.0.1', port: 65_535 }
    await assert.rejects(listenOnFreePort(server(), wish), { code: 'port_busy' }, String(taken?.port))
  })
})
