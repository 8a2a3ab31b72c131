import assert from 'node:assert/strict'
import { startAccount } from '../../../node/demo/account.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import type { Adapter, Inspection } from '../../../lib/interface/adapter.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { demoAlone } from '../../helpers/demo-alone.ts'

describe('the demo account service', () => {
  let account: DemoServer
  let inspection: Inspection
  let adapter: Adapter
  before(async () => {
    account = await startAccount()
    inspection = await soapFactory.inspect({ endpoint: account.url }, FOREVER)
    adapter = soapFactory.open({ endpoint: account.url }, inspection.snapshot)
  })
  after(async () => {
    await adapter.close?.()
    await account.close()
  })

  const call = async (body: unknown) => jsonOf(await adapter.call(plainCall(body), FOREVER))
  const post = (body: string) => fetch(account.url.replace('?wsdl', ''), { method: 'POST', body })

  it('serves a WSDL that names its own address', async () => {
    assert.match(account.url, /^http:\/\/127\.0\.0\.1:\d+\/account\?wsdl$/)
    const response = await fetch(account.url)
    assert.equal(response.headers.get('content-type'), 'text/xml; charset=utf-8')
    assert((await response.text()).includes(`location="${account.url.replace('?wsdl', '')}"`))
    assert.deepEqual(inspection.warnings, [])
    assert.deepEqual(
      inspection.description.operations.map(({ name }) => name),
      ['getBalance', 'getTransactions']
    )
  })

  it('returns a balance', async () => {
    const { asOf, ...rest } = (await call({ operation: 'getBalance', accountId: 'ACC-1001' })) as Record<
      string,
      unknown
    >
    assert.deepEqual(rest, { accountId: 'ACC-1001', balance: 9268.98, currency: 'CHF' })
    assert(Math.abs(Date.parse(String(asOf)) - Date.now()) < 60_000)
  })

  it('returns the requested number of transactions, always as an array', async () => {
    for (const [limit, count] of [
      [1, 1],
      [20, 20],
      [undefined, 5]
    ]) {
      const { transaction } = (await call({ operation: 'getTransactions', limit, accountId: 'ACC-1002' })) as {
        transaction: object[]
      }
      assert.equal(transaction.length, count)
      assert.deepEqual(Object.keys(transaction[0] ?? {}), ['id', 'bookedOn', 'amount', 'description'])
    }
  })

  it('returns a Client fault for an unknown account', async () => {
    await assert.rejects(call({ operation: 'getBalance', accountId: '<&\'">' }), {
      code: 'soap_fault',
      status: 400,
      members: {
        fault: {
          code: 'Client',
          reason: 'The account does not exist.',
          detail: { AccountNotFound: { accountId: '<&\'">', hint: 'ACC-1000 to ACC-1999 exist.' } }
        }
      }
    })
  })

  const bad = [
    '',
    '{}',
    '<a/>',
    '<a><b></a>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    '<Envelope><Body/></Envelope>',
    '<constructor/>'
  ]
  const wrapped = (content: string) =>
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${content}</e:Body></e:Envelope>`
  for (const body of [
    ...bad,
    wrapped('<toString/>'),
    wrapped('<getBalance/>'),
    wrapped('<getBalance><accountId><x/></accountId></getBalance>'),
    'x'.repeat(100_000)
  ]) {
    it(`returns a Client fault for ${body.slice(0, 60)}`, async () => {
      const response = await post(body)
      assert.equal(response.status, 500)
      assert.match(await response.text(), /<faultcode>soap:Client<\/faultcode>/)
    })
  }

  it('reads requests with any prefixes and layout', async () => {
    const response = await post(
      wrapped(
        '\n <x:getBalance xmlns:x="urn:souk:demo:account">\n  <x:accountId>ACC-100&#49;</x:accountId>\n </x:getBalance>\n'
      )
    )
    assert.match(await response.text(), /<a:balance>9268\.98<\/a:balance>/)
  })

  it('runs as a process and ends on a signal', async () => {
    const { url, end } = await demoAlone('account')
    assert.equal((await fetch(url)).status, 200)
    assert.equal(await end('SIGTERM'), 0)
  })
})
