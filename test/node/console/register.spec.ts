import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { startAccount } from '../../../node/demo/account.ts'
import { startUsers } from '../../../node/demo/users.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { protocolFactories } from '../../../protocols/index.ts'
import { axeViolations, openBrowser } from '../../helpers/browser.ts'
import { type JudgeApi, judgeApi } from '../../helpers/judge-api.ts'
import { scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { zipOf } from '../../helpers/zip.ts'
import { type Bench, startBench } from '../admin/harness.ts'
import { entered } from './entered.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('registering an API in the console', () => {
  let bench: Bench
  let browser: Browser
  let account: DemoServer
  let rest: JudgeApi
  let users: DemoServer

  before(async () => {
    ;[account, rest, users] = await Promise.all([startAccount(), judgeApi('judge'), startUsers()])
    bench = await startBench({}, protocolFactories)
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  after(async () => {
    await browser?.close()
    await Promise.all([bench?.stop(), account?.close(), rest?.close(), users?.close()])
  })

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).press('Enter')
  const isUsable = async (page: Page, what: string) => assert.deepEqual(await axeViolations(page), [], what)

  it("goes from a WSDL's URL to a call on the market by keyboard alone", async () => {
    const { page, mishaps } = await entered(browser, bench)
    const name = 'bank'
    await page.goto(`${bench.url}/apis`)
    await page.getByRole('link', { name: 'Register an API' }).first().press('Enter')
    await page.getByLabel('SOAP').press(' ')
    await isUsable(page, 'source')
    await page.getByLabel('Address of the WSDL').pressSequentially(account.url)
    await page.keyboard.press('Enter')

    await page.getByText('It is SOAP, with 2 operations:').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H2')
    await isUsable(page, 'credentials')
    await press(page, 'Continue')

    await page.getByLabel('Price of a call').fill('0.004')
    await page.getByText('You receive 95%: 0.0038 USDC').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await isUsable(page, 'price')
    await page.keyboard.press('Enter')

    await page.getByLabel('accountId').fill('ACC-1001')
    await page.keyboard.press('Enter')
    await page.getByText('would be charged').waitFor()
    await isUsable(page, 'test call')
    await assert.rejects(bench.client.request('GET /apis/:name', { params: { name } }), { code: 'api_not_found' })
    await press(page, 'Continue')

    await page.getByText(`souk api register --name ${name} --protocol SOAP`).waitFor()
    await isUsable(page, 'publish')
    await press(page, 'Publish')
    await page.getByText(`${name} is on the market`).waitFor()
    assert.equal((await bench.client.request('GET /apis/:name', { params: { name } })).price, '0.004')

    await page.getByRole('link', { name: 'Try it' }).press('Enter')
    await page.getByLabel('accountId').fill('ACC-1001')
    await page.keyboard.press('Enter')
    await page.getByText('Latency').waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('finds out what is at an address, and fills in the form', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('Where is it?').fill(new URL(users.url).host)
    await isUsable(page, 'discovery')
    await page.keyboard.press('Enter')
    await page.getByText('It is GraphQL').waitFor()
    await press(page, 'Continue')
    assert.match(await page.getByLabel('Name', { exact: true }).inputValue(), /^[a-z0-9][a-z0-9-]*$/)
    await press(page, 'Back')
    await press(page, 'Back')
    assert.ok(await page.getByLabel('GraphQL').isChecked())
    assert.equal(await page.getByRole('textbox', { name: 'Endpoint' }).inputValue(), users.url)
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways')
    assert.deepEqual(mishaps, [])
  })

  it('fills in name, description and OpenAPI document, and lets the user choose among several APIs', async () => {
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'Town Weather', version: '1', description: 'Forecasts for towns.' },
      paths: { '/now': { get: { operationId: 'now', responses: { 200: { description: 'The weather' } } } } }
    }
    const query = (body: Uint8Array) =>
      fetch(users.url, { method: 'POST', headers: JSON_TYPE, body: new Uint8Array(body) })
    const both = await scriptedUpstream((response, { method, target, body }) => {
      if (target === '/openapi.json') response.writeHead(200, JSON_TYPE).end(JSON.stringify(openapi))
      else if (target !== '/graphql' || method !== 'POST') response.writeHead(404).end()
      else
        void query(body).then(async (answer) => response.writeHead(answer.status, JSON_TYPE).end(await answer.text()))
    })
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('Where is it?').fill(both.url)
    await press(page, 'Find out')
    await page.getByText('There are several APIs. Which one do you sell?').waitFor()
    await isUsable(page, 'choice')
    await page.getByRole('button', { name: /^REST “Town Weather”, 1 operation, at / }).press('Enter')
    await page.getByText('It is REST, with 1 operation: now').waitFor()
    await press(page, 'Continue')
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'town-weather')
    assert.equal(await page.getByLabel('Description').inputValue(), 'Forecasts for towns.')
    await press(page, 'Continue')
    await press(page, 'Skip')
    await press(page, 'Publish')
    await page.getByText('town-weather is on the market').waitFor()
    await both.close()
    assert.deepEqual(mishaps, [])
  })

  it('keeps the draft over a reload, but never the credentials', async () => {
    const { page } = await entered(browser, bench)
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('By hand').check()
    await page.getByLabel('Address of the API').fill(rest.url)
    await press(page, 'Read it')
    await page.getByLabel('Credentials').selectOption('bearer')
    await page.getByLabel('Token').fill('very-secret-token')
    await press(page, 'Continue')
    await page.getByLabel('Name', { exact: true }).fill('judge')
    assert.ok(!JSON.stringify(await page.evaluate(() => Object.entries(localStorage))).includes('very-secret'))
    await press(page, 'Continue')
    await press(page, 'Skip')
    await page.getByText('--auth-file auth.json').waitFor()
    assert.equal(await page.getByText('very-secret').count(), 0)

    await page.reload()
    assert.ok(await page.getByLabel('By hand').isChecked())
    assert.equal(await page.getByLabel('Address of the API').inputValue(), rest.url)
    await press(page, 'Read it')
    assert.equal(await page.getByLabel('Credentials').inputValue(), 'none')
  })

  it('reports an invalid endpoint, and stays on the step', async () => {
    const { page } = await entered(browser, bench)
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('Where is it?').fill('127.0.0.1:9')
    await press(page, 'Find out')
    await page.getByText('upstream_unreachable').waitFor()
    await page.reload()
    await page.getByLabel('By hand').check()
    await page.getByLabel('Address of the API').fill('http://127.0.0.1:9/')
    await press(page, 'Read it')
    await page.getByText('upstream_unreachable').waitFor()
    await isUsable(page, 'trouble')
    assert.ok(await page.getByRole('button', { name: 'Read it' }).isVisible())
  })

  it('reads a WSDL and its imports from a zip', async () => {
    const { page, mishaps } = await entered(browser, bench)
    const wsdl = Buffer.from(await (await fetch(account.url)).arrayBuffer())
    const zip = zipOf([
      { name: 'readme.txt', content: 'Nothing of interest.' },
      { name: 'service/bank.wsdl', content: wsdl }
    ])
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('SOAP').check()
    await page.getByLabel('WSDL file or zip').check()
    await page
      .getByLabel('WSDL', { exact: true })
      .setInputFiles({ name: 'bank.zip', mimeType: 'application/zip', buffer: zip })
    await page.getByLabel('Address of the service').fill(account.url.replace('?wsdl', ''))
    await press(page, 'Read it')
    await page.getByText('It is SOAP, with 2 operations:').waitFor()
    await press(page, 'Continue')
    await page.getByLabel('Name', { exact: true }).fill('zipped')
    await press(page, 'Continue')
    await page.getByLabel('accountId').fill('ACC-1001')
    await page.getByText('souk api check --protocol SOAP', { exact: false }).waitFor()
    await press(page, 'Call it')
    await page.getByText('would be charged').waitFor()
    await press(page, 'Continue')
    await page.getByText('--wsdl-file bank.zip', { exact: false }).waitFor()
    await press(page, 'Publish')
    await page.getByText('zipped is on the market').waitFor()
    assert.equal((await bench.client.request('GET /apis/:name', { params: { name: 'zipped' } })).operations.length, 2)
    assert.deepEqual(mishaps, [])
  })

  it('publishes a WSDL whose imports are missing only when the box is checked', async () => {
    const { page, mishaps } = await entered(browser, bench)
    const wsdl = await (await fetch(account.url)).text()
    const lacking = wsdl.replace(/(<(\w+):types>)/, '<$2:import namespace="urn:x" location="more.wsdl"/>$1')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('SOAP').check()
    await page.getByLabel('WSDL file or zip').check()
    await page
      .getByLabel('WSDL', { exact: true })
      .setInputFiles({ name: 'bank.wsdl', mimeType: 'text/xml', buffer: Buffer.from(lacking) })
    await page.getByLabel('Address of the service').fill(account.url.replace('?wsdl', ''))
    await press(page, 'Read it')
    await page.getByText('more.wsdl is imported, but could not be read').waitFor()
    await press(page, 'Continue')
    await page.getByLabel('Name', { exact: true }).fill('lacking')
    await press(page, 'Continue')
    await press(page, 'Skip')
    await page.getByText('more.wsdl is imported, but could not be read').waitFor()
    await isUsable(page, 'publish')
    const publish = page.getByRole('button', { name: 'Publish', exact: true })
    assert.ok(await publish.isDisabled())
    await page.getByLabel('Publish it without these documents').check()
    await page.getByText('--wsdl-incomplete', { exact: false }).waitFor()
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways')
    await press(page, 'Publish')
    await page.getByText('lacking is on the market').waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('reads an OpenAPI document from a file, and calls one of its operations', async () => {
    const { page, mishaps } = await entered(browser, bench)
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'Judge', version: '1' },
      paths: {
        '/verdicts': {
          post: {
            operationId: 'judge',
            summary: 'Says what it thinks.',
            requestBody: {
              content: {
                'application/json': {
                  schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
                }
              }
            },
            responses: { 200: { description: 'A verdict' } }
          }
        }
      }
    }
    await page.goto(`${bench.url}/register`)
    assert.equal(
      await page.getByRole('navigation', { name: 'Main' }).locator('[aria-current="page"]').textContent(),
      'My APIs'
    )
    await page.getByLabel('OpenAPI file').check()
    await page.getByLabel('OpenAPI document').setInputFiles({
      name: 'judge.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(openapi))
    })
    await page.getByLabel('Address of the API').fill(rest.url)
    await press(page, 'Read it')
    await page.getByText('It is REST, with 1 operation:').waitFor()
    await press(page, 'Continue')
    await page.getByLabel('Name', { exact: true }).fill('verdicts')
    await press(page, 'Continue')
    await page.getByText('Says what it thinks.').waitFor()
    await press(page, 'Skip')
    await page.getByText('--openapi judge.json', { exact: false }).waitFor()
    await isUsable(page, 'publish')
    await press(page, 'Publish')
    await page.getByText('verdicts is on the market').waitFor()
    assert.deepEqual((await bench.client.request('GET /apis/:name', { params: { name: 'verdicts' } })).operations, [
      'judge'
    ])
    assert.deepEqual(mishaps, [])
  })

  it('reads the schema of a GraphQL endpoint, and completes queries', async () => {
    const { page, mishaps } = await entered(browser, bench)
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('GraphQL').check()
    await page.getByRole('textbox', { name: 'Endpoint' }).fill(users.url)
    await press(page, 'Read it')
    await page.getByText('It is GraphQL').waitFor()
    await press(page, 'Continue')
    await page.getByLabel('Name', { exact: true }).fill('people')
    await press(page, 'Continue')
    const query = page.getByRole('textbox', { name: 'Query' })
    await query.fill('{ ')
    await query.press('End')
    await query.pressSequentially('use')
    await page.getByRole('option', { name: /^users/ }).waitFor()
    await query.press('Escape')
    await query.fill('{ user(id: "1") { name } }')
    await press(page, 'Call it')
    await page.getByText('"name": "Alan Turing"').waitFor()
    await isUsable(page, 'test call')
    await press(page, 'Continue')
    await press(page, 'Publish')
    await page.getByText('people is on the market').waitFor()
    await page.getByRole('link', { name: 'Try it' }).press('Enter')
    await page.getByRole('textbox', { name: 'Query' }).fill('{ user(id: "2") { name } }')
    await press(page, 'Call')
    await page.getByText('"name": "Barbara Liskov"').waitFor()
    assert.deepEqual(mishaps, [])
  })

  it('reads a WSDL from a file', async () => {
    const { page } = await entered(browser, bench)
    const wsdl = Buffer.from(await (await fetch(account.url)).arrayBuffer())
    await page.goto(`${bench.url}/register`)
    await page.getByLabel('SOAP').check()
    await page.getByLabel('WSDL file or zip').check()
    await page
      .getByLabel('WSDL', { exact: true })
      .setInputFiles({ name: 'bank.wsdl', mimeType: 'text/xml', buffer: wsdl })
    await page.getByText('Read: bank.wsdl').waitFor()
    await page.getByLabel('Address of the service').fill(account.url.replace('?wsdl', ''))
    await press(page, 'Read it')
    await page.getByText('It is SOAP, with 2 operations:').waitFor()
  })
})
