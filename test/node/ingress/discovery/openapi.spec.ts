import assert from 'node:assert/strict'
import { validate } from '@readme/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ApiDescription, SignedManifest } from '../../../../lib/interface/index.ts'
import { systemClock } from '../../../../lib/index.ts'
import { startAccount } from '../../../../node/demo/account.ts'
import { startTicker } from '../../../../node/demo/ticker.ts'
import { startUsers } from '../../../../node/demo/users.ts'
import { openapiOf } from '../../../../node/ingress/discovery/openapi.ts'
import { protocolFactories } from '../../../../protocols/index.ts'
import { PROVIDER, startIngress } from '../harness.ts'

const NOW = 1
const AT = { baseUrl: '/', clock: { ...systemClock, now: () => NOW } }

function signedWith(api: ApiDescription, protocol: 'REST' | 'SOAP' | 'GraphQL' = 'REST'): SignedManifest {
  return {
    id: `shop@${PROVIDER}`,
    envelope: new Uint8Array(0),
    manifest: {
      name: 'shop',
      provider: PROVIDER,
      protocol,
      description: 'Sells',
      tags: [],
      price: 1_500n,
      currency: 'USDC',
      idempotent: false,
      api,
      state: 'published',
      revision: 3,
      issuedAt: 0,
      expiresAt: 1
    }
  }
}

const ITEM = {
  type: 'object',
  properties: { parts: { type: 'array', items: { $ref: '#/$defs/Item' } }, n: { type: 'integer' } }
}
const SHOP: ApiDescription = {
  operations: [
    {
      name: 'create item',
      description: 'Makes one.',
      input: {
        type: 'object',
        properties: { item: { $ref: '#/$defs/Item' } },
        required: ['item'],
        $defs: { Item: ITEM }
      },
      output: { $ref: '#/$defs/Item', $defs: { Item: ITEM } }
    },
    { name: 'ping', input: { type: 'object', additionalProperties: false } }
  ]
}

const TICKER_DOCUMENT = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Ticker', version: '1' },
  paths: {
    '/': {
      get: {
        operationId: 'candle',
        parameters: [{ name: 'symbol', in: 'query', required: true, schema: { type: 'string', nullable: true } }],
        responses: {
          200: { description: 'One', content: { 'application/json': { schema: { $ref: '#/components/schemas/C' } } } }
        }
      }
    }
  },
  components: { schemas: { C: { type: 'object', properties: { next: { $ref: '#/components/schemas/C' } } } } }
})

