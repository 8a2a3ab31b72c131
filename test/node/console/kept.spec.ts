import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { startAccount } from '../../../node/demo/account.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { protocolFactories } from '../../../protocols/index.ts'
import { axeViolations, openBrowser } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

describe('console: what was typed', () => {
  let bench: Bench
  let browser: Browser
  let account: DemoServer

  before(async () => {
    account = await startAccount()
    bench = await startBench({}, protocolFactories)
    await bench.client.request('POST /apis', {
      body: { name: 'bank', protocol: 'SOAP', endpoint: account.url, price: '0.002' }
    })
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await Promise.all([bench?.stop(), account?.close()])
  })

  const settings = async (page: Page) => {
    await page.goto(`${bench.url}/apis/bank/settings`)
    await page.getByLabel('Description').waitFor()
  }
  const api = () => bench.client.request('GET /apis/:name', { params: { name: 'bank' } })

  it('stays when the session ends, and is sent after the next sign-in', async () => {
    const { page } = await entered(browser, bench)
    await settings(page)
    await page.getByLabel('Description').fill('Balances, kept')
    for (const { id } of (await bench.client.request('GET /sessions')).sessions)
      await bench.client.request('DELETE /sessions/:id', { params: { id } })
    const publish = page.getByRole('button', { name: 'Publish as a new revision' })
    await publish.click()
    await page.getByText('What you typed is kept').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'code')
    // The page must not be left without a session.
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
    await page.getByLabel('Setup code').fill((await bench.client.request('POST /setup-codes')).code)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('What you typed is kept').waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Description').inputValue(), 'Balances, kept')
    await publish.click()
    await page.waitForFunction(() => document.querySelector('[type=submit]:disabled[aria-busy=false]') !== null)
    assert.equal((await api()).description, 'Balances, kept')
    // Events arrive again.
    await bench.client.request('PATCH /apis/:name', { params: { name: 'bank' }, body: { price: '0.004' } })
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[inputmode=decimal]')?.value === '0.004')
  })

  it('stays when another tab publishes a revision, which changes only the other fields', async () => {
    const { page } = await entered(browser, bench)
    await settings(page)
    await page.getByLabel('Description').fill('Mine')
    const other = await page.context().newPage()
    await settings(other)
    await other.getByLabel('Price of a call, USDC').fill('0.003')
    await other.getByRole('button', { name: 'Publish as a new revision' }).click()
    const price = page.getByLabel('Price of a call, USDC')
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[inputmode=decimal]')?.value === '0.003')
    assert.equal(await price.inputValue(), '0.003')
    assert.equal(await page.getByLabel('Description').inputValue(), 'Mine')
    await page.getByRole('button', { name: 'Publish as a new revision' }).click()
    await page.waitForFunction(() => document.querySelector('[type=submit]:disabled[aria-busy=false]') !== null)
    const { price: kept, description } = await api()
    assert.deepEqual([kept, description], ['0.003', 'Mine'])
  })

  it('stays when the page is left by a link, until it is undone', async () => {
    const { page } = await entered(browser, bench)
    const leave = async () => {
      await page.getByRole('link', { name: 'Network' }).click()
      await page.getByRole('heading', { name: 'Network' }).first().waitFor()
      await page.goBack()
    }
    await settings(page)
    const { description } = await api()
    await page.getByLabel('Description').fill('Typed')
    await leave()
    await page.getByLabel('Description').waitFor()
    assert.equal(await page.getByLabel('Description').inputValue(), 'Typed')
    await page.getByRole('button', { name: 'Undo all' }).click()
    assert.equal(await page.getByLabel('Description').inputValue(), description)
    await leave()
    await page.getByLabel('Description').waitFor()
    assert.equal(await page.getByLabel('Description').inputValue(), description)
    await page.goto(`${bench.url}/apis/bank/mapping`)
    const name = page.getByLabel('Name of accountId')
    const before = await name.inputValue()
    await name.fill('typed')
    await leave()
    await name.waitFor()
    assert.equal(await name.inputValue(), 'typed')
    await page.getByRole('button', { name: 'Undo all' }).click()
    assert.equal(await name.inputValue(), before)
  })

  it('stays when another tab publishes a mapping, and is not published over it', async () => {
    const { page } = await entered(browser, bench)
    const edit = async (tab: Page, name: string) => {
      await tab.goto(`${bench.url}/apis/bank/mapping`)
      await tab.getByLabel('Name of accountId').fill(name)
    }
    await edit(page, 'mine')
    const other = await page.context().newPage()
    await edit(other, 'theirs')
    await other.getByRole('button', { name: 'Save and publish' }).click()
    await other.getByText('mapping revision 2').waitFor()
    await page.getByText('Another tab or a command has changed the mapping').waitFor()
    assert.equal(await page.getByLabel('Name of accountId').inputValue(), 'mine')
    assert.ok(await page.getByRole('button', { name: 'Save and publish' }).isDisabled())
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Load the stored mapping' }).click()
    await page.getByText('mapping revision 2').waitFor()
    assert.equal(await page.getByLabel('Name of accountId').inputValue(), 'theirs')
    await page.getByLabel('Name of accountId').fill('mine')
    await page.getByRole('button', { name: 'Save and publish' }).click()
    // Nothing is edited in the other tab, so it follows.
    await other.getByText('mapping revision 3').waitFor()
    assert.equal(await other.getByLabel('Name of accountId').inputValue(), 'mine')
  })
})

describe('console: what the browser or the node refuses', () => {
  let bench: Bench
  let browser: Browser

  before(async () => {
    bench = await startBench()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await bench?.stop()
  })

  it('is no reason to lose a new key: its dialog stays until the key is there', async () => {
    const { page } = await entered(browser, bench)
    await page.goto(`${bench.url}/keys`)
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/admin/v1/keys', async (route) => {
      if (route.request().method() === 'POST') await mayAnswer
      await route.continue()
    })
    await page.getByRole('button', { name: 'Issue a key' }).first().click()
    await page.getByRole('button', { name: 'Issue', exact: true }).click()
    await page.locator('dialog [aria-busy=true]').waitFor()
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
    answer()
    await page
      .getByText(/^souk_test_/)
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('is said of a copy', async () => {
    const { page } = await entered(browser, bench)
    const session = await page.context().newCDPSession(page)
    await session.send('Browser.setPermission', { permission: { name: 'clipboard-write' }, setting: 'denied' })
    await page.goto(`${bench.url}/network`)
    await page
      .getByRole('button', { name: /^Copy / })
      .first()
      .click()
    await page.getByText('The browser refused').waitFor()
  })

  it('is said of a sign-out', async () => {
    const { page } = await entered(browser, bench)
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Not signed out: The node does not respond').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Setup code').waitFor()
  })
})
