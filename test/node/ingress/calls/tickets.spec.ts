import assert from 'node:assert/strict'
import { EventSource } from 'undici'
import { limits, systemClock } from '../../../../lib/index.ts'
import type { Clock } from '../../../../lib/interface/index.ts'
import { restFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

const NEVER = new AbortController().signal
const response = { description: 'Prices', content: { 'text/event-stream': {} } }
const parameters = [
  { name: 'symbol', in: 'query', required: true, schema: { type: 'array', items: { type: 'string' } } },
  { name: 'depth', in: 'query', schema: { type: 'integer' } }
]
const text = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Prices', version: '1' },
  paths: {
    '/follow': { get: { operationId: 'follow', parameters, responses: { 200: response } } },
    '/other': { get: { operationId: 'other', responses: { 200: response } } }
  }
})

/** Tickets do not expire, however long a busy machine takes to use them. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => (delayMs === limits.TICKET_MS ? { cancel() {} } : systemClock.after(delayMs, task))
}

describe('an event stream by GET', () => {
  let bench: OverlayBench
  let upstream: ScriptedUpstream
  const opened: EventSource[] = []

  before(async () => {
    bench = await overlayBench(clock)
    upstream = await scriptedUpstream((reply, { target }) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${target}\n\n`)
    })
    const described = { endpoint: upstream.url, openapi: { text } }
    const { snapshot } = await restFactory.inspect({ ...described, endpoint: upstream.url, method: 'GET' }, NEVER)
    await bench.owner.serve({ name: 'prices', price: '0' }, restFactory.open(described, snapshot))
    await bench.owner.serve(
      { name: 'ticker', price: '0' },
      restFactory.open({ endpoint: upstream.url, method: 'GET' }, '')
    )
  })
  afterEach(() => {
    for (const one of opened.splice(0)) one.close()
  })
  after(async () => {
    await bench.close()
    await upstream.close()
  })

  /** The first event of an `EventSource`, which sends no headers; or the word `error`. */
  const first = (url: string) =>
    new Promise<string>((resolve) => {
      const source = new EventSource(url)
      opened.push(source)
      source.addEventListener('message', ({ data }) => resolve(String(data)))
      source.addEventListener('error', () => resolve('error'))
    })
  const ticketOf = async () => {
    const reply = await bench.fetch(`${bench.url}/v1/tickets`, { method: 'POST' })
    assert.equal(reply.status, 201)
    const { ticket, expires_in_ms: ms } = (await reply.json()) as { ticket: string; expires_in_ms: number }
    assert.equal(ms, 30_000)
    return ticket
  }

  it('opens by a ticket, once', async () => {
    const ticket = await ticketOf()
    const url = `${bench.url}/api/demo/api/ticker?symbol=BTC&ticket=${ticket}`
    assert.equal(await first(url), '/?symbol=BTC')
    const again = await fetch(url, { headers: { accept: 'text/event-stream' } })
    assert.equal(again.status, 401)
    assert.match(await again.text(), /key_invalid.*used or has expired/s)
  })

  it('gives each key a share of the tickets, which used ones return', async () => {
    const key = await bench.newKey()
    const ask = () => fetch(`${bench.url}/v1/tickets`, { method: 'POST', headers: { 'x-consumer-key': key } })
    const tickets: string[] = []
    for (let i = 0; i < limits.TICKETS_PER_HOLDER_MAX; i++)
      tickets.push(((await (await ask()).json()) as { ticket: string }).ticket)
    const refused = await ask()
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '30'])
    assert.match(await refused.text(), /rate_limited.*At most 1000 tickets/s)
    // Other keys have their own share.
    await ticketOf()
    assert.equal(await first(`${bench.url}/api/demo/api/ticker?ticket=${tickets[0]}`), '/')
    assert.equal((await ask()).status, 201)
    assert.equal((await ask()).status, 429)
  })

  it('gives the fields of a described call their types', async () => {
    const url = `${bench.url}/api/demo/api/prices?operation=follow&symbol=BTC&depth=5&ticket=${await ticketOf()}`
    assert.equal(await first(url), '/follow?symbol=BTC&depth=5')
    const wrong = await bench.fetch(`${bench.url}/api/demo/api/prices?operation=follow&symbol=BTC&depth=x`, {
      headers: { accept: 'text/event-stream' }
    })
    assert.equal(wrong.status, 400)
    assert.match(await wrong.text(), /depth/)
  })

  it('needs a key or a ticket, and nothing else is called by a ticket', async () => {
    const accept = { accept: 'text/event-stream' }
    const without = await fetch(`${bench.url}/api/demo/api/ticker`, { headers: accept })
    assert.equal(without.status, 401)
    assert.equal((await fetch(`${bench.url}/v1/tickets`, { method: 'POST' })).status, 401)
    const ticket = await ticketOf()
    const plain = await fetch(`${bench.url}/api/demo/api/ticker?ticket=${ticket}`)
    assert.equal(plain.status, 401)
    const posted = await fetch(`${bench.url}/api/demo/api/ticker?ticket=${ticket}`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', ...accept }
    })
    assert.equal(posted.status, 401)
    const json = await bench.fetch(`${bench.url}/api/demo/api/ticker`)
    assert.equal(json.status, 405)
  })
})
