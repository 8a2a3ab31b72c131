import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createMemoryStore, isSoukError, systemClock } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { Payout } from '../../../node/payments/payout.ts'
import { Registrations } from '../../../node/registrations/registrations.ts'
import { protocolFactories } from '../../../protocols/index.ts'
import { BusyTurn } from '../../helpers/busy-turn.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

const NEVER = new AbortController().signal
/** CPU time of one turn of the event loop. This process also does the test's own work. */
const TURN_MS_MAX = 500

type Schema = Readonly<Record<string, unknown>>
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const object = (properties: Schema): Schema => ({ type: 'object', properties })
const nested = (depth: number, around: (inner: unknown) => unknown, inner: unknown = {}): unknown => {
  let all = inner
  for (let at = 0; at < depth; at++) all = around(all)
  return all
}
const schemas = (count: number, schemaOf: (at: number) => unknown): Schema =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`A${at}`, schemaOf(at)]))
const documentOf = (schema: unknown, named: Schema = {}, openapi = '3.1.0') => ({
  openapi,
  info: { title: 'hostile', version: '1' },
  paths: {
    '/x': {
      post: {
        operationId: 'x',
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: { 200: { description: '' } }
      }
    }
  },
  components: { schemas: named }
})
const field = (schema: Schema, named?: Schema) => documentOf(object({ f: schema }), named)
const text = (pattern: string) => field({ type: 'string', pattern })
const pathsOf = (paths: Schema) => ({ ...documentOf({}), paths })
const yamlOf = (...lines: string[]) => ['openapi: 3.0.0', 'info: {title: hostile, version: "1"}', ...lines].join('\n')
const anchors = Array.from({ length: 12 }, (_, at) =>
  at === 0 ? 'a0: &a0 [x]' : `a${at}: &a${at} [${Array.from({ length: 10 }, () => `*a${at - 1}`).join()}]`
)
const get = { responses: { 200: { description: '' } } }

