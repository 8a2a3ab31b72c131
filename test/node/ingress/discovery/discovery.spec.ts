import assert from 'node:assert/strict'
import { validate } from '@readme/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { limits, SoukError } from '../../../../lib/index.ts'
import type { FoundListing, Manifest, SearchQuery } from '../../../../lib/interface/index.ts'
import { exampleBody } from '../../../../node/ingress/discovery/example.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { foundListing, PROVIDER, RawClient, type Running, startIngress } from '../harness.ts'

/** x402's extension `bazaar`: an example request of a resource, and the schema that it matches. */
interface Bazaar {
  readonly info: { readonly input: { readonly type: string; readonly method?: string; readonly bodyType?: string } }
  readonly schema: object
}

interface Resources {
  readonly x402Version: number
  readonly items: ReadonlyArray<{ resource: string; accepts: unknown[]; extensions: { bazaar: Bazaar } }>
  readonly pagination: { limit: number; offset: number; total: number }
}

interface Linkset {
  readonly linkset: ReadonlyArray<{ anchor: string } & Record<string, ReadonlyArray<{ href: string; type?: string }>>>
}

const OFFER = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1500',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' }
}

describe('ingress: how programs find APIs', () => {
  let ingress: Running
  let listings: FoundListing[]

  beforeEach(async () => {
    ingress = await startIngress({ x402: true })
    listings = [
      foundListing('ticker'),
      foundListing('users', { protocol: 'GraphQL', api: { operations: [], sdl: 'type Query' } })
    ]
    ingress.onSearch = async ({ cursor, limit = 100 }: SearchQuery = {}) => {
      const from = Number(cursor ?? 0)
      const end = from + limit
      return { listings: listings.slice(from, end), ...(end < listings.length ? { next: String(end) } : {}) }
    }
    ingress.onResolve = async (api) => {
      const name = typeof api === 'string' ? api.split('@')[0] : api.name
      const found = listings.find(({ manifest }) => manifest.name === name)
      if (found === undefined) throw new SoukError('api_not_found')
      return { signed: found, owners: [] }
    }
    ingress.onCall = () => {
      throw new SoukError('payment_required', 'Pay.', { members: { x402: { error: 'pay', accepts: [OFFER] } } })
    }
  })
  afterEach(() => ingress.close())

  describe('/.well-known/api-catalog', () => {
    const PATH = '/.well-known/api-catalog'

    it('is a set of links without broken ones', async () => {
      const response = await fetch(ingress.url + PATH)
      assert.equal(
        response.headers.get('content-type'),
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
      )
      const { linkset } = (await response.json()) as Linkset
      assert.equal(linkset[0]?.anchor, ingress.url + PATH)
      assert.deepEqual(
        linkset[0]['item']?.map(({ href }) => href),
        listings.map(({ manifest }) => `${ingress.url}/api/${PROVIDER}/api/${manifest.name}`)
      )
      let followed = 0
      for (const { anchor: _, item: __, ...relations } of linkset) {
        for (const { href, type } of Object.values(relations).flat()) {
          const target = await fetch(href)
          assert.equal(target.status, 200, href)
          assert.equal(target.headers.get('content-type')?.split(';')[0], type, href)
          followed++
        }
      }
      assert.equal(followed, 3 + 3 + 4)
    })

    it('returns its Link header for HEAD', async () => {
      const response = await fetch(ingress.url + PATH, { method: 'HEAD' })
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('link'), `<${ingress.url}${PATH}>; rel="api-catalog"`)
      assert.match(response.headers.get('content-type') ?? '', /^application\/linkset\+json/)
    })

    it('has pages, each of which is a catalog', async () => {
      listings = Array.from({ length: 2 * limits.PAGE_MAX + 5 }, (_, i) => foundListing(`api-${i}`))
      const seen: string[] = []
      let url: string | undefined = ingress.url + PATH
      while (url !== undefined) {
        const response: Response = await fetch(url)
        const [catalog] = ((await response.json()) as Linkset).linkset
        assert.equal(catalog?.anchor, url)
        seen.push(...(catalog['item'] ?? []).map(({ href }) => href))
        const next = catalog['api-catalog']?.[0]?.href
        assert.equal(/<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1], next)
        url = next
      }
      assert.equal(new Set(seen).size, listings.length)
    })

    it('does not repeat an invalid Host, and uses https behind a TLS proxy', async () => {
      const client = new RawClient(ingress.port)
      client.send(`GET ${PATH} HTTP/1.1\r\nHost: "><script>\r\nConnection: close\r\n\r\n`)
      const text = await client.closed()
      assert.doesNotMatch(text, /script/)
      assert.match(text, /http:\/\/localhost\/api\//)
      const proxied = await fetch(ingress.url + PATH, { headers: { 'x-forwarded-proto': 'https' } })
      assert.match(await proxied.text(), /"https:\/\/127\.0\.0\.1:\d+\/api\//)
    })

    it('allows GET and HEAD only', async () => {
      const response = await fetch(ingress.url + PATH, { method: 'POST' })
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD'])
    })
  })

  describe('/discovery/resources', () => {
    /** Lists resources with the same query as x402's own client. */
    async function listResources(params: Readonly<Record<string, string | number>> = {}): Promise<Resources> {
      const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]))
      const response = await fetch(`${ingress.url}/discovery/resources?${query}`)
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
      return (await response.json()) as Resources
    }

    it('has items in the format of x402’s own client', async () => {
      const found = await listResources({ type: 'http' })
      assert.deepEqual([found.x402Version, found.pagination], [2, { limit: limits.BAZAAR_PAGE, offset: 0, total: 2 }])
      const [first] = found.items
      assert.equal(first?.resource, `${ingress.url}/api/${PROVIDER}/api/ticker`)
      assert.deepEqual(first.accepts, [OFFER])
      for (const { extensions } of found.items) {
        const { info, schema } = extensions.bazaar
        const fits = new Ajv2020({ strict: false }).compile(schema)
        assert.ok(fits(info), JSON.stringify(fits.errors))
        assert.doesNotMatch(JSON.stringify(schema), /"\$(ref|id)":"(?!#)/)
        // Only these methods have a body.
        const { type, method = '', bodyType } = info.input
        assert.deepEqual([type, bodyType], ['http', 'json'])
        assert.ok(['POST', 'PUT', 'PATCH'].includes(method))
      }
    })

    it('supports filters and pages', async () => {
      const total = async (params: Record<string, string>) => (await listResources(params)).pagination.total
      assert.deepEqual(await Promise.all([total({ scheme: 'exact' }), total({ scheme: 'upto' })]), [2, 0])
      assert.deepEqual(await Promise.all([total({ network: OFFER.network }), total({ network: 'eip155:1' })]), [2, 0])
      assert.deepEqual(await Promise.all([total({ payTo: OFFER.payTo.toLowerCase() }), total({ type: 'mcp' })]), [2, 0])
      const second = await listResources({ limit: 1, offset: 1 })
      assert.deepEqual(
        second.items.map(({ resource }) => resource),
        [`${ingress.url}/api/${PROVIDER}/api/users`]
      )
      await assert.rejects(listResources({ limit: -1 }), /400/)
    })

    it('omits APIs that are free, unreachable, or without a valid offer', async () => {
      listings = ['free', 'away', 'wrong', 'huge', 'good'].map((name) =>
        foundListing(name, name === 'free' ? { price: 0n } : {})
      )
      ingress.onCall = ({ api }) => {
        const name = typeof api === 'string' ? api : api.name
        if (name === 'away') throw new SoukError('owner_unreachable')
        const accepts = name === 'wrong' ? [{ scheme: '<b>' }] : [OFFER]
        const extra = { ...OFFER, extra: { text: 'x'.repeat(limits.BAZAAR_OFFER_CHARS_MAX) } }
        throw new SoukError('payment_required', 'Pay.', {
          members: { x402: { accepts: name === 'huge' ? [extra] : accepts } }
        })
      }
      const { items } = await listResources()
      assert.deepEqual(
        items.map(({ resource }) => resource.split('/').at(-1)),
        ['good']
      )
    })

    it('requests offers once for concurrent readers, and again after a time', async () => {
      await ingress.close()
      const clock = manualClock()
      const kept = { onSearch: ingress.onSearch, onResolve: ingress.onResolve, onCall: ingress.onCall }
      ingress = Object.assign(await startIngress({ x402: true }, clock), kept)
      await Promise.all(Array.from({ length: 5 }, () => listResources()))
      assert.equal(ingress.calls.length, 2)
      await clock.advance(limits.BAZAAR_FRESH_MS)
      listings = [foundListing('shop')]
      await listResources()
      await clock.advance(1)
      assert.equal((await listResources()).pagination.total, 1)
      assert.equal(ingress.calls.length, 3)
    })

    it('does not exist if x402 is disabled', async () => {
      await ingress.close()
      ingress = await startIngress({ x402: false })
      assert.equal((await fetch(`${ingress.url}/discovery/resources`)).status, 404)
    })
  })

  describe('/openapi.json', () => {
    interface Document {
      readonly openapi: string
      readonly paths: Record<string, Record<string, { summary?: string }>>
    }
    const read = async () => {
      const response = await fetch(`${ingress.url}/openapi.json`)
      assert.match(response.headers.get('content-type') ?? '', /^application\/openapi\+json/)
      return (await response.json()) as Document
    }

    it('is valid, and has every route', async () => {
      const document = await read()
      const result = await validate(structuredClone(document) as unknown as Parameters<typeof validate>[0])
      assert.deepEqual(result.valid ? [] : result.errors, [])
      for (const path of ['/', '/v1/apis', '/v1/apis/{id}/openapi.json', '/mcp', '/api/{scope}/api/{name}']) {
        assert.ok(path in document.paths, path)
      }
    })

    it('describes every route', async () => {
      const { paths } = await read()
      const silent = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, { summary }]) => (summary === undefined ? [`${method} ${path}`] : []))
      )
      assert.deepEqual(silent, [])
    })
  })

  describe('the example of a call', () => {
    const of = (input: object, changes: Partial<Manifest> = {}) =>
      exampleBody(
        manifestOf(PROVIDER, { name: 'shop', api: { operations: [{ name: 'buy', input: { ...input } }] }, ...changes })
      )

    it('has the required fields of the operation', () => {
      assert.deepEqual(
        of({
          type: 'object',
          required: ['id', 'n', 'when', 'who', 'kind', 'deep', 'list'],
          properties: {
            id: { type: 'string' },
            n: { type: 'integer', minimum: 3 },
            when: { type: 'string', format: 'date' },
            who: { type: ['null', 'boolean'] },
            kind: { enum: ['a', 'b'] },
            deep: { $ref: '#/$defs/Deep' },
            list: { type: 'array', items: { type: 'number' } },
            unasked: { type: 'string' }
          },
          $defs: { Deep: { type: 'object', properties: { x: { const: 7 } } } }
        }),
        { operation: 'buy', id: 'id', n: 3, when: '2026-01-31', who: true, kind: 'a', deep: { x: 7 }, list: [1] }
      )
      assert.deepEqual(of({}, { protocol: 'GraphQL' }), { query: '{ __typename }', variables: {} })
      assert.deepEqual(exampleBody(manifestOf(PROVIDER, { name: 'bb-sse-ticker' })), {
        symbol: 'BTCUSDT',
        interval: '1m'
      })
    })

    it('is limited for hostile schemas', () => {
      const endless = {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { $ref: '#/$defs/L' }, b: { $ref: '#/$defs/L' } }
      }
      const text = JSON.stringify(of({ ...endless, $defs: { L: endless } }))
      assert.ok(text.length <= limits.EXAMPLE_CHARS_MAX)
      assert.deepEqual(of({ type: 'object', required: ['a'], properties: { a: { const: 'x'.repeat(10_000) } } }), {
        operation: 'buy'
      })
      assert.deepEqual(of({ $ref: '#/$defs/__proto__' }), { operation: 'buy' })
      assert.deepEqual(of({ required: 'x', properties: [], type: 7 }), { operation: 'buy' })
      const polluted = of({
        type: 'object',
        required: ['__proto__'],
        properties: JSON.parse('{"__proto__":{"const":{"x":1}}}') as object
      })
      assert.equal((polluted as { x?: number }).x, undefined)
    })
  })
})
