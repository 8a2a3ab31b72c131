import assert from 'node:assert/strict'
import { once } from 'node:events'
import { GraphQLError } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { handler, limits } from '../../../../lib/index.ts'
import { graphqlFactory } from '../../../../protocols/index.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type YogaServer, yogaServer } from '../../../helpers/yoga.ts'
import { Counting } from '../../../helpers/counting.ts'
import { RawClient } from '../harness.ts'

const FOREVER = new AbortController().signal
/** The part of a result that the tests read. */
type Result = { readonly data?: Readonly<Record<string, unknown>> | null | undefined }
const PROTOCOL = 'graphql-transport-ws'

describe('graphql-ws at the ingress', () => {
  let bench: OverlayBench
  let yoga: YogaServer
  let url: string
  const counting = new Counting()
  const open: Array<() => void> = []

  before(async () => {
    bench = await overlayBench()
    yoga = await yogaServer({
      typeDefs: `
        scalar Big
        type Query { hello(big: Big): String barred: String! }
        ${Counting.TYPE}
      `,
      resolvers: {
        Query: {
          hello: (_parent, { big }) => (big === undefined ? 'world' : `${big as unknown as number}`),
          barred: () => {
            throw new GraphQLError('Log in first.', { extensions: { http: { status: 401 } } })
          }
        },
        Subscription: counting.resolvers
      }
    })
    const config = { endpoint: yoga.url }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    await bench.owner.serve({ name: 'counts', price: '0.001' }, graphqlFactory.open(config, snapshot))
    await bench.owner.serve(
      { name: 'rest', price: '0' },
      handler(() => 1)
    )
    url = `${bench.url.replace('http', 'ws')}/api/demo/api/counts`
  })
  after(async () => {
    await bench.close()
    await yoga.close()
  })
  afterEach(() => {
    for (const close of open.splice(0)) close()
  })

  function client(connectionParams: Record<string, string> = { 'X-Consumer-Key': bench.key }): Client {
    const made = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams })
    open.push(() => void made.dispose())
    return made
  }
  async function allOf(query: string, made = client()): Promise<Result[]> {
    const results: Result[] = []
    for await (const result of made.iterate({ query })) results.push(result)
    return results
  }
  /** A client without a library. */
  async function raw(at = url, protocols: string[] = [PROTOCOL]) {
    const ws = new WebSocket(at, protocols)
    open.push(() => ws.terminate())
    await once(ws, 'open')
    const closed = once(ws, 'close').then(([code, reason]) => [code, String(reason)] as const)
    return {
      ws,
      closed,
      send: (message: unknown) => ws.send(typeof message === 'string' ? message : JSON.stringify(message))
    }
  }
  const init = () => ({ type: 'connection_init', payload: { 'x-consumer-key': bench.key } })

  it('runs queries and subscriptions of an unmodified client', async () => {
    const made = client()
    assert.deepEqual(await allOf('{ hello }', made), [{ data: { hello: 'world' } }])
    const counted = await Promise.all([3, 5].map((to) => allOf(`subscription { count(to: ${to}) }`, made)))
    assert.deepEqual(
      counted.map((results) => results.map(({ data }) => data?.['count'])),
      [
        [1, 2, 3],
        [1, 2, 3, 4, 5]
      ]
    )
  })

  it('reports a document that is not valid, and charges nothing', async () => {
    await assert.rejects(allOf('{ nothing }'), ([error]: Array<{ message: string }>) => {
      assert.match(error?.message ?? '', /Cannot query field "nothing"/)
      return true
    })
  })

  it('reports the errors of a response whose status is an error', async () => {
    await assert.rejects(allOf('{ barred }'), ([error]: Array<{ message: string }>) => {
      assert.equal(error?.message, 'Log in first.')
      return true
    })
  })

  it("reports the marketplace's own errors with their code", async () => {
    const poor = client({ 'X-Consumer-Key': bench.key, 'Souk-Max-Price': '0.0001' })
    await assert.rejects(allOf('{ hello }', poor), ([error]: Array<{ extensions: { code: string } }>) => {
      assert.equal(error?.extensions.code, 'price_exceeds_limit')
      return true
    })
  })

  it('stops the operation at the API when the client stops it, and takes its id again', async () => {
    const { ws, send } = await raw()
    const next = () =>
      once(ws, 'message').then(([data]) => JSON.parse(String(data)) as { type: string; payload: unknown })
    send(init())
    assert.equal((await next()).type, 'connection_ack')
    send({ id: '1', type: 'subscribe', payload: { query: 'subscription { forever }' } })
    assert.equal((await next()).type, 'next')
    send({ id: '1', type: 'complete' })
    await eventually('the API hears of it', 5_000, () => counting.running === 0 || undefined)
    ws.removeAllListeners('message')
    send(
      '{"id":"2","type":"subscribe","payload":{"query":"query ($b: Big) { hello(big: $b) }","variables":{"b":12345678901234567890}}}'
    )
    const results: unknown[] = []
    ws.on('message', (data) => results.push(JSON.parse((data as Buffer).toString())))
    await eventually('the result', 5_000, () => results.length === 2 || undefined)
    assert.deepEqual(results[1], { id: '2', type: 'complete' })
  })

  it('ends all operations of a client that disconnects', async () => {
    const { ws, send } = await raw()
    send(init())
    for (const id of ['a', 'b']) {
      await once(ws, 'message')
      send({ id, type: 'subscribe', payload: { query: 'subscription { forever }' } })
    }
    await eventually('both run', 5_000, () => counting.running === 2 || undefined)
    ws.terminate()
    await eventually('none runs', 5_000, () => counting.running === 0 || undefined)
  })

  const refused: ReadonlyArray<readonly [what: string, messages: () => unknown[], code: number, reason?: string]> = [
    ['without a key', () => [{ type: 'connection_init' }], 4403, 'key_missing'],
    [
      'with an invalid key',
      () => [{ type: 'connection_init', payload: { 'X-Consumer-Key': 'souk_no' } }],
      4403,
      'key_invalid'
    ],
    [
      'that starts before its key was checked',
      () => [{ id: '1', type: 'subscribe', payload: { query: '{ hello }' } }],
      4401
    ],
    ['that sends its key twice', () => [init(), init()], 4429],
    ['that sends no JSON', () => ['no'], 4400],
    ['that sends a list', () => ['[1]'], 4400],
    ['that sends an unknown message', () => [{ type: 'start' }], 4400],
    ['that sends too long a message', () => ['x'.repeat(limits.GRAPHQL_SOCKET_MESSAGE_BYTES_MAX + 1)], 1009]
  ]
  for (const [what, messages, code, reason] of refused) {
    it(`closes the connection of a client ${what}`, async () => {
      const { closed, send } = await raw()
      for (const message of messages()) send(message)
      const [given, why] = await closed
      assert.equal(given, code)
      if (reason !== undefined) assert.equal(why, reason)
    })
  }

  it('closes the connection of a client that uses an id twice, or too many', async () => {
    const twice = await raw()
    twice.send(init())
    await once(twice.ws, 'message')
    const operation = (id: string) => ({ id, type: 'subscribe', payload: { query: 'subscription { forever }' } })
    twice.send(operation('1'))
    twice.send(operation('1'))
    assert.equal((await twice.closed)[0], 4409)
  })

  it('takes no WebSocket of other APIs, protocols and addresses', async () => {
    const rest = await raw(url.replace('counts', 'rest'))
    rest.send(init())
    assert.deepEqual(await rest.closed, [4400, 'upgrade_required'])
    for (const [at, protocol] of [
      [url, 'graphql-ws'],
      [url, 'chat'],
      [`${url}/below`, PROTOCOL],
      [url.replace('/api/demo/api/counts', '/v1/apis'), PROTOCOL]
    ] as const) {
      const ws = new WebSocket(at, [protocol])
      const [{ message }] = (await once(ws, 'error').catch((error: unknown) => [error])) as [Error]
      assert.match(message, /Unexpected server response: 426/, `${at} ${protocol}`)
    }
  })

  it('refuses a malformed handshake with a problem document', async () => {
    const client = new RawClient(Number(new URL(bench.url).port))
    open.push(() => client.destroy())
    const head = ['GET /api/demo/api/counts HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket']
    client.send([...head, `Sec-WebSocket-Protocol: ${PROTOCOL}`, 'Sec-WebSocket-Key: x', '\r\n'].join('\r\n'))
    const received = await client.closed()
    assert.match(received, /^HTTP\/1\.1 400 /)
    assert.match(received, /\r\nSec-WebSocket-Version: 13\r\n/)
    assert.match(received, /"code":"invalid_request"/)
  })

  it('closes when its node shuts down', async () => {
    const other = await overlayBench()
    const { ws, closed } = await raw(`${other.url.replace('http', 'ws')}/api/demo/api/counts`)
    await other.close()
    assert.equal((await closed)[0], 1012)
    ws.terminate()
  })
})
