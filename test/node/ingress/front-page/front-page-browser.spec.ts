import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { axeViolations, openBrowser, openPage } from '../../../helpers/browser.ts'
import { foundListing, type Running, startIngress } from '../harness.ts'

describe('the front page in a browser', () => {
  let browser: Browser | undefined
  let ingress: Running

  before(async () => {
    browser = await openBrowser()
    ingress = await startIngress({ x402: true }, undefined, ['ticker'])
    const listings = (['REST', 'SOAP', 'GraphQL'] as const).map((protocol, i) => {
      const name = i === 0 ? 'ticker' : `a-name-that-is-about-as-long-as-a-name-of-an-api-can-be-${i}`
      return foundListing(name, { protocol, description: '<script>alert(1)</script>'.repeat(5) })
    })
    ingress.onSearch = async () => ({ listings, next: 'more' })
  })
  after(async () => {
    await browser?.close()
    await ingress?.close()
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 1280]) {
      it(`is complete and accessible in ${colorScheme} at a width of ${width}`, async () => {
        const viewport = { width, height: 800 }
        const { page, mishaps } = await openPage(browser!, ingress.url, { colorScheme, viewport })
        await page.goto(ingress.url)
        for (const details of await page.locator('summary').all()) await details.click()
        assert.deepEqual(await axeViolations(page), [])
        assert.equal(
          await page.evaluate('document.documentElement.scrollWidth'),
          width,
          'no element is wider than the page'
        )
        const ground = colorScheme === 'light' ? 'rgb(250, 246, 239)' : 'rgb(21, 17, 14)'
        assert.equal(
          await page.evaluate('getComputedStyle(document.body).backgroundColor'),
          ground,
          'the policy allows the page’s style'
        )
        assert.deepEqual(mishaps, [])
        await page.context().close()
      })
    }
  }

  it('searches without scripts', async () => {
    const { page, mishaps } = await openPage(browser!, ingress.url, { javaScriptEnabled: false })
    await page.goto(ingress.url)
    await page.getByLabel('Search APIs').fill('a & b')
    await page.getByLabel('Protocol').selectOption('SOAP')
    await page.getByRole('button', { name: 'Search' }).click()
    assert.equal(new URL(page.url()).search, '?q=a+%26+b&protocol=SOAP')
    assert.equal(await page.getByLabel('Search APIs').inputValue(), 'a & b')
    await page.getByRole('link', { name: 'Next page' }).click()
    assert.equal(new URL(page.url()).searchParams.get('cursor'), 'more')
    assert.deepEqual(mishaps, [])
  })
})
