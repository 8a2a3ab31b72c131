/**
 * Writes the images of the documentation, docs/images/*.png: starts the demo marketplace, makes calls, and takes screenshots of
 * both consoles in Chromium, as a user sees them after `souk demo`.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openPage } from '../test/helpers/browser.ts'
import { eventually } from '../test/helpers/eventually.ts'
import { type SoukHome, soukHome } from '../test/helpers/souk-home.ts'
import { smallPng } from './small-png.ts'

const IMAGES = new URL('../docs/images/', import.meta.url)
const VIEW = { width: 1280, height: 900 }
/** Long enough to fill the charts. */
const TRAFFIC_MS = 4 * 60_000
const UP_MS = 180_000

const BODIES = {
  'bb-soap-account': { operation: 'getBalance', accountId: 'ACC-1001' },
  'bb-sse-ticker': { symbol: 'BTCUSDT', interval: '1m' },
  'bb-graphql-user': { query: '{ user(id: "1") { name email } }' }
}

interface Shot {
  readonly name: string
  readonly path: string
  readonly show?: (page: Page) => Promise<unknown>
}

const home = await soukHome()
const browser = await openBrowser()
try {
  const demo = home.asProcess.start('demo')
  await eventually('the demo', UP_MS, () => demo.stdout.find((line) => line.startsWith('Ctrl-C stops')))
  // Avoids a warning about the owner's empty wallet.
  await told(home, 'demo-owner', 'wallet deposit 25')
  await makeCalls(home)
  const listings = await told<{ listings: ReadonlyArray<{ id: string }> }>(home, 'demo-consumer', 'search')
  const account = listings.listings.find(({ id }) => id.startsWith('bb-soap-account'))?.id ?? ''
  const { endpoint } = await told<{ endpoint: string }>(home, 'demo-owner', 'api show bb-soap-account')
  await mkdir(IMAGES, { recursive: true })
  await shoot(browser, home, 'demo-owner', [
    { name: 'overview', path: '/', show: (page) => page.locator('canvas').nth(1).waitFor() },
    { name: 'register', path: '/register', show: (page) => tryBeforePublishing(page, endpoint) },
    { name: 'mapping', path: '/apis/bb-soap-account/mapping', show: mapField }
  ])
  await shoot(browser, home, 'demo-consumer', [
    { name: 'calls', path: '/calls' },
    { name: 'listing', path: `/market/${encodeURIComponent(account)}/try`, show: tryListing }
  ])
  await demo.end('SIGTERM')
} finally {
  await browser.close()
  await home.close()
}

async function told<View>(home: SoukHome, profile: string, command: string): Promise<View> {
  const { stdout, stderr, code } = await home.run(`--profile ${profile} --json ${command}`)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as View
}

/** The rate of calls varies, and some calls fail. */
async function makeCalls(home: SoukHome): Promise<void> {
  const { key } = await told<{ key: string }>(home, 'demo-consumer', 'key issue --daily-cap 100 --label website')
  const { ingress } = await told<{ ingress: string }>(home, 'demo-consumer', 'status')
  const call = async (api: string, body: unknown) => {
    const response = await fetch(`${ingress}/api/demo/api/${api}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-consumer-key': key },
      body: JSON.stringify(body)
    })
    await response.arrayBuffer()
  }
  const end = performance.now() + TRAFFIC_MS
  for (let round = 0; performance.now() < end; round++) {
    for (const [api, body] of Object.entries(BODIES)) await call(api, body)
    if (round % 9 === 4) await call('bb-soap-account', { operation: 'getBalance', accountId: 'ACC-0000' })
    await pause(1_500 + 1_200 * Math.sin(round / 8))
  }
}

async function shoot(browser: Browser, home: SoukHome, profile: string, shots: readonly Shot[]): Promise<void> {
  const { url, code } = await told<{ url: string; code: string }>(home, profile, 'console')
  const { page } = await openPage(browser, url, { viewport: VIEW, colorScheme: 'light' })
  // A busy machine may take minutes for a page.
  page.setDefaultTimeout(UP_MS)
  await page.goto(url)
  await page.getByLabel('Setup code').fill(code)
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  for (const { name, path, show } of shots) {
    await page.goto(url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('.loading, [aria-busy="true"]').first().waitFor({ state: 'detached' })
    await show?.(page)
    await page.evaluate('document.fonts.ready')
    const png = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
    await writeFile(new URL(`${name}.png`, IMAGES), png)
    console.log(`docs/images/${name}.png  ${Math.ceil(png.length / 1024)} KiB`)
  }
  await page.context().close()
}

async function tryListing(page: Page): Promise<void> {
  await page.getByLabel('accountId').fill('ACC-1001')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('Latency').waitFor()
}

async function tryBeforePublishing(page: Page, endpoint: string): Promise<void> {
  await page.getByLabel('SOAP').check()
  await page.getByLabel('Address of the WSDL').fill(endpoint)
  await page.getByRole('button', { name: 'Read it' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Price of a call').fill('0.004')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('accountId').fill('ACC-1001')
  await page.getByRole('button', { name: 'Call it' }).click()
  await page.getByText('would be charged').waitFor()
}

async function mapField(page: Page): Promise<void> {
  await page.getByLabel('Name of accountId').fill('account')
  await page.getByRole('region', { name: 'A consumer sends' }).getByText('"account": "text"').waitFor()
}
