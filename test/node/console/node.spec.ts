import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { axeViolations, downloaded, openBrowser, openPage } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const PAGES = [
  ['/earnings', 'Earnings'],
  ['/wallet', 'Wallet'],
  ['/network', 'Network'],
  ['/settings', 'Settings & diagnostics'],
  ['/setup', 'Set up']
] as const

describe('console of a node', () => {
  let bench: Bench
  let browser: Browser

  before(async () => {
    bench = await startBench()
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await bench?.stop()
  })

  it('shows every page, accessible, without errors and without requests to other origins', async () => {
    const { page, mishaps } = await entered(browser, bench)
    for (const [path, title] of PAGES) {
      await page.goto(bench.url + path)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.loading') === null)
      assert.deepEqual(await axeViolations(page), [], path)
    }
    assert.deepEqual(mishaps, [])
  })

  it('fits on a narrow screen', async () => {
    const { page } = await entered(browser, bench)
    await page.setViewportSize({ width: 400, height: 800 })
    for (const path of ['/', '/calls', '/market', ...PAGES.map(([path]) => path)]) {
      await page.goto(bench.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.loading') === null)
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400, path)
    }
  })

  it('shows all found APIs of the market, page by page', async () => {
    const names = Array.from({ length: 51 }, (_, i) => `page-${String(i).padStart(2, '0')}`)
    for (const name of names) {
      const api = { name, protocol: 'REST', price: '0', description: '', endpoint: 'http://127.0.0.1:9/' } as const
      await bench.client.request('POST /apis', { body: api })
    }
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/market?q=page`)
    await page.getByText('The first 25 found').waitFor()
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await page.getByText('The first 50 found').waitFor()
    await more.click()
    await page.getByText('51 found', { exact: true }).waitFor()
    assert.deepEqual((await page.locator('.listings h2').allTextContents()).sort(), names)
    assert.equal(await more.count(), 0)
    assert.deepEqual(mishaps, [])
  })

  it('reports a node without a wallet, and suggests what to do', async () => {
    const { page } = await entered(browser, bench)
    for (const path of ['/wallet', '/earnings']) {
      await page.goto(bench.url + path)
      await page.getByRole('heading', { name: 'This node moves no money' }).waitFor()
      await page.getByText('souk wallet create').waitFor()
    }
  })

  it('adds a webhook, shows its secret once, tests it and removes it', async () => {
    const server = createServer((request, response) => request.resume().once('end', () => response.end()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/settings`)
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    await page.getByLabel('URL').fill(target)
    await page.getByLabel('It is on this machine').check()
    await page.getByText(`souk webhook add ${target} --allow-private`).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const secret = await page.getByText(/^whsec_/).textContent()
    await page.getByRole('button', { name: 'I have it' }).click()
    await page.getByRole('button', { name: `Test ${target}` }).click()
    await page.getByText('It took a test.').waitFor()
    assert.equal(await page.getByText(secret ?? '').count(), 0)
    await page.getByRole('button', { name: `Remove ${target}` }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('No webhooks yet').waitFor()
    assert.deepEqual(mishaps, [])
    server.close()
  })

  it('gives a code to another browser, lists signed-in browsers, and signs one out', async () => {
    const first = await entered(browser, bench)
    await first.page.goto(`${bench.url}/settings`)
    await first.page.getByRole('button', { name: 'New setup code' }).click()
    const code = await first.page
      .getByRole('dialog')
      .getByText(/^\w{4}-\w{4}$/)
      .textContent()
    await first.page.getByRole('button', { name: 'Done' }).click()

    const second = await openPage(browser, bench.url)
    await second.page.goto(bench.url)
    await second.page.getByLabel('Setup code').fill(code ?? '')
    await second.page.getByRole('button', { name: 'Enter' }).click()
    await second.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()

    await second.page.goto(`${bench.url}/settings`)
    await second.page.getByText('this browser', { exact: true }).waitFor()
    const others = await second.page.getByRole('button', { name: /^Sign out \w{12}$/ }).count()
    assert.equal(others, (await bench.client.request('GET /sessions')).sessions.length - 1)
    for (let left = others; left > 0; left--) {
      await second.page
        .getByRole('button', { name: /^Sign out \w{12}$/ })
        .first()
        .click()
      await second.page
        .getByRole('dialog')
        .getByText(/^souk console sign-out \w{12}$/)
        .waitFor()
      await second.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
      await second.page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    assert.equal((await bench.client.request('GET /sessions')).sessions.length, 1)
    await first.page.reload()
    await first.page.getByLabel('Setup code').waitFor()
    // A page that was signed out may ask the node once more before it is loaded again.
    const mishaps = first.mishaps.filter((mishap) => !mishap.includes('401 (Unauthorized)'))
    assert.deepEqual([...mishaps, ...second.mishaps], [])
  })

  it('creates a support bundle without secrets and addresses', async () => {
    await bench.client.request('POST /apis', {
      body: { name: 'inner', protocol: 'REST', endpoint: 'http://127.0.0.1:9/?k=hush', price: '1' }
    })
    const { page } = await entered(browser, bench)
    await page.goto(`${bench.url}/settings`)
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the bundle' }).click()
    const text = await downloaded(await waiting)
    const bundle = JSON.parse(text) as { apis: ReadonlyArray<{ id: string }>; status: { version: string } }
    assert.equal(bundle.status.version, '0.0.0')
    assert.match(bundle.apis[0]?.id ?? '', /^inner@/)
    for (const hidden of ['hush', '127.0.0.1:9', bench.url, 'token']) assert.ok(!text.includes(hidden), hidden)
  })

  it('draws charts of calls, and updates them live', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.getByText('0 in the last 1 h', { exact: false }).waitFor()
    await page.locator('canvas').nth(1).waitFor()
    await page.getByLabel('Made', { exact: true }).check()
    const { body } = await bench.client.call({ api: 'inner', body: {} })
    for await (const _ of body);
    await page.getByText('1 in the last 1 h, 0 errors', { exact: false }).waitFor()
    assert.deepEqual(mishaps, [])
  })
})
