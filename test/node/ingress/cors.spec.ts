import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { openBrowser, openPage } from '../../helpers/browser.ts'
import { answering, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { answer, startIngress } from './harness.ts'

const CORS = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-consumer-key' }

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('calls of web pages (CORS)', () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(() => browser.close())

  it('is off by default', async () => {
    const ingress = await startIngress()
    const { headers } = await fetch(`${ingress.url}/livez`, { headers: { origin: 'https://app.example' } })
    assert.equal(headers.get('access-control-allow-origin'), null)
    await ingress.close()
  })

  it('allows the configured origins to call, and to read its headers', async () => {
    const ingress = await startIngress({ corsOrigins: ['https://app.example', 'https://other.example'] })
    const path = '/api/demo/api/ticker'
    const origin = 'https://app.example'
    const preflight = await fetch(ingress.url + path, { method: 'OPTIONS', headers: { origin, ...CORS } })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST.*DELETE/)

    const ok = await ingress.post(path, {}, { origin })
    const refused = await ingress.post(path, {}, { origin, 'x-consumer-key': '' })
    ingress.onCall = () => answer({ body: bytesOf(), headers: [['vary', 'accept']] })
    const streamed = await ingress.post(path, {}, { origin })
    for (const { status, headers } of [ok, refused, streamed]) {
      assert.equal(headers.get('access-control-allow-origin'), origin, String(status))
      assert.match(headers.get('vary') ?? '', /Origin/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
    assert.match(streamed.headers.get('vary') ?? '', /accept/)

    const stranger = await ingress.post(path, {}, { origin: 'https://evil.example' })
    assert.equal(stranger.headers.get('access-control-allow-origin'), null)
    await ingress.close()
  })

  it('lets a page send and read all headers, as clients of the API do', async () => {
    const ingress = await startIngress({ corsOrigins: ['*'] })
    ingress.onCall = () => answer({ headers: [['x-total', '7']] })
    const site = await scriptedUpstream(answering(200, { 'content-type': 'text/html' }, ''))
    const { page } = await openPage(browser, ingress.url)
    // It has another origin, so it needs leave for each header that browsers do not send by themselves.
    await page.goto(site.url)
    const send = {
      authorization: 'Bearer x',
      'x-consumer-key': ingress.key,
      'x-stainless-lang': 'js',
      soapaction: '"a"'
    }
    const read = await page.evaluate(
      async ([url, headers]) => {
        const response = await fetch(url, { method: 'PUT', headers, body: '{}' })
        return [response.status, ...['x-total', 'souk-charged'].map((name) => response.headers.get(name))]
      },
      [`${ingress.url}/api/demo/api/ticker`, { ...send, 'content-type': 'application/json' }] as const
    )
    assert.deepEqual(read, [200, '7', '0.001'])
    await site.close()
    await ingress.close()
  })

  it('lets a page find APIs, and open an event stream by a ticket', async () => {
    const ingress = await startIngress({ corsOrigins: ['*'] })
    ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: bytesOf('data: 7\n\n') })
    const site = await scriptedUpstream(answering(200, { 'content-type': 'text/html' }, ''))
    const { page } = await openPage(browser, ingress.url)
    await page.goto(site.url)
    const read = await page.evaluate(
      async ([url, key]) => {
        const statuses = await Promise.all(
          ['/v1/apis', '/openapi.json', '/livez'].map(async (path) => (await fetch(url + path)).status)
        )
        const got = await fetch(`${url}/v1/tickets`, { method: 'POST', headers: { 'X-Consumer-Key': key } })
        const { ticket } = (await got.json()) as { ticket: string }
        const events = new EventSource(`${url}/api/demo/api/ticker?ticket=${ticket}`)
        const data = await new Promise((resolve, reject) => {
          events.addEventListener('message', (event) => resolve(event.data))
          events.addEventListener('error', () => reject(new Error('no stream')))
        })
        events.close()
        return [...statuses, data]
      },
      [ingress.url, ingress.key] as const
    )
    assert.deepEqual(read, [200, 200, 200, '7'])
    await site.close()
    await ingress.close()
  })

  it('lets a page read every refusal, also of a malformed URL', async () => {
    const ingress = await startIngress({ corsOrigins: ['*'] })
    for (const path of ['/%zz', `/api/demo/api/${'x'.repeat(300)}`, '/nowhere']) {
      const { status, headers } = await fetch(ingress.url + path, { headers: { origin: 'https://app.example' } })
      assert.equal(headers.get('access-control-allow-origin'), '*', `${path}: ${status}`)
    }
    await ingress.close()
  })

  it('leaves OPTIONS requests of other clients alone', async () => {
    const ingress = await startIngress({ corsOrigins: ['https://app.example'] })
    const reply = await fetch(`${ingress.url}/api/demo/api/ticker`, { method: 'OPTIONS' })
    assert.match(reply.headers.get('allow') ?? '', /POST/)
    await ingress.close()
  })

  for (const origin of ['app.example', 'https://app.example/', 'https://app.example/path', '']) {
    it(`rejects "${origin}" as an origin`, async () => {
      await assert.rejects(startIngress({ corsOrigins: [origin] }), { code: 'config_invalid' })
    })
  }
})
