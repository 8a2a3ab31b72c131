import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { startAccount } from '../../../node/demo/account.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { protocolFactories } from '../../../protocols/index.ts'
import { axeViolations, openBrowser } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const TABS = ['operations', 'try', 'calls', 'settings'] as const

describe('the console of a provider', function () {
  this.timeout(60_000)
  let bench: Bench
  let browser: Browser
  let account: DemoServer

  before(async () => {
    account = await startAccount()
    bench = await startBench({}, protocolFactories)
    await bench.client.register({ name: 'bank', protocol: 'SOAP', endpoint: account.url, price: '0.002' })
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await Promise.all([bench?.stop(), account?.close()])
  })

  for (const scheme of ['light', 'dark'] as const) {
    it(`shows all there is of an API in ${scheme}, usable by everybody, on a narrow screen as well`, async () => {
      const { page, mishaps } = await entered(browser, bench, scheme)
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 800 })
        for (const tab of TABS) {
          await page.goto(`${bench.url}/apis/bank/${tab}`)
          await page.getByRole('heading', { name: 'bank', level: 1 }).waitFor()
          await page.waitForFunction(() => document.querySelector('.loading') === null)
          assert.deepEqual(await axeViolations(page), [], `${tab} at ${width}`)
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(beyond <= 0, `${tab} is ${beyond} px too wide at ${width}`)
        }
      }
      assert.deepEqual(mishaps, [])
    })
  }

  it('tries an operation by a form of its schema, and by the JSON of it', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/apis/bank/try`)
    await page.getByLabel('accountId').fill('ACC-1001')
    await page.keyboard.press('Enter')
    await page.getByText('"accountId": "ACC-1001"').waitFor()
    await page.getByText('Latency').waitFor()
    assert.deepEqual(await axeViolations(page), [])

    await page.getByLabel('JSON', { exact: true }).check()
    const editor = page.getByRole('textbox', { name: 'Request, JSON' })
    await editor.waitFor()
    assert.match((await editor.textContent()) ?? '', /"accountId": "ACC-1001"/)
    assert.deepEqual(await axeViolations(page), [])
    await editor.fill('{ "operation": "getBalance" }')
    await page.getByRole('button', { name: 'Call' }).click()
    await page.getByText('That did not work.').or(page.getByText('refused')).first().waitFor()
    await editor.fill('{ "operation": ')
    await page.getByText('This is not JSON yet.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Call' }).isDisabled())
    assert.deepEqual(
      mishaps.filter((mishap) => !mishap.includes('status of 400')),
      []
    )
  })
})