describe('the OpenAPI document of a listing', () => {
  for (const [what, signed] of [
    ['of many operations', signedWith(SHOP)],
    ['of a REST API without a document', signedWith({ operations: [{ name: 'call', input: { type: 'object' } }] })],
    ['of a GraphQL API', signedWith({ operations: [{ name: 'users' }], sdl: 'type Query { users: Int }' }, 'GraphQL')],
    ['of a SOAP API', signedWith({ operations: [{ name: 'getBalance' }] }, 'SOAP')],
    ['of an API that says nothing', signedWith({ operations: [] })]
  ] as const) {
    it(`is valid ${what}`, async () => {
      const document = await openapiOf(signed, signed.manifest.api, AT)
      const result = await validate(structuredClone(document) as Parameters<typeof validate>[0])
      assert.deepEqual(result.valid ? [] : result.errors, [])
      assert.deepEqual(Object.keys(document.paths), [`/api/${PROVIDER}/api/shop`])
    })
  }

  for (const [protocol, start, over] of [
    ['REST', startTicker, {}],
    ['REST', startTicker, { openapi: { text: TICKER_DOCUMENT } }],
    ['SOAP', startAccount, {}],
    ['GraphQL', startUsers, {}]
  ] as const) {
    it(`is valid of a ${protocol} API as it is read at its upstream${'openapi' in over ? ', with its own document' : ''}`, async () => {
      const upstream = await start()
      const config = { endpoint: upstream.url, ...over }
      const { description } = await (await protocolFactories[protocol]()).inspect(config, AbortSignal.timeout(30_000))
      await upstream.close()
      const document = await openapiOf(signedWith(description, protocol), description, AT)
      const result = await validate(structuredClone(document) as Parameters<typeof validate>[0])
      assert.deepEqual(result.valid ? [] : result.errors, [])
    })
  }

  it('lists each required field once, even if the API’s schema has an operation field', async () => {
    const upstream = await startAccount()
    const config = { endpoint: upstream.url }
    const { description } = await (await protocolFactories.SOAP()).inspect(config, AbortSignal.timeout(30_000))
    await upstream.close()
    const document = await openapiOf(signedWith(description, 'SOAP'), description, AT)
    // Validates with JSON Schema's own meta-schema, because OpenAPI's does not check schemas.
    const ajv = new Ajv2020({ strict: false })
    const { post } = document.paths[`/api/${PROVIDER}/api/shop`] ?? assert.fail('it has its path')
    assert.equal(ajv.validateSchema(post.requestBody.content['application/json'].schema ?? {}), true, ajv.errorsText())
  })

  it('accepts valid calls and rejects invalid ones', async () => {
    const document = await openapiOf(signedWith(SHOP), SHOP, AT)
    const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'x:doc', ...document })
    const path = `/api/${PROVIDER}/api/shop`.replaceAll('/', '~1')
    const check = ajv.compile({
      $ref: `x:doc#/paths/${path}/post/requestBody/content/application~1json/schema`
    })
    assert(check({ operation: 'create item', item: { parts: [{ n: 1 }] } }))
    assert(check({ operation: 'ping' }))
    for (const body of [
      {},
      { operation: 'create item' },
      { operation: 'create item', item: { parts: [{ n: 'x' }] } }
    ]) {
      assert(!check(body), JSON.stringify(body))
    }
  })

  it('keeps schemas apart whose names differ only in characters that OpenAPI refuses', async () => {
    const names = ['a b', 'a/b', 'a_b', 'Straße', 'Stra e']
    const operations = names.map((name) => ({
      name,
      input: { type: 'object', properties: { of: { $ref: '#/$defs/Of' } }, $defs: { Of: { const: name } } }
    }))
    const document = await openapiOf(signedWith({ operations }), { operations }, AT)
    const check = new Ajv2020({ strict: false }).addSchema({ $id: 'x:names', ...document }).compile({
      $ref: `x:names#/paths/${`/api/${PROVIDER}/api/shop`.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`
    })
    for (const operation of names) {
      assert(check({ operation, of: operation }), operation)
      assert(!check({ operation, of: 'other' }), operation)
    }
  })

  it('describes the plans, and whether calls require one', async () => {
    const signed = signedWith(SHOP)
    const pro = { id: 'pro', name: 'Pro', fee: 5_000_000n, period: 'month', trialDays: 7, included: 100 } as const
    const plans = [
      { ...pro, overage: [{ price: 400n }], since: 0 },
      { ...pro, id: 'old', overage: [], since: 0, closedAt: NOW }
    ]
    const sold: SignedManifest = { ...signed, manifest: { ...signed.manifest, plans, payPerCall: false, major: 2 } }
    const document = await openapiOf(sold, SHOP, AT)
    assert.match(document.info.description, /requires a subscription/)
    assert.match(
      document.info.description,
      /Plan pro: 5 USDC a month, 100 calls included, then 0\.0004 USDC each, first 7 days free\./
    )
    const { plans: shown, ...terms } = document.info['x-souk']
    assert.deepEqual(terms, {
      api: sold.id,
      price: '0.0015',
      currency: 'USDC',
      pay_per_call: false,
      major: 2,
      deprecation: null
    })
    assert.deepEqual(
      shown.map(({ id, closed }) => [id, closed]),
      [['pro', false]]
    )
    const result = await validate(structuredClone(document) as Parameters<typeof validate>[0])
    assert.deepEqual(result.valid ? [] : result.errors, [])
  })

  it('says how calls without a key pay, if they can', async () => {
    const payout = `0x${'12'.repeat(20)}` as const
    const at = async (price: bigint, more: Partial<SignedManifest['manifest']> = {}, isKeyless = true) => {
      const signed = signedWith(SHOP)
      const sold = { ...signed, manifest: { ...signed.manifest, payout, price, ...more } }
      const document = await openapiOf(sold, SHOP, { ...AT, isKeyless })
      const result = await validate(structuredClone(document) as Parameters<typeof validate>[0])
      assert.deepEqual(result.valid ? [] : result.errors, [])
      return Object.values(document.paths)[0]!.post
    }
    const charge = { method: 'evm', intent: 'charge', currency: 'USDC' }
    const dear = await at(40_000n)
    assert.deepEqual(dear['x-payment-info'], {
      price: { mode: 'fixed', currency: 'USD', amount: '0.04' },
      protocols: [{ x402: {} }, { mpp: charge }],
      offers: [{ ...charge, amount: '40000' }]
    })
    assert.deepEqual([dear.security, '402' in dear.responses], [[{ key: [] }, {}], true])
    assert.deepEqual((await at(1_000n))['x-payment-info'], {
      price: { mode: 'fixed', currency: 'USD', amount: '0.001' },
      protocols: [{ x402: {} }]
    })
    const others = [at(0n), at(40_000n, { payPerCall: false }), at(40_000n, {}, false)]
    for (const { security, responses, ...post } of await Promise.all(others)) {
      assert.deepEqual([security, '402' in responses, 'x-payment-info' in post], [[{ key: [] }], false, false])
    }
  })

  it('is served by any ingress without authentication', async () => {
    const ingress = await startIngress()
    ingress.onResolve = async () => ({ signed: signedWith(SHOP), owners: [] })
    const response = await fetch(`${ingress.url}/v1/apis/shop/openapi.json`)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^application\/openapi\+json/)
    assert.deepEqual(await response.json(), await openapiOf(signedWith(SHOP), SHOP, AT))
    await ingress.close()
  })
})
