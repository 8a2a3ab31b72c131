import assert from 'node:assert/strict'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser } from '../../helpers/browser.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

/** Tries all ways in which a page can send requests to another origin. Returns what the page could read. */
const attack = async (target: string): Promise<string[]> => {
  const read: string[] = []
  const json = { 'content-type': 'application/json' }
  const sent: Array<readonly [path: string, init: RequestInit]> = [
    ['/status', {}],
    ['/keys', { method: 'POST', body: '{"label":"evil"}' }],
    ['/keys', { method: 'POST', body: '{"label":"evil"}', headers: { 'content-type': 'text/plain' } }],
    ['/keys', { method: 'POST', body: '{"label":"evil"}', headers: json }],
    ['/keys', { method: 'POST', body: new URLSearchParams({ label: 'evil' }) }],
    ['/setup-codes', { method: 'POST', body: '{}', headers: json }],
    ['/session', { method: 'POST', body: '{"code":"0000-0000"}', headers: json }],
    ['/session', { method: 'DELETE' }],
    ['/apis/ticker', { method: 'DELETE' }],
    ['/settings', { method: 'PUT', body: '{}', headers: json }]
  ]
  for (const [path, init] of sent) {
    for (const mode of ['cors', 'no-cors', 'same-origin'] as const) {
      try {
        const response = await fetch(`${target}/admin/v1${path}`, { ...init, mode, credentials: 'include' })
        const text = await response.text()
        if (response.ok && text !== '') read.push(`${mode} ${init.method ?? 'GET'} ${path}: ${text}`)
      } catch {
        // The browser did not send the request, or hides its response.
      }
    }
  }
  const loads = (element: HTMLImageElement | HTMLScriptElement | HTMLIFrameElement) =>
    new Promise<void>((resolve) => {
      for (const event of ['load', 'error']) element.addEventListener(event, () => resolve())
      document.body.append(element)
    })
  const src = `${target}/admin/v1/status`
  await loads(Object.assign(new Image(), { src }))
  await loads(Object.assign(document.createElement('script'), { src }))
  const frame = Object.assign(document.createElement('iframe'), { src: `${target}/keys`, name: 'framed' })
  await loads(frame)
  try {
    const framed = frame.contentDocument?.body.textContent ?? ''
    if (framed !== '' && !framed.includes('"ingress_not_allowed"')) read.push(`frame: ${framed}`)
  } catch {
    // The target has another origin.
  }
  // A form needs no preflight. Its enctype makes the body nearly JSON.
  const form = Object.assign(document.createElement('form'), {
    action: `${target}/admin/v1/keys`,
    method: 'post',
    enctype: 'text/plain',
    target: 'framed'
  })
  form.append(Object.assign(document.createElement('input'), { name: '{"label":"evil","x":"', value: '"}' }))
  document.body.append(form)
  const answered = new Promise<void>((resolve) => frame.addEventListener('load', () => resolve()))
  form.submit()
  await answered
  return read
}

describe('a hostile page in the browser of a signed-in user', () => {
  let bench: Bench
  let browser: Browser
  let site: ScriptedUpstream
  let context: BrowserContext
  let console: Page

  before(async () => {
    bench = await startBench()
    await bench.client.request('POST /apis', {
      body: { name: 'ticker', protocol: 'REST', endpoint: 'http://127.0.0.1:9/', price: '0.001' }
    })
    await bench.client.request('POST /keys', { body: { label: 'mine' } })
    site = await scriptedUpstream((response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>hello</title><body></body>')
    )
    browser = await openBrowser()
    console = (await entered(browser, bench)).page
    context = console.context()
  })
  after(async () => {
    await browser?.close()
    await site?.close()
    await bench?.stop()
  })

  /** Asserts that nothing changed, and that the victim's session is still valid. */
  async function assertNothingDone(): Promise<void> {
    const { keys } = await bench.client.request('GET /keys', { query: {} })
    assert.deepEqual(
      keys.map(({ label, state }) => [label, state]),
      [['mine', 'active']]
    )
    assert.equal((await bench.client.request('GET /apis')).apis.length, 1)
    await console.reload()
    await console.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  }

  /** The browser sends the cookie from another port of the same host, so the node must refuse. */
  for (const host of ['127.0.0.1', 'evil.localhost']) {
    it(`on another port of ${host} changes nothing and reads nothing`, async () => {
      const page = await context.newPage()
      await page.goto(site.url.replace('127.0.0.1', host))
      const writes: number[] = []
      page.on('response', (response) => {
        const isTheirs = response.url().startsWith(bench.url) && response.request().method() !== 'GET'
        if (isTheirs) writes.push(response.status())
      })
      assert.deepEqual(await page.evaluate(attack, bench.url), [])
      // The node refuses them because of their Origin, before other checks.
      assert.ok(writes.length > 0)
      assert.deepEqual(new Set(writes), new Set([403]))
      const sent = site.received.at(-1)?.headers.cookie ?? ''
      assert.equal(sent.includes('souk_'), host === '127.0.0.1', 'the browser sends the cookie to the same host')
      await page.close()
      await assertNothingDone()
    })
  }

  it('with DNS rebinding to the node changes nothing and reads nothing', async () => {
    // The name resolves to 127.0.0.1 in Chromium, so page and admin API have the same origin. The first document is the attacker's.
    const origin = `http://rebound.localhost:${new URL(bench.url).port}`
    const page = await context.newPage()
    await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<body></body>' }))
    await page.goto(`${origin}/`)
    assert.deepEqual(await page.evaluate(attack, origin), [])
    const status = await page.evaluate(async () => (await fetch('/admin/v1/session')).status)
    assert.equal(status, 403, 'the request reaches the node, which refuses it')
    await page.close()
    await assertNothingDone()
  })
})
