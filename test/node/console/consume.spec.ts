import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import type { ListingView } from '../../../node/admin/api.ts'
import type { SubscriptionView } from '../../../node/admin/subscriptions/subscription-api.ts'
import { axeViolations, openBrowser, openPage } from '../../helpers/browser.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type HomeNode, type SoukHome, soukHome } from '../../helpers/souk-home.ts'

interface Way {
  readonly url: string
  readonly code: string
}

/** Two real nodes: one sells an API of this machine, the test uses the console of the other. */
describe('console of a consumer', () => {
  let home: SoukHome
  let upstream: Server
  /** Bodies that the API received. */
  const received: string[] = []
  let owner: HomeNode
  let buyer: HomeNode
  let browser: Browser
  let id: string
  let url: string

  before(async () => {
    upstream = createServer((request, response) => {
      if (request.headers.accept?.includes('event-stream') === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"tick":1}\n\n')
        return
      }
      void text(request).then((body) => {
        received.push(body)
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"temperature":21,"station":9007199254740993}')
      })
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    home = await soukHome()
    owner = await home.up('owner', '--no-ingress')
    buyer = await home.up('buyer', '--bootstrap', owner.p2p[0] ?? '')
    const endpoint = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`
    const { api } = await owner.cli<{ api: ListingView }>(
      `api register --name weather --protocol REST --price 0.001 --endpoint ${endpoint} --description`,
      'The weather of yesterday.'
    )
    ;({ id } = api)
    await owner.cli('plan set weather basic --included 50 --fee 0 --name', 'Basic')
    await eventually('the listing, with its plan', 20_000, async () => {
      const found = await buyer.cli<{ plans: readonly unknown[] }>(`market show ${id}`).catch(() => undefined)
      return found?.plans.length === 1 ? true : undefined
    })
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await home?.close()
    upstream?.closeAllConnections()
    upstream?.close()
  })

  async function enter(): Promise<{ page: Page; mishaps: string[] }> {
    const way = await buyer.cli<Way>('console')
    url = way.url
    const { page, mishaps } = await openPage(browser, url)
    await page.goto(url)
    // A command without the profile would look for another node.
    await page.getByText('souk --profile buyer console', { exact: true }).waitFor()
    await page.getByLabel('Setup code').fill(way.code)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    return { page, mishaps }
  }

  it('finds an API, subscribes to a plan and tries it, by keyboard only', async () => {
    const { page, mishaps } = await enter()
    await page.getByRole('link', { name: 'Marketplace' }).press('Enter')
    await page.getByLabel('Search', { exact: true }).focus()
    await page.keyboard.type('yesterday')
    await page.waitForURL(/q=yesterday/)
    await page.getByRole('link', { name: 'weather' }).press('Enter')
    await page.getByRole('heading', { name: 'weather', level: 1 }).waitFor()
    assert.deepEqual(await axeViolations(page), [])

    await page.getByRole('link', { name: 'Plans' }).press('Enter')
    await page.getByRole('button', { name: 'Subscribe' }).press('Enter')
    await page.getByText(`souk --profile buyer subscribe ${id} --plan basic --max-price 0 --max-fee 0`).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('dialog').getByLabel('Most for a call, USDC').press('Enter')
    await page.getByRole('heading', { name: 'My subscriptions', level: 1 }).waitFor()
    const [held] = (await buyer.cli<{ subscriptions: SubscriptionView[] }>('subscriptions list')).subscriptions
    assert.deepEqual([held?.api, held?.plan.id, held?.state], [id, 'basic', 'active'])

    await page.getByRole('link', { name: 'weather' }).press('Enter')
    await page.getByRole('link', { name: 'Try', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Call', exact: true }).press('Enter')
    await page.getByText('"temperature": 21').waitFor()
    await page.getByText('200', { exact: true }).waitFor()
    await page.getByText(`/api/${id.split('@')[1]}/api/weather`).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(mishaps, [])
  })

  it('keeps the digits of numbers, in the request, in its samples and in the response', async () => {
    const { page, mishaps } = await enter()
    await page.goto(`${url}/market/${encodeURIComponent(id)}/try`)
    const body = '{"city":12345678901234567890}'
    received.length = 0
    await page.getByRole('textbox', { name: 'Request, JSON' }).fill(body)
    await page.getByText(`souk --profile buyer call ${id} '${body}'`, { exact: false }).waitFor()
    await page.getByLabel('Python').check()
    await page.getByText('"city": 12345678901234567890,').waitFor()
    await page.getByLabel('TypeScript').check()
    await page.getByText(`body: ${JSON.stringify(body)}`).waitFor()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('"station": 9007199254740993').waitFor()
    assert.deepEqual(received, [body])
    assert.deepEqual(mishaps, [])
  })

  it('shows a stream as it arrives, and stops it', async () => {
    const { page, mishaps } = await enter()
    await page.goto(`${url}/market/${encodeURIComponent(id)}/try`)
    await page.getByLabel('as a stream').check()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('data: {"tick":1}').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    assert.deepEqual(mishaps, [])
  })

  it('shows calls when they end, stops updating when paused, and keeps filters in the URL', async () => {
    await buyer.cli(`call ${id} {}`)
    const { page, mishaps } = await enter()
    await page.getByRole('link', { name: 'Calls' }).click()
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
    await page
      .getByRole('button', { name: /^weather/ })
      .first()
      .waitFor()
    const earlier = await page.getByRole('row').count()
    await buyer.cli(`call ${id} {}`)
    await page.waitForFunction((before) => document.querySelectorAll('tr').length > before, earlier)
    await page.getByRole('button', { name: 'Pause' }).click()
    const rows = await page.getByRole('row').count()
    await buyer.cli(`call ${id} {}`)
    await page.getByRole('button', { name: /Resume, 1 new/ }).waitFor()
    assert.equal(await page.getByRole('row').count(), rows)
    await page.getByRole('button', { name: /Resume/ }).click()
    await page.waitForFunction((before) => document.querySelectorAll('tr').length > before, rows)

    await page.getByLabel('Result').selectOption('errors')
    await page.waitForURL(/result=errors/)
    await page.reload()
    assert.equal(await page.getByLabel('Result').inputValue(), 'errors')
    await page.goto(`${url}/calls?way=made`)
    await page
      .getByRole('button', { name: /^weather/ })
      .first()
      .press('Enter')
    await page.getByRole('dialog').getByText('What was sent is not kept', { exact: false }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(mishaps, [])
  })

  it('shows the command for another node without the profile of this one', async () => {
    const { page } = await enter()
    await page.goto(`${url}/network`)
    await page.getByText('souk --profile buyer peers', { exact: true }).waitFor()
    await page.getByText(`souk up --bootstrap ${buyer.p2p[0]}`, { exact: true }).waitFor()
  })

  it('captures requests without secrets if turned on, and repeats a call unchanged and changed', async () => {
    const { page, mishaps } = await enter()
    await page.goto(`${url}/settings`)
    await page.getByText('souk --profile buyer settings --capture on').waitFor()
    await page.getByLabel('Keep the requests of calls').check()
    await page.getByText('souk --profile buyer settings --capture off').waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await buyer.cli(`call ${id}`, '{"city":9007199254740993,"apiToken":"hush"}')
    received.length = 0

    await page.goto(`${url}/calls?way=made`)
    const first = page.getByRole('button', { name: /^weather/ }).first()
    await first.press('Enter')
    const dialog = page.getByRole('dialog')
    const editor = dialog.getByRole('textbox', { name: 'Request, JSON' })
    await editor.waitFor()
    assert.match((await editor.textContent()) ?? '', /"apiToken": "\[redacted\]"/)
    await dialog
      .getByText(`souk --profile buyer call ${id} '{"city":9007199254740993,"apiToken":"[redacted]"}'`)
      .waitFor()
    await dialog.getByText(`-d '{"city":9007199254740993,"apiToken":"[redacted]"}'`, { exact: false }).waitFor()
    await dialog.getByText('costs up to 0.001').waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await dialog.getByRole('button', { name: 'Replay' }).press('Enter')
    await dialog.getByText('"temperature": 21').waitFor()
    await editor.fill('{"city":"Chur"}')
    await dialog.getByRole('button', { name: 'Call with the changed request' }).press('Enter')
    await eventually('both calls', 10_000, () => (received.length === 2 ? true : undefined))
    assert.deepEqual(received, ['{"city":9007199254740993,"apiToken":"[redacted]"}', '{"city":"Chur"}'])
    await dialog.getByRole('button', { name: 'Close' }).press('Enter')

    await page.goto(`${url}/settings`)
    await page.getByLabel('Keep the requests of calls').uncheck()
    await page.getByText('0 kept now', { exact: false }).waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('pauses, resumes, changes and cancels a subscription', async () => {
    const { page, mishaps } = await enter()
    await page.goto(`${url}/subscriptions`)
    await page.getByText(/of 50 calls used/).waitFor()
    const state = (name: string) => page.locator('.state').getByText(name, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await state('paused')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await state('active')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByLabel('Most in a day (UTC), USDC').fill('2.5')
    await page.getByText(/subscriptions change .* --daily-cap 2.5/).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('2.5', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the subscription' }).click()
    await state('canceling')
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
    await state('active')
    assert.deepEqual(mishaps, [])
  })

  it('shows every page, accessible, without errors and without requests to other origins', async () => {
    const { page, mishaps } = await enter()
    const listing = `/market/${encodeURIComponent(id)}`
    const pages = [
      '/',
      '/calls',
      '/market',
      '/market?q=nothing-like-it',
      '/settings',
      listing,
      `${listing}/try`,
      `${listing}/plans`
    ]
    for (const path of [...pages, '/subscriptions']) {
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.loading, [aria-busy="true"]') === null)
      assert.deepEqual(await axeViolations(page), [], path)
    }
    assert.deepEqual(mishaps, [])
  })
})
