import assert from 'node:assert/strict'
import { isSoukError, limits, systemClock } from '../../../lib/index.ts'
import { discoverUpstream } from '../../../protocols/index.ts'
import { accountWsdl } from '../../../node/demo/account-wsdl.ts'
import { type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { yogaServer } from '../../helpers/yoga.ts'
import { assertCpuBelow, cpuMsOf } from '../../helpers/cpu-time.ts'

const NEVER = new AbortController().signal

/** Responses by path and query. Other paths get 404. */
type Layout = Readonly<
  Record<string, string | { readonly type: string; readonly body: string; readonly link?: string }>
>

const OPENAPI = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Weather API', version: '1', description: 'Forecasts.\n\nMore text.' },
  paths: { '/forecast': { get: { operationId: 'forecast', responses: { 200: { description: 'ok' } } } } }
})
const served = (servers: string, document = OPENAPI) => `${document.slice(0, -1)},"servers":[{"url":"${servers}"}]}`
const SWAGGER = '{"swagger":"2.0","info":{"title":"Old","version":"1"},"basePath":"/v2","paths":{}}'
const YAML = 'openapi: 3.1.0\ninfo:\n  title: In YAML\n  version: "1"\npaths: {}\n'
const PAGE = '<!doctype html><html><head><title>x</title></head><body>hello</body></html>'

function laidOut(layout: Layout): Behaviour {
  return (response, { method, target }) => {
    const found = layout[target] ?? layout[`${method} ${target}`]
    if (found === undefined) return response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>404</h1>')
    const { type, body, link } =
      typeof found === 'string' ? { type: 'application/json', body: found, link: undefined } : found
    return response.writeHead(200, { 'content-type': type, ...(link && { link }) }).end(body)
  }
}

