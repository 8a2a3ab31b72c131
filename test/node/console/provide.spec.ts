import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { startAccount } from '../../../node/demo/account.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { protocolFactories } from '../../../protocols/index.ts'
import { axeViolations, openBrowser } from '../../helpers/browser.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const TABS = ['operations', 'mapping', 'plans', 'try', 'calls', 'settings'] as const

describe('console of a provider', () => {
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

  it('fits a narrow window with long names and summaries of operations', async () => {
    const summary = 's'.repeat(100)
    const get = { operationId: 'o'.repeat(80), summary, responses: { 200: { description: 'done' } } }
    const described = { openapi: '3.1.0', info: { title: 'long', version: '1' }, paths: { '/long': { get } } }
    const openapi = { text: JSON.stringify(described) }
    await bench.client.request('POST /apis', {
      body: { name: 'long', protocol: 'REST', endpoint: account.url, price: '0', description: 'd'.repeat(900), openapi }
    })
    const { page } = await entered(browser, bench)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${bench.url}/apis/long/operations`)
    await page.getByText(summary).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
    await bench.client.request('DELETE /apis/:name', { params: { name: 'long' } })
  })
  after(async () => {
    await browser?.close()
    await Promise.all([bench?.stop(), account?.close()])
  })

  it('shows all pages of an API, accessible, also on a narrow screen', async () => {
    const { page, mishaps } = await entered(browser, bench)
    for (const tab of TABS) {
      await page.goto(`${bench.url}/apis/bank/${tab}`)
      await page.getByRole('heading', { name: 'bank', level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.loading') === null)
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 800 })
        assert.deepEqual(await axeViolations(page), [], `${tab} at ${width}`)
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(beyond <= 0, `${tab} is ${beyond} px too wide at ${width}`)
      }
    }
    assert.deepEqual(mishaps, [])
  })

  it('says how peers reach an API, in the list and on its page', async () => {
    const { page } = await entered(browser, bench)
    const { reach } = await bench.client.request('GET /apis/:name', { params: { name: 'bank' } })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${bench.url}/apis`)
      await page.getByRole('row').getByText(reach, { exact: true }).waitFor()
      await page.goto(`${bench.url}/apis/bank`)
      await page.getByText(`Reach: ${reach}`).waitFor()
    }
  })

  it('calls an operation by a form from its schema, and by JSON', async () => {
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

  it('maps a field of a SOAP service, previews the result, and publishes it', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/apis/bank/mapping`)
    await page.getByLabel('Name of accountId').fill('account')
    await page.getByRole('region', { name: 'A consumer sends' }).getByText('"account": "text"').waitFor()
    await page.getByRole('region', { name: 'Your service is sent' }).getByText('"accountId": "text"').waitFor()

    await page.getByRole('button', { name: 'Rule for accountId' }).press('Enter')
    await page.getByLabel('Pattern').fill('(?=a)b')
    assert.deepEqual(await axeViolations(page), [])
    await page.keyboard.press('Enter')
    await page.getByText('/operations/getBalance/input/accountId').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Save and publish' }).isDisabled())

    await page.getByRole('button', { name: 'Rule for accountId' }).press('Enter')
    await page.getByLabel('Pattern').fill('ACC-[0-9]{4}')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save and publish' }).click()
    await page.getByText('mapping revision 2').waitFor()
    const { mapping } = await bench.client.request('GET /apis/:name/mapping', { params: { name: 'bank' } })
    const input = { accountId: { rename: 'account', pattern: 'ACC-[0-9]{4}' } }
    assert.deepEqual(mapping, { version: 1, revision: 2, operations: { getBalance: { input } } })

    await page.getByRole('button', { name: 'The WSDL alone' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget it' }).click()
    await page.getByText('mapping revision 3').waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('adds a plan, changes and closes it, and changes the price', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/apis/bank/plans`)
    await page.getByRole('button', { name: 'Add a plan' }).press('Enter')
    await page.getByLabel('Id').fill('pro')
    await page.getByLabel('Fee').fill('9')
    await page.getByText('You receive 95%: 8.55 USDC a period').waitFor()
    await page.getByRole('button', { name: 'Add a price' }).press('Enter')
    await page.getByText('--included 1000 --overage 0.001').waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('row', { name: /^pro open/ }).waitFor()
    await page.getByRole('button', { name: 'Edit pro' }).press('Enter')
    await page.getByLabel('Days of trial').fill('7')
    await page.getByText('souk plan set bank pro --trial-days 7').waitFor()
    // A command changes what the form does not show, and a field that is not edited.
    await bench.client.request('PATCH /apis/:name/plans/:plan', {
      params: { name: 'bank', plan: 'pro' },
      body: { fee: '8', in_flight_max: 3, rate_limit: { calls: 10, per_ms: 60_000 } }
    })
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('row', { name: /7 days/ }).waitFor()
    const [plan] = (await bench.client.request('GET /apis/:name/plans', { params: { name: 'bank' } })).plans
    assert.deepEqual([plan?.fee, plan?.in_flight_max, plan?.rate_limit?.calls], ['8', 3, 10])
    assert.deepEqual(plan?.overage, [{ up_to: null, price: '0.001' }])
    await page.getByRole('button', { name: 'Edit pro' }).press('Enter')
    await page.getByLabel('Calls that it includes').fill('')
    await page.getByText('souk plan set bank pro --included unlimited --overage none').waitFor()
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('row', { name: /any number/ }).waitFor()
    await page.getByRole('button', { name: 'Add a plan' }).press('Enter')
    await page.getByLabel('Id').fill('pro')
    await page.getByText('A plan has this id.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled())
    assert.deepEqual(await axeViolations(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close pro' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Close it' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.goto(`${bench.url}/apis/bank/settings`)
    await page.getByLabel('Price of a call').fill('0.003')
    await page.getByText('souk api set bank --price 0.003').waitFor()
    await page.getByRole('button', { name: 'Publish as a new revision' }).click()
    await page.getByText('0.003 USDC a call').waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('pauses an API, resumes it, and removes another', async () => {
    await bench.client.request('POST /apis', {
      body: { name: 'passing', protocol: 'SOAP', endpoint: account.url, price: '0.002' }
    })
    const { page } = await entered(browser, bench)
    await page.goto(`${bench.url}/apis/passing/settings`)
    for (const [action, state] of [
      ['Pause', 'paused'],
      ['Resume', 'published']
    ] as const) {
      await page.getByRole('button', { name: action }).press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: action }).press('Enter')
      await page.getByText(state, { exact: true }).waitFor()
      assert.equal((await bench.client.request('GET /apis/:name', { params: { name: 'passing' } })).state, state)
    }
    await page.getByRole('button', { name: 'Remove' }).press('Enter')
    await page.getByRole('dialog').getByText('souk api rm passing').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter')
    await page.getByRole('heading', { name: 'My APIs' }).waitFor()
    await assert.rejects(bench.client.request('GET /apis/:name', { params: { name: 'passing' } }), {
      code: 'api_not_found'
    })
  })

  it('issues a key for one API with an expiry, rotates it with an overlap, disables and enables it', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/keys`)
    await page.getByRole('button', { name: 'Issue a key' }).press('Enter')
    await page.getByLabel('Name', { exact: true }).fill('ci')
    await page.getByLabel('May call').fill('bank')
    await page.getByLabel('Expires').selectOption('30')
    await page.getByText('--expires-in 30d --api bank --label ci').waitFor()
    await page.getByRole('button', { name: 'Issue', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'I have it' }).press('Enter')

    await page.getByRole('button', { name: 'Rotate ci' }).press('Enter')
    await page.getByLabel('The old one works').selectOption('1')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).press('Enter')
    await page.getByRole('button', { name: 'I have it' }).press('Enter')
    await page.getByRole('row', { name: /rotating/ }).waitFor()

    for (const [action, state] of [
      ['Disable', 'disabled'],
      ['Enable', 'active']
    ] as const) {
      await page.getByRole('button', { name: `${action} ci` }).press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: action }).press('Enter')
      await page.getByRole('row', { name: new RegExp(state) }).waitFor()
    }
    const { keys } = await bench.client.request('GET /keys', { query: {} })
    assert.deepEqual(new Set(keys.map(({ state }) => state)), new Set(['rotating', 'active']))
    assert.ok(keys.every(({ apis, expires_at }) => apis?.[0]?.startsWith('bank') === true && expires_at !== null))
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(mishaps, [])
  })

  it('rotates and revokes a key once at a double click, and shows the new key', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await bench.client.request('POST /keys', { body: { label: 'twice' } })
    const sent: string[] = []
    page.on('request', (request) => {
      if (/^(POST|DELETE)$/.test(request.method())) sent.push(request.method())
    })
    await page.goto(`${bench.url}/keys`)
    await page.getByRole('button', { name: 'Rotate twice' }).first().dblclick()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).dblclick()
    await page.getByRole('button', { name: 'I have it' }).dblclick()
    assert.deepEqual(sent, ['POST'])
    await page
      .getByRole('row', { name: /twice.*active/ })
      .getByRole('button', { name: 'Revoke twice' })
      .dblclick()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).dblclick()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(sent, ['POST', 'DELETE'])
    assert.deepEqual(mishaps, [])
  })
})
