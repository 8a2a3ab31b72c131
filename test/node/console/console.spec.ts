import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { axeViolations, openBrowser, openPage } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const PAGES = [
  ['/', 'Overview'],
  ['/apis', 'My APIs'],
  ['/keys', 'Consumers & keys'],
  ['/network', 'Network']
] as const

describe('console', () => {
  let bench: Bench
  let browser: Browser

  before(async () => {
    bench = await startBench()
    await bench.client.request('POST /apis', {
      body: { name: 'ticker', protocol: 'REST', endpoint: 'http://127.0.0.1:9/', price: '0.001' }
    })
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await bench?.stop()
  })

  const enter = () => entered(browser, bench)

  it('shows every page, accessible, without errors and without requests to other origins', async () => {
    const { page, mishaps } = await enter()
    for (const [path, title] of PAGES) {
      await page.goto(bench.url + path)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.loading') === null)
      assert.deepEqual(await axeViolations(page), [], path)
    }
    assert.deepEqual(mishaps, [])
  })

  it('requires the code, and shows where to get one', async () => {
    const { page } = await openPage(browser, bench.url)
    await page.goto(`${bench.url}/keys`)
    await page.getByLabel('Setup code').waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByLabel('Setup code').fill('0000-0000')
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('souk console', { exact: false }).last().waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0)
  })

  it('fits a narrow window with the longest names and addresses', async () => {
    const name = 'x'.repeat(63)
    await bench.client.request('POST /apis', {
      body: { name, protocol: 'REST', endpoint: 'http://127.0.0.1:9/', price: '0.001' }
    })
    const url = `https://hooks.example.com/${'services/'.repeat(9)}`
    await bench.client.request('POST /webhooks', { body: { url } })
    const { page } = await enter()
    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of ['/market', `/market/${name}`, '/apis', `/apis/${name}`, '/settings']) {
      await page.goto(bench.url + path)
      await page
        .getByText(path === '/settings' ? url : name)
        .first()
        .waitFor()
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(beyond <= 0, `${path} is ${beyond} px too wide`)
    }
    const shown = await page.getByText(url).first().boundingBox()
    assert.ok((shown?.width ?? 0) > 150, `the address of a webhook is ${shown?.width} px wide`)
    await bench.client.request('DELETE /apis/:name', { params: { name } })
  })

  it('signs in by a link that works once and leaves no code in the address', async () => {
    const { code } = await bench.client.request('POST /setup-codes')
    const link = `${bench.url}/#code=${code}`
    const { page, mishaps } = await openPage(browser, bench.url)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(link)
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    assert.equal(page.url(), `${bench.url}/`)
    assert.ok(asked.every((url) => !url.includes('?') || !url.includes(code)))
    assert.deepEqual(mishaps, [])

    const { page: second } = await openPage(browser, bench.url)
    await second.goto(link)
    await second.getByText('There is no valid setup code', { exact: false }).waitFor()
    assert.equal(second.url(), `${bench.url}/`)
  })

  it('issues a key by keyboard only, shows it once, and revokes it', async () => {
    const { page, mishaps } = await enter()
    await page.goto(`${bench.url}/keys`)
    await page.getByRole('button', { name: 'Issue a key' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('laptop')
    assert.deepEqual(await axeViolations(page), [])
    await page.keyboard.press('Enter')
    const shown = await page
      .getByRole('dialog')
      .getByText(/^souk_test_\w{30,}$/)
      .textContent()
    assert.ok(shown !== null)
    await page.keyboard.press('Escape')
    await page.getByRole('row', { name: /laptop/ }).waitFor()
    // The browser hides the dialog before the page removes it.
    await page.getByText(shown).first().waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Issue a key')

    await page.getByRole('button', { name: 'Revoke laptop' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
    await page.getByRole('row', { name: /laptop.*revoked/ }).waitFor()
    assert.deepEqual(
      (await bench.client.request('GET /keys', { query: {} })).keys.map(({ state }) => state),
      ['revoked']
    )
    assert.deepEqual(mishaps, [])
  })

  it('stays signed in over a reload, until the user signs out', async () => {
    const { page } = await enter()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Setup code').waitFor()
  })

  it('asks each tab to sign in again after a sign-out in another one, and then shows the same page', async () => {
    const { page } = await enter()
    const other = await page.context().newPage()
    await other.goto(bench.url)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Setup code').waitFor()
    // Sent to the link itself: the dialog may already cover the page, which asks for its figures from time to time.
    await page.getByRole('link', { name: 'Earnings' }).dispatchEvent('click')
    await page.getByLabel('Setup code').fill((await bench.client.request('POST /setup-codes')).code)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByRole('heading', { name: 'Earnings', level: 1 }).waitFor()
  })
})
