import assert from 'node:assert/strict'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { eventually, PROVIDER, RawClient, type Running, startIngress } from '../harness.ts'

const SLOW = '/api/shop.example/api/counts'

describe('ingress: clients that leave while the scope is looked up', () => {
  let ingress: Running
  let looked: PromiseWithResolvers<string>
  let lookups = 0
  const clients: RawClient[] = []
  before(async () => {
    const providerOf = () => {
      lookups++
      return looked.promise
    }
    ingress = await startIngress({}, undefined, undefined, { providerOf })
    const manifest = manifestOf(PROVIDER, { name: 'counts', protocol: 'GraphQL' })
    const signed = { id: `counts@${PROVIDER}`, envelope: new Uint8Array(0), manifest } as const
    ingress.onResolve = async () => ({ signed, owners: [] })
  })
  beforeEach(() => {
    looked = Promise.withResolvers()
    lookups = 0
  })
  after(async () => {
    for (const client of clients) client.destroy()
    await ingress.close()
  })

  const send = (head: string) => {
    const client = new RawClient(ingress.port)
    clients.push(client)
    return client.send(`${head} HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n`)
  }
  /** Sends a request whose client leaves before the scope is known. */
  const leave = async (head: string, rest: string) => {
    const client = send(head).send(rest)
    await eventually(() => lookups === 1)
    client.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    looked.resolve(PROVIDER)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }

  it('do not hold an event stream', async () => {
    const reserved = await fetch(`${ingress.url}/api/demo/api/counts`, {
      method: 'PUT',
      headers: { 'x-consumer-key': ingress.key }
    })
    const token = await reserved.text()
    await leave(`GET ${SLOW}?token=${token}`, '\r\n')
    const client = send(`GET /api/demo/api/counts?token=${token}`).send('\r\n')
    assert.match(await client.until('\r\n\r\n'), /^HTTP\/1.1 200 /)
  })

  it('end their call', async () => {
    await leave(`GET ${SLOW}/all`, '\r\n')
    assert.deepEqual(
      ingress.calls.map(({ signal }) => signal?.aborted),
      [true]
    )
  })
})