/** Rejected documents with the expected reasons. */
const refused: ReadonlyArray<readonly [what: string, document: unknown, why: RegExp]> = [
  ['3,000 nested schemas', documentOf(nested(3_000, (not) => ({ not }))), /nested deeper than 200 levels/],
  ['65 nested schemas', documentOf(nested(65, (not) => ({ not }))), /schema .* nested deeper than 64 levels/],
  ['a million brackets', `{"openapi":"3.0.0","x":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, /deeper than 200 levels/],
  ['100,000 brackets in YAML', yamlOf(`x: ${'['.repeat(1e5)}${']'.repeat(1e5)}`), /deeper than 200 levels/],
  ['a billion laughs', yamlOf(...anchors), /more than 1000000 values once its anchors are resolved/],
  [
    'one long text a thousand times',
    yamlOf(`a: &a ${'x'.repeat(1e5)}`, `b: [${Array.from({ length: 1e3 }, () => '*a').join()}]`),
    /characters once its anchors/
  ],
  ['an anchor within itself', yamlOf('a: &a', '  b: *a'), /deeper than 200 levels/],
  ['seventeen megabytes', `{"x":"${'x'.repeat(17e6)}"}`, /the limit is 16777216/],
  [
    '5,000 operations',
    pathsOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`/${at}`, { get }]))),
    /more than \d+ operations/
  ],
  [
    'paths that refer to each other',
    pathsOf({ '/x': { $ref: '#/paths/~1y' }, '/y': { $ref: '#/paths/~1x' } }),
    /refers to itself/
  ],
  [
    'a parameter that refers to itself',
    {
      ...pathsOf({ '/x': { get: { ...get, parameters: [{ $ref: '#/components/parameters/P' }] } } }),
      components: { parameters: { P: { $ref: '#/components/parameters/P' } } }
    },
    /refers to itself/
  ]
]

/** Accepted documents, each with a call and its outcome: the API's status, or an error code with its reason. */
const taken: ReadonlyArray<readonly [what: string, document: unknown, call: Schema, outcome: 200 | RegExp]> = [
  ['^(a+)+$', text('^(a+)+$'), { f: `${'a'.repeat(40)}!` }, /invalid_request: .*"f" must match/],
  ['^(a|aa)+$', text('^(a|aa)+$'), { f: `${'a'.repeat(60)}!` }, /invalid_request: .*"f" must match/],
  ['many adjacent \\s*', text(String.raw`^\s*\s*\s*\s*\s*\s*\s*\s*x$`), { f: `${' '.repeat(5e3)}!` }, /"f" must match/],
  [
    'a pattern of names',
    documentOf({ type: 'object', patternProperties: { '^(a+)+$': { type: 'integer' } } }),
    { [`${'a'.repeat(40)}!`]: 'x' },
    200
  ],
  [
    'names that match a pattern',
    field({ type: 'object', propertyNames: { pattern: String.raw`^(\w+\s?)*$` } }),
    { f: { [`${'a'.repeat(60)}!`]: 1 } },
    /"f" must not have the field "a{60}!", whose name must match/
  ],
  ['look-ahead, which is left unchecked', text('^(?=.*A)(a+)+$'), { f: `${'a'.repeat(40)}!` }, 200],
  ['a pattern that is no pattern', text('('), { f: 'x' }, 200],
  [
    'an address with many dots',
    field({ type: 'string', format: 'email' }),
    { f: `a@${'a.'.repeat(5e4)} ` },
    /format "email"/
  ],
  [
    'forty schemas of two references each',
    documentOf(
      ref('A0'),
      schemas(40, (at) => (at === 39 ? { type: 'string' } : object({ a: ref(`A${at + 1}`), b: ref(`A${at + 1}`) })))
    ),
    { a: { b: { a: 7 } } },
    /"a\/b\/a" must be object/
  ],
  [
    'forty schemas that are two others each',
    documentOf(
      ref('A0'),
      schemas(40, (at) =>
        at === 39 ? object({ f: { type: 'string' } }) : { allOf: [ref(`A${at + 1}`), ref(`A${at + 1}`)] }
      )
    ),
    { f: 'x' },
    /description_too_complex: .*longer than 2 seconds/
  ],
  [
    'nine schemas of the next one ten times',
    documentOf(
      ref('A0'),
      schemas(10, (at) => (at === 9 ? object({ f: { type: 'string' } }) : { allOf: Array(10).fill(ref(`A${at + 1}`)) }))
    ),
    { f: 'x' },
    /description_too_complex: .*longer than 2 seconds/
  ],
  [
    'forty schemas of two alternatives each',
    field(
      ref('A0'),
      schemas(40, (at) => (at === 39 ? { type: 'string' } : { anyOf: [ref(`A${at + 1}`), ref(`A${at + 1}`)] }))
    ),
    { f: 7 },
    /description_too_complex: .*longer than 2 seconds/
  ],
  [
    'alternatives at each of 50 levels',
    field(
      ref('A0'),
      schemas(1, () => ({ anyOf: [1, 2].map(() => ({ type: 'array', items: ref('A0') })) }))
    ),
    { f: nested(50, (inner) => [inner], 0) },
    /description_too_complex: .*longer than 2 seconds/
  ],
  [
    'a schema that contains itself',
    field(
      ref('A0'),
      schemas(1, () => ({ allOf: [ref('A0')] }))
    ),
    { f: 1 },
    200
  ],
  [
    'a schema that is only a reference to itself',
    documentOf(
      object({ f: ref('A0') }),
      schemas(1, () => ref('A0'))
    ),
    { f: 1 },
    200
  ],
  [
    '20,000 schemas in a row',
    documentOf(
      ref('A0'),
      schemas(20_000, (at) => (at === 19_999 ? {} : ref(`A${at + 1}`)))
    ),
    { body: 7 },
    200
  ],
  [
    'unique items, all equal',
    field({ type: 'array', uniqueItems: true }),
    { f: Array.from({ length: 2e4 }, (_, n) => ({ n: n % 19_999 })) },
    /duplicate items/
  ],
  ['an enum of 200,000', field({ enum: Array.from({ length: 2e5 }, (_, n) => `v${n}`) }), { f: 'v5' }, 200],
  ['50,000 properties', documentOf(object(schemas(5e4, () => ({ type: 'string' })))), { body: { A1: 'x' } }, 200],
  [
    'unknown keywords',
    field({ type: 'bogus', pattern: 5, required: [1], enum: [], multipleOf: 0, minLength: -1 }),
    { f: 1 },
    200
  ],
  [
    'names of Object.prototype',
    documentOf(object({ constructor: { type: 'string', format: 'toString' } })),
    { constructor: 1 },
    /must be string/
  ]
]

/** Rejected GraphQL schemas with the expected reasons. */
const many = (count: number, one: (at: number) => string, between = '\n') =>
  Array.from({ length: count }, (_, at) => one(at)).join(between)
const graphql: ReadonlyArray<readonly [what: string, schema: string, why: RegExp]> = [
  [
    'a list of lists, 5,000 times',
    `type Query { a: ${'['.repeat(5e3)}Int${']'.repeat(5e3)} }`,
    /nested deeper than 64 levels/
  ],
  [
    'a default of 50,000 brackets',
    `type Query { a(b: Int = ${'['.repeat(5e4)}${']'.repeat(5e4)}): Int }`,
    /deeper than 64 levels/
  ],
  ['300,000 fields', `type Query { ${many(3e5, (at) => `f${at}: Int`, ' ')} }`, /more than \d+ tokens/],
  ['a million comments', `type Query { a: Int }\n${'#\n'.repeat(1e6)}`, /more than \d+ tokens/],
  ['five megabytes', `"${'x'.repeat(5e6)}" type Query { a: Int }`, /larger than \d+ characters/],
  ['a name of a megabyte', `type Query { ${'a'.repeat(1e6)}: Int }`, /name of more than 200 characters/],
  [
    'a union of 6,000 types',
    `type Query { a: U } ${many(6e3, (at) => `type T${at} { a: Int }`)} union U = ${many(6e3, (at) => `T${at}`, '|')}`,
    /union or an interface/
  ],
  // The schema is taken with a warning. The endpoint, which is no GraphQL API, is refused.
  [
    'inputs without an end',
    'input A { b: B! } input B { a: A! } type Query { q(a: A): Int }',
    /does not return a GraphQL response/
  ]
]

/** Registers hostile documents and calls the accepted ones. `isMeant` selects documents by name. */
export const hostileDescriptions = (isMeant: (what: string) => boolean) =>
  describe('a hostile description', () => {
    let testnet: Testnet
    let upstream: ScriptedUpstream
    let store: Store
    let served = ''
    let registrations: Registrations
    const turns = new BusyTurn()

    const opened = () =>
      new Registrations({
        souk: testnet.nodes[0]!.souk,
        documents: store.documents,
        factories: protocolFactories,
        clock: systemClock,
        payout: new Payout({ profile: { name: 'tests', directory: '/nowhere' }, payout: undefined, isNeeded: false }),
        log: () => {}
      })
    const textOf = (document: unknown) => (typeof document === 'string' ? document : JSON.stringify(document))
    const registered = (name: string, document: unknown) =>
      registrations.register(
        {
          terms: { name, price: '0' },
          protocol: 'REST',
          asked: { endpoint: upstream.url, openapi: { text: textOf(document) } },
          replaces: true
        },
        NEVER
      )
    const outcomeOf = async (api: string, body: Schema): Promise<number | string> => {
      try {
        return (await testnet.nodes[0]!.souk.call({ api, body })).status
      } catch (error) {
        return isSoukError(error) ? `${error.code}: ${error.message}` : String(error)
      }
    }
    const fits = (outcome: number | string, expected: 200 | RegExp) =>
      expected === 200 ? assert.equal(outcome, 200) : assert.match(String(outcome), expected)

    before(async () => {
      store = createMemoryStore()
      await store.open()
      testnet = await createTestnet({ nodes: 1 })
      upstream = await scriptedUpstream((response, { target }) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(target === '/openapi.json' ? served : '{}')
      })
      registrations = opened()
      await registered('warm', documentOf({}))
      turns.start()
    })
    beforeEach(() => turns.reset())
    afterEach(() => turns.assertBelow(TURN_MS_MAX))
    after(async () => {
      turns.stop()
      registrations.stop()
      await testnet.stop()
      await upstream.close()
      await store.close()
    })

    for (const [what, document, why] of refused.filter(([what]) => isMeant(what))) {
      it(`is rejected: ${what}`, async () => {
        await assert.rejects(registered('refused', document), { code: 'invalid_request', message: why })
        assert.throws(() => registrations.show('refused'), { code: 'api_not_found' })
      })
    }

    for (const [at, [what, document, call, outcome]] of taken.filter(([what]) => isMeant(what)).entries()) {
      it(`does no harm to calls: ${what}`, async () => {
        await registered(`taken-${at}`, document)
        for (const attempt of ['first', 'second']) {
          fits(await outcomeOf(`taken-${at}`, { operation: 'x', ...call }), outcome)
          assert.equal(await outcomeOf('warm', { operation: 'x', body: {} }), 200, attempt)
        }
        await registrations.remove(`taken-${at}`)
      })
    }

    for (const scheme of ['file:', 'a path', 'another origin'].filter((what) => isMeant(`a reference: ${what}`))) {
      it(`reads nothing from the disk or another origin: ${scheme}`, async () => {
        const SECRET = 'content-behind-the-reference'
        const folder = await mkdtemp(join(tmpdir(), 'souk-reference-'))
        const file = join(folder, 'schema.json')
        await writeFile(file, JSON.stringify({ type: 'integer', description: SECRET }))
        const other = await scriptedUpstream((response) => response.end(JSON.stringify({ description: SECRET })))
        const $ref = { 'file:': pathToFileURL(file).href, 'a path': file }[scheme] ?? `${other.url}/schema.json`
        try {
          const { listing, warnings } = await registered('outward', field({ $ref }))
          const { registration } = registrations.show('outward')
          assert.match(warnings.join(), /has no target: any value is accepted in its place/)
          const manifest = Buffer.from(listing.signed.envelope).toString()
          assert.ok(![JSON.stringify([registration, warnings]), manifest].join().includes(SECRET))
          assert.equal(other.received.length, 0)
          fits(await outcomeOf('outward', { operation: 'x', f: 'no integer' }), 200)
        } finally {
          await registrations.remove('outward').catch(() => {})
          await other.close()
          await rm(folder, { recursive: true })
        }
      })
    }

    it('does not delay other APIs under many concurrent calls', async () => {
      const two = schemas(40, (at) =>
        at === 39 ? { type: 'string' } : { anyOf: [ref(`A${at + 1}`), ref(`A${at + 1}`)] }
      )
      await registered('crowd', field(ref('A0'), two))
      await outcomeOf('crowd', { operation: 'x' })
      turns.reset()
      const crowd = Promise.all(Array.from({ length: 200 }, () => outcomeOf('crowd', { operation: 'x', f: 7 })))
      assert.equal(await outcomeOf('warm', { operation: 'x', body: {} }), 200)
      for (const outcome of await crowd) assert.match(String(outcome), /^(?:description_too_complex|overloaded)/)
      await registrations.remove('crowd')
    })

    for (const [what, schema, why] of graphql.filter(([what]) => isMeant(what))) {
      it(`is rejected: a GraphQL schema with ${what}`, async () => {
        const registering = registrations.register(
          {
            terms: { name: 'refused', price: '0' },
            protocol: 'GraphQL',
            asked: { endpoint: upstream.url, graphql: { schema } }
          },
          NEVER
        )
        await assert.rejects(registering, { code: 'invalid_request', message: why })
      })
    }

    it('leaves a valid API unchanged when it is registered in its place, also after a restart', async () => {
      served = JSON.stringify(documentOf(object({ f: { type: 'integer' } })))
      const openapi = { url: `${upstream.url}/openapi.json` }
      await registrations.register(
        { terms: { name: 'followed', price: '0' }, protocol: 'REST', asked: { endpoint: upstream.url, openapi } },
        NEVER
      )
      fits(await outcomeOf('followed', { operation: 'x', f: 1 }), 200)
      registrations.stop()
      for (const [, document] of [refused[0]!, refused[4]!]) {
        served = textOf(document)
        const before = upstream.received.length
        registrations = opened()
        await registrations.restore()
        await eventually('the document is read again', 10_000, () =>
          upstream.received.slice(before).some(({ target }) => target === '/openapi.json') ? true : undefined
        )
        fits(await outcomeOf('followed', { operation: 'x', f: 1 }), 200)
        fits(await outcomeOf('followed', { operation: 'x', f: 'x' }), /"f" must be integer/)
        assert.equal(registrations.show('followed').problem, undefined)
        registrations.stop()
      }
      registrations = opened()
      await registrations.restore()
    })
  })
