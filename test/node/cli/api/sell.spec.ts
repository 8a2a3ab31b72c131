import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { main } from '../../../../node/cli/program.ts'
import { startAccount } from '../../../../node/demo/account.ts'
import { answering, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../../../helpers/souk-home.ts'
import { type TestTerminal, testTerminal } from '../../../helpers/test-terminal.ts'
import { yogaServer } from '../../../helpers/yoga.ts'

interface Sold {
  readonly api: { readonly id: string; readonly name: string; readonly protocol: string; readonly price: string }
  readonly updated: boolean
  readonly known_by: readonly string[]
  readonly peers: number
  readonly earns: string
  readonly curl: string
  readonly page: string
}

const document = (title: string) => ({
  openapi: '3.0.3',
  info: { title, version: '1' },
  paths: {
    '/forecast': {
      get: {
        operationId: 'forecast',
        parameters: [{ name: 'city', in: 'query', schema: { type: 'string' } }],
        responses: { 200: { description: 'ok' } }
      }
    }
  }
})

describe('souk sell', () => {
  let home: SoukHome
  let seller: HomeNode
  let server: FastifyInstance
  let url: string
  let title = 'Weather Service'
  tellWhenFailed(() => home)

  before(async () => {
    home = await soukHome()
    server = fastify()
    server.get('/openapi.json', () => document(title))
    server.get<{ Querystring: { city?: string } }>('/forecast', ({ query }) => ({
      city: query.city ?? 'none',
      sun: true
    }))
    await server.listen({ port: 0, host: '127.0.0.1' })
    url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
    seller = await home.up('seller')
  })
  after(async () => {
    await home.close()
    await server.close()
  })

  const sell = (...args: string[]) => home.run('--profile seller --json sell', args)
  const typed = async (answers: readonly string[], ...args: string[]): Promise<[number, TestTerminal]> => {
    const terminal = testTerminal({ env: { SOUK_HOME: home.directory, SOUK_WATCHDOG: '0' }, answers })
    return [await main(['--profile', 'seller', 'sell', ...args], terminal), terminal]
  }

  it('asks once, and says plainly that nobody else is there', async () => {
    const [code, terminal] = await typed([''], url)
    assert.equal(code, 0, terminal.stderr())
    assert.equal(terminal.asked.length, 1)
    assert.match(terminal.asked[0]?.question ?? '', /^Sell it as weather-service for 0\.001 USDC per call\?/)
    assert.match(terminal.stderr(), /^Found REST: "Weather Service", 1 operation, at http:.*openapi\.json$/m)
    assert.match(terminal.stderr(), /No other node is connected/)
    assert.match(terminal.stdout(), /you earn 0\.00095 USDC/)
    assert.match(terminal.stdout(), /curl -s .*\/api\/demo\/api\/weather-service/)
    assert.ok(terminal.stdout().includes(`${seller.ingress}/?q=weather-service`))
  })

  it('changes nothing when it is declined, and takes another price as the answer', async () => {
    const [no, declined] = await typed(['n'], url, '--name', 'declined')
    assert.equal(no, 1)
    assert.match(declined.stderr(), /Nothing was registered/)
    const [yes, priced] = await typed(['0.25'], url, '--name', 'priced')
    assert.equal(yes, 0, priced.stderr())
    const { apis } = await seller.cli<{ apis: Array<{ name: string; price: string }> }>('api list')
    assert.deepEqual(
      apis.filter(({ name }) => name !== 'weather-service').map((api) => [api.name, api.price]),
      [['priced', '0.25']]
    )
  })

  it('needs --yes without a terminal, and names the whole command', async () => {
    const { code, stderr } = await sell(url)
    assert.equal(code, 64)
    assert.match(stderr, /--yes --name [a-z-]+ --price 0\.001/)
  })

  it('is found by another node, which then calls it', async () => {
    const buyer = await home.up('buyer', '--bootstrap', seller.p2p[0] ?? '')
    title = 'Météo — v2!'
    const { code, stdout, stderr } = await sell(url, '--yes', '--price', '0.002', '--name', 'meteo')
    assert.equal(code, 0, stderr)
    const sold = JSON.parse(stdout) as Sold
    assert.deepEqual([sold.api.protocol, sold.api.price, sold.earns], ['REST', '0.002', '0.0019'])
    assert.deepEqual(sold.known_by, [buyer.peer])
    const { listings } = await buyer.cli<{ listings: Array<{ name: string }> }>('search meteo')
    assert.deepEqual(
      listings.map(({ name }) => name),
      ['meteo']
    )
    const { body } = await buyer.cli<{ body: unknown }>('call meteo', '{"operation":"forecast","city":"Oslo"}')
    assert.deepEqual(body, { city: 'Oslo', sun: true })
  })

  it('sells a GraphQL API, named after its host', async () => {
    const yoga = await yogaServer({
      typeDefs: 'type Query { now: String }',
      resolvers: { Query: { now: () => 'now' } }
    })
    try {
      const { code, stdout, stderr } = await sell(new URL(yoga.url).host, '--yes', '--price', '0', '--name', 'clock')
      assert.equal(code, 0, stderr)
      assert.deepEqual((JSON.parse(stdout) as Sold).api.protocol, 'GraphQL')
    } finally {
      await yoga.close()
    }
  })

  it('sells a SOAP API whose imports are missing only with --wsdl-incomplete, or a yes', async () => {
    const account = await startAccount()
    const wsdl = await (await fetch(account.url)).text()
    const lacking = wsdl.replace(/(<(\w+):types>)/, '<$2:import namespace="urn:x" location="/gone.wsdl"/>$1')
    const found = answering(200, { 'content-type': 'text/xml' }, lacking)
    const bank = await scriptedUpstream((response, received) => {
      const isWsdl = received.method === 'GET' && received.target === '/svc?wsdl'
      ;(isWsdl ? found : answering(404, {}, ''))(response, received)
    })
    const args = [`${bank.url}/svc?wsdl`, '--yes', '--price', '0', '--name', 'lacking']
    try {
      const refused = await sell(...args)
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /"code":"description_incomplete".*gone\.wsdl is imported, but could not be read/)
      const [no, declined] = await typed(['n'], ...args)
      assert.equal(no, 1)
      assert.match(declined.asked[0]?.question ?? '', /^Publish lacking without these documents\? \[y\/N\]/)
      assert.equal((await home.run('--profile seller api show lacking')).code, 1)
      assert.equal((await typed(['y'], ...args))[0], 0)
      const flags = ['--name', 'lacking2', '--protocol', 'SOAP', '--endpoint', `${bank.url}/svc?wsdl`, '--price', '0']
      const registered = (...more: string[]) => home.run('--profile seller api register', [...flags, ...more])
      assert.equal((await registered()).code, 1)
      assert.equal((await registered('--wsdl-incomplete')).code, 0)
      assert.equal((await sell(...args, '--name', 'lacking3', '--wsdl-incomplete')).code, 0)
    } finally {
      await Promise.all([account.close(), bank.close()])
    }
  })

  it('changes a registered API only with --replace, or a yes', async () => {
    const priceOf = async () => (await seller.cli<{ price: string }>('api show priced')).price
    const again = ['--yes', '--name', 'priced', '--price', '0.5']
    const refused = await sell(url, ...again)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /"code":"api_exists"/)
    assert.match(refused.stderr, /price: 0\.25 USDC → 0\.5 USDC/)
    const [no, declined] = await typed(['no'], url, ...again)
    assert.equal(no, 1)
    assert.match(declined.stderr(), /^ {2}price: 0\.25 USDC → 0\.5 USDC$/m)
    assert.equal(await priceOf(), '0.25')
    assert.equal((await typed(['yes'], url, ...again))[0], 0)
    assert.equal(await priceOf(), '0.5')
    assert.equal((await sell(url, ...again, '--price', '0.6', '--replace')).code, 0)
    assert.equal(await priceOf(), '0.6')
  })

  it('removes an API only with --yes, or a yes', async () => {
    const rm = (...answers: string[]) => {
      const terminal = testTerminal({ env: { SOUK_HOME: home.directory, SOUK_WATCHDOG: '0' }, answers })
      return main(['--profile', 'seller', 'api', 'rm', 'priced'], terminal)
    }
    const scripted = await home.run('--profile seller api rm priced')
    assert.equal(scripted.code, 64)
    assert.match(scripted.stderr, /--yes/)
    assert.equal(await rm('n'), 1)
    assert.equal((await seller.cli<{ name: string }>('api show priced')).name, 'priced')
    assert.equal(await rm('y'), 0)
    assert.equal((await home.run('--profile seller api show priced')).code, 1)
  })

  it('says what is wrong with an address where nothing listens', async () => {
    const { code, stderr } = await sell('http://127.0.0.1:1/', '--yes')
    assert.equal(code, 1)
    assert.match(stderr, /refuses connections/)
  })

  it('names the command that starts a node', async () => {
    const { code, stderr } = await home.run('--profile nobody sell', [url, '--yes'])
    assert.equal(code, 69)
    assert.match(stderr, /souk --profile nobody (?:init|up)/)
  })
})
