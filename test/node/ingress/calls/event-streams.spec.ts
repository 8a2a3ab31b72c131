import assert from 'node:assert/strict'
import { createClient } from 'graphql-sse'
import { handler } from '../../../../lib/index.ts'
import { graphqlFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type YogaServer, yogaServer } from '../../../helpers/yoga.ts'
import { Counting } from '../../../helpers/counting.ts'
import { eventually } from '../harness.ts'

const FOREVER = new AbortController().signal
const TOKEN = 'x-graphql-event-stream-token'

describe('many operations on one event stream', () => {
  let bench: OverlayBench
  let yoga: YogaServer
  let url: string
  const counting = new Counting()

  before(async () => {
    bench = await overlayBench()
    yoga = await yogaServer({
      typeDefs: `
        type Query { hello: String }
        ${Counting.TYPE}
      `,
      resolvers: {
        Query: { hello: () => 'world' },
        Subscription: counting.resolvers
      }
    })
    const config = { endpoint: yoga.url }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    await bench.owner.serve({ name: 'counts', price: '0.001' }, graphqlFactory.open(config, snapshot))
    await bench.owner.serve(
      { name: 'rest', price: '0', forwardsPaths: true },
      handler(({ method }) => method)
    )
    url = `${bench.url}/api/demo/api/counts`
  })
  after(async () => {
    await bench.close()
    await yoga.close()
  })

  const reserve = async () => (await bench.fetch(url, { method: 'PUT' })).text()
  const post = (token: string, query: string, operationId?: unknown) =>
    bench.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [TOKEN]: token },
      body: JSON.stringify({ query, extensions: { operationId } })
    })

  it('work with a GraphQL over SSE client in single connection mode', async () => {
    let streams = 0
    const client = createClient({
      url,
      singleConnection: true,
      retryAttempts: 0,
      fetchFn: (input: string, init: RequestInit) => {
        if (init.method === undefined || init.method === 'GET') streams++
        return bench.fetch(input, init)
      }
    })
    const results = async (query: string, most = Infinity) => {
      const all: unknown[] = []
      for await (const { data, errors } of client.iterate({ query })) {
        all.push(errors?.map(({ message }) => message) ?? data)
        if (all.length === most) break
      }
      return all
    }
    const counted = (name: string, to: number) => Array.from({ length: to }, (_, index) => ({ [name]: index + 1 }))
    const [counts, forever, hello, wrong] = await Promise.all([
      results('subscription { count(to: 50) }'),
      results('subscription { forever }', 5),
      results('{ hello }'),
      results('subscription { nothing }')
    ])
    assert.deepEqual(counts, counted('count', 50))
    assert.deepEqual(forever, counted('forever', 5))
    assert.deepEqual(hello, [{ hello: 'world' }])
    assert.deepEqual(wrong, [['Cannot query field "nothing" on type "Subscription".']])
    assert.equal(streams, 1)
    await eventually(() => counting.running === 0)
    client.dispose()
  })

  it('report the cost of an operation', async () => {
    const response = await post(await reserve(), '{ hello }', 'a')
    assert.deepEqual([response.status, await response.text()], [202, ''])
    assert.equal(response.headers.get('souk-price'), '0.001')
  })

  it('end at the API when the stream is closed', async () => {
    const token = await reserve()
    const stream = await fetch(`${url}?token=${token}`, { headers: { accept: 'text/event-stream' } })
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(stream.headers.get('x-accel-buffering'), 'no')
    assert.equal((await post(token, 'subscription { forever }', 'a')).status, 202)
    assert.equal((await post(token, 'subscription { forever }', 'b')).status, 202)
    await eventually(() => counting.running === 2)
    await stream.body?.cancel()
    await eventually(() => counting.running === 0)
    assert.equal((await post(token, '{ hello }', 'c')).status, 404)
  })

  it('belong to one key, allow one reader, and require unique operation ids', async () => {
    const token = await reserve()
    const stranger = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [TOKEN]: token },
      body: '{}'
    })
    assert.equal(stranger.status, 401)
    assert.equal((await post('guessed', '{ hello }', 'a')).status, 404)
    assert.equal((await post(token, '{ hello }')).status, 400)
    assert.equal((await post(token, 'subscription { forever }', 'a')).status, 202)
    assert.equal((await post(token, '{ hello }', 'a')).status, 409)
    const stream = await fetch(url, { headers: { accept: 'text/event-stream', [TOKEN]: token } })
    assert.equal((await fetch(url, { headers: { accept: 'text/event-stream', [TOKEN]: token } })).status, 409)
    const stop = (query: string) => bench.fetch(url + query, { method: 'DELETE', headers: { [TOKEN]: token } })
    assert.equal((await stop('')).status, 400)
    assert.equal((await stop('?operationId=a')).status, 200)
    await eventually(() => counting.running === 0)
    await stream.body?.cancel()
  })

  it('are their own after a stopped one with the same id', async () => {
    const token = await reserve()
    const start = async () => assert.equal((await post(token, 'subscription { forever }', 'a')).status, 202)
    const stop = () => bench.fetch(`${url}?operationId=a`, { method: 'DELETE', headers: { [TOKEN]: token } })
    await start()
    await stop()
    await start()
    const stream = await fetch(url, { headers: { accept: 'text/event-stream', [TOKEN]: token } })
    let text = ''
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.includes('"forever":3')) break
    }
    await eventually(() => counting.running === 0)
    assert.doesNotMatch(text, /complete|errors/)
  })

  it('do not affect PUT and `token` parameters of other APIs', async () => {
    const rest = `${bench.url}/api/demo/api/rest`
    assert.equal(await (await bench.fetch(rest, { method: 'PUT' })).json(), 'PUT')
    assert.equal(await (await bench.fetch(`${rest}?token=1`)).json(), 'GET')
    assert.equal((await fetch(rest, { method: 'PUT' })).status, 401)
  })
})
