import assert from 'node:assert/strict'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'
import { buildSchema, getIntrospectionQuery, graphqlSync } from 'graphql'
import { GRAPHQL_TOKENS_CEILING } from '../../../lib/base/limits/graphql.ts'
import type { Adapter, AdapterReply, GraphqlTerms } from '../../../lib/interface/index.ts'
import { graphqlFactory } from '../../../protocols/graphql/graphql-factory.ts'
import { assertTurnsBelow } from '../../helpers/busy-turn.ts'
import { bytesOf, FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

const SDL = `
  type Query { user(id: ID!): User, users(first: Int = 10, where: Filter): [User!]!, total(of: [Int!]): Int }
  type User { id: ID!, name: String, secret: Secret, friends(first: Int): [User!]! }
  type Secret { key: String }
  input Filter { name: String!, and: Filter }
`

/** The maximum blocking of the event loop. */
const STALL_MS = 100

describe('before a GraphQL API is reached', () => {
  let sdl = SDL
  let upstream: ScriptedUpstream
  const opened: Adapter[] = []

  beforeEach(async () => {
    sdl = SDL
    upstream = await scriptedUpstream((response, { body }) => {
      const { query } = JSON.parse(body.toString()) as { query: string }
      const result = query.includes('IntrospectionQuery')
        ? graphqlSync({ schema: buildSchema(sdl), source: query })
        : { data: { done: true } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
    })
  })
  afterEach(async () => {
    for (const adapter of opened.splice(0)) await adapter.close?.()
    await upstream.close()
  })

  async function open(graphql: GraphqlTerms = {}): Promise<Adapter> {
    const config = { endpoint: upstream.url, graphql }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    const adapter = graphqlFactory.open(config, snapshot)
    opened.push(adapter)
    upstream.received.length = 0
    return adapter
  }
  const call = (adapter: Adapter, body: unknown, price?: bigint): Promise<AdapterReply> =>
    adapter.call({ ...plainCall(body), ...(price === undefined ? {} : { price }) }, FOREVER)
  async function errorOf(reply: AdapterReply): Promise<{ message: string; extensions?: { code?: string } }> {
    assert.deepEqual([reply.status, reply.success], [200, false])
    const { errors } = (await jsonOf(reply)) as { errors: Array<{ message: string }> }
    return errors[0] ?? assert.fail()
  }
  const queries = () => upstream.received.filter(({ body }) => !body.toString().includes('IntrospectionQuery')).length

  const wrong: ReadonlyArray<readonly [what: string, body: object, message: RegExp]> = [
    ['a field that is not there', { query: '{ nothing }' }, /Cannot query field "nothing"/],
    ['an argument that is missing', { query: '{ user { id } }' }, /Argument "Query\.user\(id:\)" .* is required/],
    ['a variable that is missing', { query: 'query ($id: ID!) { user(id: $id) { id } }' }, /\$id/],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int) { users(first: $n) { id } }', variables: { n: 'many' } },
      /\$n/
    ],
    [
      'a field of an input that is missing',
      { query: 'query ($w: Filter) { users(where: $w) { id } }', variables: { w: { and: { name: 'x' } } } },
      /name/
    ],
    ['fragments in a circle', { query: '{ user(id: 1) { ...A } } fragment A on User { ...A }' }, /fragment "A"/]
  ]
  for (const [what, body, message] of wrong) {
    it(`rejects ${what}, with its location`, async () => {
      const adapter = await open()
      const error = await errorOf(await call(adapter, body))
      assert.match(error.message, message)
      assert('locations' in error)
      assert.equal(queries(), 0)
    })
  }

  it('gives errors the codes of Apollo Server and Yoga', async () => {
    const adapter = await open({ introspection: false })
    const codes: ReadonlyArray<readonly [code: string, body: object]> = [
      ['GRAPHQL_PARSE_FAILED', { query: '{ a' }],
      ['GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }],
      ['GRAPHQL_VALIDATION_FAILED', { query: '{ __schema { types { name } } }' }],
      ['BAD_USER_INPUT', { query: 'query ($n: Int) { users(first: $n) { id } }', variables: { n: 'many' } }],
      ['OPERATION_RESOLUTION_FAILURE', { query: '{ total }', operationName: 'other' }]
    ]
    for (const [code, body] of codes) {
      const { message, extensions } = await errorOf(await call(adapter, body))
      assert.equal(extensions?.code, code, message)
    }
    const malformed = await jsonOf(await call(adapter, {}))
    assert.equal((malformed as { errors: [{ extensions: { code: string } }] }).errors[0].extensions.code, 'BAD_REQUEST')
  })

  it('reads the schema again before it rejects, once', async () => {
    const adapter = await open()
    sdl = SDL.replace('total', 'news: String, total')
    assert.equal((await call(adapter, { query: '{ news }' })).success, true)
    const read = upstream.received.length
    await Promise.all(Array.from({ length: 20 }, (_, n) => call(adapter, { query: `{ missing${n} }` })))
    assert.equal(upstream.received.length, read)
  })

  it('uses the known schema if the API no longer returns one', async () => {
    const adapter = await open()
    upstream.behave((response) => response.writeHead(403).end('{"errors":[]}'))
    assert.match((await errorOf(await call(adapter, { query: '{ nothing }' }))).message, /nothing/)
  })

  it('accepts a document up to its limits', async () => {
    const adapter = await open({ tokensMax: 40, depthMax: 3, aliasesMax: 2, costMax: 20 })
    const codes: Readonly<Record<string, string | undefined>> = {
      '{ a: total b: total }': undefined,
      '{ a: total b: total c: total }': 'TOO_MANY_ALIASES',
      '{ user(id: 1) { friends { id } } }': undefined,
      '{ user(id: 1) { friends { friends { id } } } }': 'TOO_DEEP',
      '{ user(id: 1) { ...F } } fragment F on User { friends { ...G } } fragment G on User { friends { id } }':
        'TOO_DEEP',
      [`{ ${'total '.repeat(38)} }`]: undefined,
      [`{ ${'total '.repeat(39)} }`]: 'TOO_MANY_TOKENS',
      '{ users(first: 20) { id } }': undefined,
      '{ users(first: 21) { id } }': 'TOO_COSTLY'
    }
    for (const [query, code] of Object.entries(codes)) {
      const reply = await call(adapter, { query })
      if (code === undefined) assert.equal(reply.success, true, query)
      else assert.equal((await errorOf(reply)).extensions?.code, code, query)
    }
  })

  it("charges by the units of an operation, and rejects one above the listing's maximum", async () => {
    const terms = { costs: { 'Query.users': 5, 'User.friends': 2 }, unitPrice: '0.0001', basePrice: '0.001' }
    const adapter = await open(terms)
    const priceOf = async (query: string, variables = {}) => (await call(adapter, { query, variables }, 10_000n)).price
    assert.equal(await priceOf('{ total }'), 1_000n)
    assert.equal(await priceOf('{ user(id: 1) { id } }'), 1_100n)
    assert.equal(await priceOf('{ users(first: 1) { id } }'), 1_500n)
    // The schema has a default of 10.
    assert.equal(await priceOf('{ users { id } }'), 6_000n)
    assert.equal(await priceOf('query ($n: Int) { users(first: $n) { id } }'), 6_000n)
    assert.equal(await priceOf('query ($n: Int) { users(first: $n) { id } }', { n: null }), 1_500n)
    assert.equal(await priceOf('{ users(first: 2) { friends(first: 3) { id } } }'), 1_000n + 100n * 2n * (5n + 3n * 2n))
    assert.equal(await priceOf('query ($n: Int = 4) { users(first: $n) { id } }'), 3_000n)
    assert.equal(await priceOf('query ($n: Int = 4) { users(first: $n) { id } }', { n: 18 }), 10_000n)
    assert.equal(
      await priceOf('{ a: user(id: 1) { ...F } b: user(id: 2) { ...F } } fragment F on User { friends { id } }'),
      1_600n
    )
    const before = queries()
    const error = await errorOf(await call(adapter, { query: '{ users(first: 2000000000) { id } }' }, 10_000n))
    assert.deepEqual([error.extensions?.code, queries()], ['TOO_COSTLY', before])
    assert.match(error.message, /costs 1000000\.001 USDC; the maximum for a call of this API is 0\.01 USDC/)
  })

  it('counts the entries of a page in the ways that schemas ask for it', async () => {
    sdl = `
      type Query {
        strapi(pagination: Pagination = { limit: 7 }): [Item!]!, prisma(take: Int, where: Where): [Item!]!
        anilist(page: Int, perPage: Int): Item, magento(pageSize: Int = 20): Item
      }
      type Item { id: ID, items(paging: Pagination): [Item!]! }
      input Pagination { page: Int, pageSize: Int, limit: Int, first: Int }
      input Where { limit: Int }
    `
    const adapter = await open({ unitPrice: '0.000001' })
    const unitsOf = async (query: string, variables = {}) => (await call(adapter, { query, variables }, 10_000n)).price
    assert.equal(await unitsOf('{ strapi(pagination: { page: 90, pageSize: 30 }) { id } }'), 30n)
    assert.equal(await unitsOf('{ strapi { id } }'), 7n)
    assert.equal(await unitsOf('query ($p: Pagination) { strapi(pagination: $p) { id } }', { p: { limit: 40 } }), 40n)
    assert.equal(await unitsOf('query ($n: Int) { strapi(pagination: { limit: $n }) { id } }', { n: 50 }), 50n)
    assert.equal(
      await unitsOf('{ prisma(take: 60, where: { limit: 900 }) { items(paging: { first: 2 }) { id } } }'),
      180n
    )
    assert.equal(await unitsOf('{ anilist(page: 90, perPage: 5) { id } magento { id } }'), 25n)
  })

  it('neither shows nor accepts hidden parts', async () => {
    const adapter = await open({ hidden: ['Secret', 'User.name', 'Query.total'] })
    assert.doesNotMatch((await adapter.description).sdl ?? '', /Secret|secret|total/)
    assert.deepEqual(
      (await adapter.description).operations.map(({ name }) => name),
      ['user', 'users']
    )
    for (const query of ['{ total }', '{ user(id: 1) { name } }', '{ user(id: 1) { secret { key } } }']) {
      const { message } = await errorOf(await call(adapter, { query }))
      assert.match(message, /Cannot query field/)
      assert.doesNotMatch(message, /Did you mean/)
    }
    const asked = await call(adapter, { query: '{ __type(name: "User") { fields { name } } }' })
    assert.deepEqual(
      [asked.success, await jsonOf(asked)],
      [false, { data: { __type: { fields: [{ name: 'id' }, { name: 'friends' }] } } }]
    )
    const beside = await call(adapter, { query: '{ __schema { types { name } } users { id } }' })
    assert.match((await errorOf(beside)).message, /separate operation/)
    assert.equal(queries(), 0)
    for (const hidden of ['Nothing', 'User.nothing']) {
      await rejectsWith(
        graphqlFactory.inspect({ endpoint: upstream.url, graphql: { hidden: [hidden] } }, FOREVER),
        'invalid_request'
      )
    }
  })

  it('answers introspection beside its calls, and refuses one whose fragments multiply', async () => {
    const fields = Array.from({ length: 20 }, (_, i) => `${'f'.repeat(60)}${i}: T0`).join(' ')
    sdl = `${SDL} ${Array.from({ length: 20 }, (_, i) => `type T${i} { ${fields} }`).join(' ')}`
    const adapter = await open({ hidden: ['Query.total'] })
    const each = (inner: string) => Array.from({ length: 5 }, (_, i) => `a${i}: fields { ${inner} }`).join(' ')
    const query = `{ __schema { types { ...A } } }
      fragment A on __Type { ${each('type { kind } ...B')} }
      fragment B on __Field { name b: type { ...C } }
      fragment C on __Type { name ${each('name')} }`
    await assertTurnsBelow(STALL_MS, async () => {
      await rejectsWith(call(adapter, { query }), 'response_too_large')
      const asked = await call(adapter, { query: getIntrospectionQuery() })
      assert.match(JSON.stringify(await jsonOf(asked)), /"T19"/)
    })
  })

  it('reveals no schema if introspection is turned off', async () => {
    const adapter = await open({ introspection: false })
    assert.equal((await adapter.description).sdl, undefined)
    const { message } = await errorOf(await call(adapter, { query: '{ users { id } __schema { types { name } } }' }))
    assert.match(message, /introspection has been disabled/i)
    assert.equal((await call(adapter, { query: '{ users { id __typename } }' })).success, true)
    const { message: hint } = await errorOf(await call(adapter, { query: '{ user(id: 1) { nam } }' }))
    assert.doesNotMatch(hint, /Did you mean/)
  })

  it('finds a document by its hash after it was sent once with it', async () => {
    const adapter = await open()
    const query = '{ total }'
    const sha256Hash = 'd93ec9a2bbcb4ab2b24e7f71e0e5ab1ee4ca77ba9a4bda0b8c1d0e9c1eb7a8ed'
    const persisted = (hash: string, more: object = {}) =>
      call(adapter, { ...more, extensions: { persistedQuery: { version: 1, sha256Hash: hash } } })
    const { createHash } = await import('node:crypto')
    const hash = createHash('sha256').update(query).digest('hex')
    assert.equal((await errorOf(await persisted(hash))).extensions?.code, 'PERSISTED_QUERY_NOT_FOUND')
    assert.equal((await persisted(sha256Hash, { query })).status, 400)
    assert.equal((await persisted(hash, { query })).success, true)
    assert.equal((await persisted(hash.toUpperCase())).success, true)
    assert.deepEqual(
      upstream.received.map(({ body }) => body.toString()),
      ['{"query":"{ total }"}', '{"query":"{ total }"}']
    )
  })

  it('runs trusted documents by id, and only those if so configured', async () => {
    const documents = { one: '{ total }' }
    const some = await open({ documents })
    assert.equal((await call(some, { documentId: 'one' })).success, true)
    assert.equal((await errorOf(await call(some, { documentId: 'two' }))).extensions?.code, 'DOCUMENT_NOT_FOUND')
    const only = await open({ documents, documentsOnly: true })
    assert.equal((await call(only, { documentId: 'one' })).success, true)
    assert.equal((await call(only, { query: '{ total }' })).success, true)
    const { extensions } = await errorOf(await call(only, { query: '{ users { id } }' }))
    assert.equal(extensions?.code, 'DOCUMENT_NOT_TRUSTED')
  })

  const terms: readonly GraphqlTerms[] = [
    { tokensMax: GRAPHQL_TOKENS_CEILING + 1 },
    { depthMax: -1 },
    { costs: { users: 1 } },
    { costs: { 'Query.users': 0.5 } },
    { unitPrice: 'cheap' },
    { basePrice: '0.1' },
    { eventsMax: 0 },
    { subscriptions: 'mailto:x' },
    { subscriptions: 'ws://user:secret@127.0.0.1/' }
  ]
  for (const graphql of terms) {
    it(`rejects these terms: ${JSON.stringify(graphql)}`, async () => {
      await rejectsWith(graphqlFactory.inspect({ endpoint: upstream.url, graphql }, FOREVER), 'invalid_request')
      assert.throws(() => graphqlFactory.open({ endpoint: upstream.url, graphql }, SDL), { code: 'invalid_request' })
    })
  }

  const hostile: Readonly<Record<string, () => unknown>> = {
    'nested 3,000 deep': () => ({ query: `${'{user(id:1)'.repeat(3_000)}{id}${'}'.repeat(3_000)}` }),
    'with lists nested 3,000 deep': () => ({ query: `{ total(of: ${'['.repeat(3_000)}${']'.repeat(3_000)}) }` }),
    'with 100,000 aliases': () => ({
      query: `{ ${Array.from({ length: 100_000 }, (_, n) => `a${n}:total`).join(' ')} }`
    }),
    'with one field as often as there may be tokens': () => ({ query: `{ ${'total '.repeat(4_990)} }` }),
    'with fields that merge again and again': () => ({
      query: `{ ${'user(id:1){friends{friends{id}}}'.repeat(290)} }`
    }),
    'with fragments that spread each other': () => ({
      query: `{ user(id: 1) { ${Array.from({ length: 400 }, (_, n) => `...f${n}`).join(' ')} } } ${Array.from(
        { length: 400 },
        (_, n) => `fragment f${n} on User { id ...f${(n + 1) % 400} }`
      ).join(' ')}`
    }),
    'with a long chain of fragments': () => ({
      query: `{ user(id: 1) { ...f0 } } ${Array.from(
        { length: 550 },
        (_, n) => `fragment f${n} on User { id ${n < 549 ? `...f${n + 1}` : ''} }`
      ).join(' ')}`
    }),
    'with a megabyte of numbers': () => ({
      query: 'query ($of: [Int!]) { total(of: $of) }',
      variables: { of: Array.from({ length: 250_000 }, () => 1.5) }
    }),
    'with a megabyte of exact numbers': () =>
      Buffer.from(`{"query":"{ total }","variables":{"of":[${'-0,'.repeat(330_000)}1]}}`),
    'of one long string': () => ({ query: `{ user(id: "${'x'.repeat(900_000)}") { id } }` }),
    'of a megabyte of comments': () => ({ query: `{ total }${'\n#'.repeat(450_000)}` })
  }
  for (const [what, body] of Object.entries(hostile)) {
    it(`checks a document ${what} without blocking`, async () => {
      const sent = plainCall(body())
      // Each run has an empty document cache, but warm code.
      const adapters: Adapter[] = []
      for (let run = 0; run < 3; run++) {
        const adapter = await open()
        for (let n = 0; n < 30; n++) await call(adapter, { query: `query Q${n}($a: Int) { users(first: $a) { id } }` })
        adapters.push(adapter)
      }
      await assertCpuBelow(STALL_MS, async () => {
        const reply = await adapters.pop()?.call(sent, FOREVER)
        await bytesOf(reply?.body ?? assert.fail())
      })
    })
  }
})
