import assert from 'node:assert/strict'
import type { Problem } from '../../../../lib/interface/index.ts'
import { startAccount } from '../../../../node/demo/account.ts'
import type { DemoServer } from '../../../../node/demo/demo-server.ts'
import { startTicker } from '../../../../node/demo/ticker.ts'
import { protocolFactories } from '../../../../protocols/index.ts'
import { type Bench, startBench } from '../harness.ts'

describe('descriptions of APIs in the admin API', () => {
  let bench: Bench
  let account: DemoServer
  let ticker: DemoServer
  before(async () => {
    ;[account, ticker] = await Promise.all([startAccount(), startTicker()])
    bench = await startBench({}, protocolFactories)
  })
  after(async () => {
    await Promise.all([bench?.stop(), account?.close(), ticker?.close()])
  })

  const upstream = () => ({ protocol: 'SOAP' as const, endpoint: account.url })
  const names = (view: { operations: ReadonlyArray<{ name: string }> }) => view.operations.map(({ name }) => name)

  it('reads an upstream and calls it once, without publishing or storing anything', async () => {
    assert.deepEqual(names(await bench.client.request('POST /upstreams/check', { body: upstream() })), [
      'getBalance',
      'getTransactions'
    ])
    const body = { operation: 'getBalance', accountId: 'ACC-1001' }
    const answer = await bench.client.request('POST /upstreams/call', { body: { upstream: upstream(), body } })
    assert.equal(answer.status, 200)
    assert(answer.success)
    assert.equal((JSON.parse(answer.body) as { accountId: string }).accountId, 'ACC-1001')
    assert.deepEqual((await bench.client.request('GET /apis')).apis, [])
    assert.deepEqual(bench.souk.listings(), [])
    assert.deepEqual(await bench.souk.store.calls.usage(), [])
  })

  it('finds an API without a description by the title and text of its document', async () => {
    const info = { title: 'Town Meteorology', version: '1', description: '# About\n\nForecasts for hamlets.' }
    const text = JSON.stringify({ openapi: '3.1.0', info, paths: { '/now': { get: { operationId: 'now' } } } })
    const asked = { name: 'sky', protocol: 'REST' as const, endpoint: ticker.url, price: '0', openapi: { text } }
    const register = (change: object) => bench.client.request('POST /apis', { body: { ...asked, ...change } })
    const { api } = await register({})
    assert.equal(api.description, 'Town Meteorology: Forecasts for hamlets.')
    for (const q of ['meteorology', 'hamlets']) {
      const { listings } = await bench.client.request('GET /search', { query: { q } })
      assert.deepEqual(
        listings.map(({ id }) => id),
        [api.id]
      )
    }
    assert.equal((await register({})).updated, true)
    assert.equal((await register({ description: 'Mine.', replace: true })).api.description, 'Mine.')
    assert.equal((await register({ description: '', replace: true })).api.description, '')
    const again = await register({})
    assert.deepEqual([again.updated, again.api.description], [true, api.description])
    await bench.client.request('DELETE /apis/:name', { params: { name: 'sky' } })
  })

  it('publishes a WSDL whose imports are missing only with a yes', async () => {
    const wsdl = await (await fetch(account.url)).text()
    const lacking = wsdl.replace(/(<(\w+):types>)/, '<$2:import namespace="urn:x" location="parts/more.wsdl"/>$1')
    const files = (content: string) => ({ files: { 'bank.wsdl': Buffer.from(content).toString('base64') } })
    const asked = { protocol: 'SOAP' as const, endpoint: account.url, wsdl: files(lacking) }
    const { missing } = await bench.client.request('POST /upstreams/check', { body: asked })
    assert.deepEqual(missing, [
      'parts/more.wsdl is imported, but could not be read: it is not among the uploaded files.'
    ])
    const terms = { name: 'lacking', price: '0.001' }
    const publish = (change: object) => bench.client.request('POST /apis', { body: { ...terms, ...asked, ...change } })
    await assert.rejects(publish({}), (error: Error & { problem: Problem }) => {
      const { code, status, missing: named } = error.problem
      assert.deepEqual([code, status, named], ['description_incomplete', 422, missing])
      assert.match(error.message, /parts\/more\.wsdl.*--wsdl-file.*--wsdl-incomplete/s)
      return true
    })
    assert.deepEqual((await bench.client.request('GET /apis')).apis, [])
    const done = await publish({ wsdl: { ...asked.wsdl, incomplete: true } })
    assert.ok(done.warnings.includes(missing[0] ?? ''))
    // A yes to one document is none to the next.
    await assert.rejects(publish({ replace: true }), { code: 'description_incomplete' })
    assert.deepEqual((await publish({ wsdl: files(wsdl), replace: true })).warnings, [])
    await bench.client.request('DELETE /apis/:name', { params: { name: 'lacking' } })
  })

  it('reports errors of an upstream, and of a call to it', async () => {
    const away = { protocol: 'REST' as const, endpoint: 'http://127.0.0.1:9/' }
    await assert.rejects(bench.client.request('POST /upstreams/check', { body: away }), {
      code: 'upstream_unreachable'
    })
    const unknown = bench.client.request('POST /upstreams/call', {
      body: { upstream: upstream(), body: { operation: 'nothing' } }
    })
    await assert.rejects(unknown, { code: 'operation_not_found' })
  })

  it('shows the start of an endless stream', async () => {
    const asked = { upstream: { protocol: 'REST' as const, endpoint: ticker.url }, body: { symbol: 'BTCUSDT' } }
    const answer = await bench.client.request('POST /upstreams/call', { body: asked })
    assert.equal(answer.status, 200)
  })

  it('returns the schemas of an API, and previews them with a mapping', async () => {
    await bench.client.request('POST /apis', { body: { name: 'bank', price: '0.001', ...upstream() } })
    const plain = await bench.client.request('GET /apis/:name/description', { params: { name: 'bank' } })
    assert.deepEqual(Object.keys(plain.operations[0]?.input?.['properties'] ?? {}), ['operation', 'accountId'])
    const input = { accountId: { rename: 'account' } }
    const mapping = { version: 1, revision: 2, operations: { getBalance: { input } } }
    const mapped = await bench.client.request('POST /apis/:name/mapping/preview', {
      params: { name: 'bank' },
      body: { mapping }
    })
    assert.deepEqual(Object.keys(mapped.operations[0]?.input?.['properties'] ?? {}), ['operation', 'account'])
    assert.deepEqual(await bench.client.request('GET /apis/:name/description', { params: { name: 'bank' } }), plain)
    const wrong = { ...mapping, operations: { getBalance: { input: { nothing: { hide: true } } } } }
    const { problems } = await bench.client.request('POST /apis/:name/mapping/preview', {
      params: { name: 'bank' },
      body: { mapping: wrong }
    })
    assert.equal(problems[0]?.at, '/operations/getBalance/input/nothing')
    await assert.rejects(bench.client.request('GET /apis/:name/description', { params: { name: 'nobody' } }), {
      code: 'api_not_found'
    })
  })
})
