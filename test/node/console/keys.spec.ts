import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const KEYS = 230
const PAGE = 100

describe('the console with hundreds of keys', () => {
  let bench: Bench
  let browser: Browser
  let page: Page
  let mishaps: string[]

  before(async () => {
    bench = await startBench()
    for (let n = 0; n < KEYS; n++) await bench.client.request('POST /keys', { body: { label: `key ${n}` } })
    browser = await openBrowser()
    ;({ page, mishaps } = await entered(browser, bench))
  })
  after(async () => {
    await browser?.close()
    await bench?.stop()
  })

  it('shows all of them in pages, by the keyboard, also on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${bench.url}/keys`)
    const rows = page.getByRole('table', { name: 'Consumer keys' }).locator('tbody tr')
    const [newer, older] = ['Newer keys', 'Older keys'].map((name) => page.getByRole('button', { name }))
    assert.ok(newer !== undefined && older !== undefined)
    const seen = new Set<string>()
    for (const count of [PAGE, PAGE, KEYS - 2 * PAGE]) {
      await page.waitForFunction((most) => document.querySelectorAll('tbody tr').length === most, count)
      await rows.nth(count - 1).waitFor()
      for (const text of await rows.allInnerTexts()) seen.add(/key \d+/.exec(text)?.[0] ?? '')
      if (seen.size === KEYS) break
      const before = await rows.first().innerText()
      await older.focus()
      await page.keyboard.press('Enter')
      await page.waitForFunction((text) => !document.body.innerText.includes(text), before.split('\n')[0] ?? '')
    }
    assert.equal(seen.size, KEYS)
    assert.ok(await older.isDisabled())
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(width <= 390, `${width} px`)
    await newer.click()
    await newer.click()
    await page.getByRole('row', { name: /key 229/ }).waitFor()
    assert.ok(await newer.isDisabled())
    assert.deepEqual(mishaps, [])
  })
})