describe('discovery of an API at an address', () => {
  let upstream: ScriptedUpstream

  before(async () => (upstream = await scriptedUpstream(laidOut({}))))
  beforeEach(() => void (upstream.received.length = 0))
  after(() => upstream.close())

  async function found(layout: Layout | Behaviour, path = '') {
    upstream.behave(typeof layout === 'function' ? layout : laidOut(layout))
    const all = await discoverUpstream({ endpoint: upstream.url + path }, systemClock, NEVER)
    return all.map(({ protocol, config: { endpoint, openapi, method }, title }) => ({
      protocol,
      endpoint: endpoint.replace(upstream.url, ''),
      openapi: openapi !== undefined && 'url' in openapi ? openapi.url.replace(upstream.url, '') : undefined,
      method,
      title
    }))
  }

  const html = (body: string) => ({ type: 'text/html; charset=utf-8', body })
  const layouts: Array<[what: string, layout: Layout, path: string, wanted: [string, string, string | undefined]]> = [
    ['FastAPI', { '/openapi.json': OPENAPI }, '', ['REST', '/', '/openapi.json']],
    [
      'a framework with YAML',
      { '/openapi.yaml': { type: 'text/yaml', body: YAML } },
      '',
      ['REST', '/', '/openapi.yaml']
    ],
    ['springdoc', { '/v3/api-docs': OPENAPI }, '/', ['REST', '/', '/v3/api-docs']],
    ['springfox, with a base path', { '/v2/api-docs': SWAGGER }, '/', ['REST', '/v2', '/v2/api-docs']],
    ['ASP.NET', { '/swagger/v1/swagger.json': OPENAPI }, '', ['REST', '/', '/swagger/v1/swagger.json']],
    ['NestJS', { '/api-json': OPENAPI }, '', ['REST', '/', '/api-json']],
    [
      'a document below a path',
      { '/api/v1/openapi.json': served('/api/v1') },
      '/api/v1',
      ['REST', '/api/v1', '/api/v1/openapi.json']
    ],
    [
      'a document at the root, for an address below it',
      { '/openapi.json': OPENAPI },
      '/items/all',
      ['REST', '/', '/openapi.json']
    ],
    [
      'the document itself, at an unusual place',
      { '/x/y.json?z=1': served('/x') },
      '/x/y.json?z=1',
      ['REST', '/x', '/x/y.json?z=1']
    ],
    [
      'a document for another host',
      { '/openapi.json': served('https://api.example.com/v7') },
      '',
      ['REST', '/v7', '/openapi.json']
    ],
    [
      'a Link header',
      {
        '/': { type: 'text/html', body: PAGE, link: '</hidden.json>; rel="service-desc"; type="application/json"' },
        '/hidden.json': OPENAPI
      },
      '',
      ['REST', '/', '/hidden.json']
    ],
    [
      'a link in a page',
      { '/': html('<link rel="service-desc" href="/there.json">'), '/there.json': OPENAPI },
      '',
      ['REST', '/', '/there.json']
    ],
    [
      'Redoc',
      { '/': html('<redoc spec-url="spec/api.json"></redoc>'), '/spec/api.json': OPENAPI },
      '',
      ['REST', '/', '/spec/api.json']
    ],
    [
      'Swagger UI',
      { '/': html('<script>SwaggerUIBundle({ url: "/deep/doc.json" })</script>'), '/deep/doc.json': OPENAPI },
      '',
      ['REST', '/', '/deep/doc.json']
    ],
    [
      'an API catalogue',
      {
        '/.well-known/api-catalog': '{"linkset":[{"anchor":"/","service-desc":[{"href":"/c.json"}]}]}',
        '/c.json': OPENAPI
      },
      '',
      ['REST', '/', '/c.json']
    ],
    [
      'a SOAP service',
      { '/ws?wsdl': { type: 'text/xml', body: accountWsdl('http://x/') } },
      '/ws',
      ['SOAP', '/ws?wsdl', undefined]
    ],
    [
      'a WSDL file',
      { '/a.wsdl': { type: 'text/plain', body: accountWsdl('http://x/') } },
      '/a.wsdl',
      ['SOAP', '/a.wsdl', undefined]
    ],
    [
      'a list of SOAP services',
      {
        '/services': html('<a href="services/Bank?wsdl">Bank</a>'),
        '/services/Bank?wsdl': { type: 'text/xml', body: accountWsdl('http://x/') }
      },
      '/services',
      ['SOAP', '/services/Bank?wsdl', undefined]
    ],
    [
      'GraphQL by POST only',
      { 'POST /graphql': '{"data":{"__typename":"Query"}}' },
      '',
      ['GraphQL', '/graphql', undefined]
    ],
    [
      'GraphQL at its own address',
      { '/?query=%7B__typename%7D': '{"data":{"__typename":"Query"}}' },
      '',
      ['GraphQL', '/', undefined]
    ],
    ['nothing but JSON', { '/': '{"hello":1}' }, '', ['REST', '/', undefined]],
    [
      'errors as JSON:API has them',
      { '/graphql?query=%7B__typename%7D': '{"errors":[{"status":"400","message":"no"}]}' },
      '',
      ['REST', '/', undefined]
    ]
  ]

  for (const [what, layout, path, [protocol, endpoint, openapi]] of layouts) {
    it(`finds ${what}`, async () => {
      const [best] = await found(layout, path)
      assert.deepEqual([best?.protocol, best?.endpoint, best?.openapi], [protocol, endpoint, openapi])
    })
  }

  it('finds a real GraphQL server', async () => {
    const yoga = await yogaServer({
      typeDefs: 'type Query { now: String }',
      resolvers: { Query: { now: () => 'now' } }
    })
    try {
      const all = await discoverUpstream({ endpoint: new URL('/', yoga.url).href }, systemClock, NEVER)
      assert.deepEqual([all[0]?.protocol, all[0]?.config.endpoint], ['GraphQL', yoga.url])
    } finally {
      await yoga.close()
    }
  })

  it('is not deceived by a server that answers every path with the same page, or the same JSON', async () => {
    for (const [type, body] of [
      ['text/html', PAGE],
      ['application/json', '{"openapi":true,"data":null}']
    ] as const) {
      const all = await found((response) => response.writeHead(200, { 'content-type': type }).end(body))
      assert.deepEqual(
        all.map(({ protocol, method }) => [protocol, method]),
        [['REST', 'GET']]
      )
    }
  })

  it('reads a page and a WSDL of unclosed tags in a moment', async () => {
    const wsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">${'<service '.repeat(40_000)}`
    await assertCpuBelow(3_000, () =>
      found({ '/': html('<a '.repeat(80_000)), '/?wsdl': { type: 'text/xml', body: wsdl } })
    )
  })

  for (const [what, target] of [
    ['a GraphQL response', '/deep?query=%7B__typename%7D'],
    ['a catalog', '/.well-known/api-catalog']
  ] as const) {
    it(`does not parse all of what may be ${what}`, async () => {
      const half = 6e6
      const deep = '['.repeat(half) + ']'.repeat(half)
      const parsingMs = await cpuMsOf(() => JSON.parse(deep))
      await assertCpuBelow(parsingMs, async () => {
        const all = await found({ '/deep': '{}', [target]: deep }, '/deep')
        assert.deepEqual(all[0]?.protocol, 'REST')
      })
    })
  }

  it('posts to no path that is not named like a GraphQL endpoint', async () => {
    await found({}, '/orders')
    const posted = upstream.received.filter(({ method }) => method !== 'GET').map(({ target }) => target)
    assert.deepEqual([...new Set(posted)].sort(), ['/api/graphql', '/graphql', '/v1/graphql'])
  })

  it('sends credentials to the origin only, and follows no link to another', async () => {
    const other = await scriptedUpstream(laidOut({ '/d.json': OPENAPI }))
    try {
      upstream.behave(laidOut({ '/': html(`<link rel="service-desc" href="${other.url}/d.json">`) }))
      const auth = { bearer: 'secret-1', query: { key: 'secret-2' } }
      await discoverUpstream({ endpoint: upstream.url, auth }, systemClock, NEVER)
      assert.equal(other.received.length, 0)
      assert.ok(upstream.received.every(({ headers }) => headers.authorization === 'Bearer secret-1'))
      assert.ok(upstream.received.every(({ target }) => target.includes('key=secret-2')))
    } finally {
      await other.close()
    }
  })

  it('asks a limited number of places, a few at once', async () => {
    const links = Array.from({ length: 500 }, (_, at) => `<a href="/${at}?wsdl">x</a>`).join('')
    let [running, most] = [0, 0]
    await found((response, { target }) => {
      most = Math.max(most, ++running)
      response.on('close', () => running--)
      setImmediate(() => response.writeHead(200, { 'content-type': 'text/html' }).end(target === '/' ? links : ''))
    })
    assert.ok(upstream.received.length <= limits.DISCOVERY_REQUESTS_MAX, `${upstream.received.length} requests`)
    assert.ok(most <= limits.DISCOVERY_AT_ONCE_MAX, `${most} at once`)
  })

  it('says at once that nothing listens there', async () => {
    const gone = await scriptedUpstream(laidOut({}))
    await gone.close()
    await assert.rejects(discoverUpstream({ endpoint: gone.url }, systemClock, NEVER), (error) => {
      return isSoukError(error) && error.code === 'upstream_unreachable' && /refuses connections/.test(error.message)
    })
  })

  it('ends in time although the server sends an endless stream at each path', async () => {
    const [best] = await found(
      (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n')
    )
    assert.equal(best?.protocol, 'REST')
  })
})
