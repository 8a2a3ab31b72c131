import assert from 'node:assert/strict'
import { limits } from '../../../lib/index.ts'
import type { JsonSchema } from '../../../lib/interface/index.ts'
import { importOpenapi } from '../../../protocols/rest/openapi/openapi-import.ts'
import { declarationsOf } from '../../../node/types/declarations.ts'
import { OPENAPI } from '../../client/story/apis.ts'
import { compiled } from './compiled.ts'

type Listing = Parameters<typeof declarationsOf>[0]

const listing = (changes: Partial<Listing>): Listing => ({
  id: 'weather@12D3KooW',
  name: 'weather',
  protocol: 'REST',
  revision: 3,
  operations: [],
  definitions: {},
  sdl: null,
  ...changes
})
const sourceOf = async (changes: Partial<Listing>) => (await declarationsOf(listing(changes))).source
const ofSchema = (input: JsonSchema, definitions = {}) =>
  sourceOf({ operations: [{ name: 'call' }, { name: 'x', input }], definitions })

const BREAKOUTS = [
  '*/ export const broken = 1 /*',
  '"; evil() //',
  '`${evil()}`',
  '\\',
  "'\n\r\u2028\u2029}",
  '__proto__',
  'constructor',
  '@ts-expect-error',
  '@ts-ignore',
  '// @ts-nocheck',
  '\u202Egnp.exe',
  '\u001B[31m',
  '\uD800',
  '',
  'then'
]

describe('the types of an API', () => {
  it('are operations with their fields', async () => {
    const { description } = importOpenapi({ text: JSON.stringify(OPENAPI), endpoint: 'http://127.0.0.1' })
    const { name, source } = await declarationsOf(
      listing({ name: 'bb-soap-account', operations: [...description.operations] })
    )
    assert.equal(name, 'BbSoapAccount')
    assert.match(
      source,
      /^export interface BbSoapAccount \{\n {2}getBalance: \{\n {4}input: \{\n {6}accountId: string\n {4}\}$/m
    )
    const use = `import { createClient } from 'souk/client'
      import type { BbSoapAccount } from './bank.d.ts'
      const bank = createClient({ ingress: 'http://a' }).for<BbSoapAccount>('bb-soap-account')
      const { body, charged } = await bank.getBalance({ accountId: '1' }, { maxPrice: '1' })
      export const seen: [number, string] = [body.balance, charged]
      for await (const { data } of bank.getBalance.stream({ accountId: '1' })) seen.push(data.balance)
      // @ts-expect-error a field of another type
      await bank.getBalance({ accountId: 1 })
      // @ts-expect-error a field that the operation does not have
      await bank.getBalance({ accountId: '1', account: '1' })
      // @ts-expect-error a missing field
      await bank.getBalance({})
      // @ts-expect-error an operation that the API does not have
      await bank.getBalances({ accountId: '1' })
      // @ts-expect-error a field that the response does not have
      body.amount`
    assert.equal(await compiled({ 'bank.d.ts': source, 'use.ts': use }), '')
  })

  it('of a GraphQL API have its request and its schema', async () => {
    const sdl = `
      type Query { user(id: ID!): User, search: [Hit!]! }
      type Mutation { add(input: UserInput!): User! }
      """ */ text """
      type User { id: ID!, name: String, friends: [User], role: Role!, born: Date }
      type Post { title: String! }
      union Hit = User | Post
      enum Role { ADMIN, GUEST }
      scalar Date
      input UserInput { name: String!, role: Role = GUEST, tags: [String!], limit: Int! = 1 }`
    const source = await sourceOf({ name: 'users', protocol: 'GraphQL', sdl })
    const use = `import { createClient } from 'souk/client'
      import type { User, UserInput, Users } from './users.d.ts'
      const users = createClient({ ingress: 'http://a' }).for<Users>('users')
      const input: UserInput = { name: 'a' }
      const { body } = await users({ query: '{ user(id: 1) { name } }', variables: { input } })
      export const user: User | null | undefined = body.data?.user
      export const name: string | null | undefined = body.data?.user?.friends?.[0]?.name
      // @ts-expect-error a missing field
      export const other: UserInput = {}
      // @ts-expect-error no such field
      body.data?.user?.age
      // @ts-expect-error no query
      await users({})`
    assert.equal(await compiled({ 'users.d.ts': source, 'use.ts': use }), '')
  })

  it('of an API without operations are the function itself', async () => {
    const source = await sourceOf({ operations: [{ name: 'call' }] })
    assert.match(source, /^ {2}"": \{$/m)
    const use = `import { createClient } from 'souk/client'
      import type { Weather } from './weather.d.ts'
      const { body } = await createClient({ ingress: 'http://a' }).for<Weather>('weather')({ city: 'Oslo' })
      export const unknownBody: unknown = body`
    assert.equal(await compiled({ 'weather.d.ts': source, 'use.ts': use }), '')
  })

  it('cannot be broken by names and texts of strangers', async () => {
    const properties = Object.fromEntries(BREAKOUTS.map((text) => [text, { description: text, enum: [text] }]))
    const own = Object.fromEntries(BREAKOUTS.map((text) => [text, { description: text, type: 'object', properties }]))
    const refs = BREAKOUTS.map((text) => ({ $ref: `#/$defs/${text}` }))
    const source = await sourceOf({
      operations: BREAKOUTS.map((text) => ({
        name: text,
        description: text,
        input: { type: 'object', properties, required: BREAKOUTS, $defs: own, anyOf: refs },
        output: { oneOf: refs }
      })),
      definitions: own
    })
    assert.doesNotMatch(source, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E]/)
    const check = `import type { Weather } from './weather.d.ts'
      type Keys = keyof Weather
      export const keys: Keys[] = ${JSON.stringify(BREAKOUTS)}
      // @ts-expect-error the type is not any
      export const other: Keys = 'other'
      // @ts-expect-error nothing else is exported
      import type { broken } from './weather.d.ts'`
    assert.equal(await compiled({ 'weather.d.ts': source, 'weather-too.ts': source, 'check.ts': check }), '')
  })

  it('may be circular, in every way', async () => {
    const ref = (name: string) => ({ $ref: `#/$defs/${name}` })
    const definitions = {
      Self: ref('Self'),
      A: { anyOf: [ref('B'), { type: 'string' }] },
      B: { oneOf: [ref('C'), { type: 'number' }] },
      C: { allOf: [ref('A')] },
      Tree: { type: 'object', properties: { children: { type: 'array', items: ref('Tree') } } },
      List: { type: 'array', items: ref('List') },
      Map: { type: 'object', additionalProperties: ref('Map') },
      ...Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`Link${at}`, ref(`Link${at + 1}`)]))
    }
    const names = ['Self', 'A', 'B', 'C', 'Tree', 'List', 'Map', 'Link0', 'missing']
    const source = await ofSchema(
      { properties: Object.fromEntries(names.map((name) => [name, ref(name)])) },
      definitions
    )
    const use = `import type { Weather } from './weather.d.ts'
      const leaf = { children: [] }
      export const x: Weather['x']['input'] = { Tree: { children: [leaf, { children: [leaf] }] }, List: [[], [[]]] }
      // @ts-expect-error not a tree
      export const y: Weather['x']['input'] = { Tree: { children: [1] } }`
    assert.equal(await compiled({ 'weather.d.ts': source, 'use.ts': use }), '')
  })

  it('say what schemas say', async () => {
    const types = async (schema: JsonSchema) =>
      /input: ([^]*)\n {4}output/
        .exec((await ofSchema({ properties: { v: schema } })).split('  x: {')[1] ?? '')?.[1]
        ?.replaceAll(/\s+/g, ' ')
    const cases: ReadonlyArray<readonly [JsonSchema, string]> = [
      [{ type: 'integer' }, 'number'],
      [{ type: ['string', 'null'] }, 'string | null'],
      [{ type: 'string', nullable: true }, 'string | null'],
      [{ const: 'a' }, '"a"'],
      [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
      [{ enum: [{ a: 1 }] }, 'unknown'],
      [{ type: 'object' }, '{ [name: string]: unknown }'],
      [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number }'],
      [{ type: 'object', additionalProperties: false }, '{ [name: string]: never }'],
      [{ properties: { a: {} }, additionalProperties: true }, '{ a?: unknown [name: string]: unknown }'],
      [{ required: ['a'] }, '{ a: unknown }'],
      [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
      [{ prefixItems: [{ type: 'string' }], items: false }, 'string[]'],
      [{ allOf: [{ type: 'object' }, { properties: { a: { type: 'string' } } }] }, '{ a?: string }'],
      [
        { properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
        '{ a?: unknown } & ({ a: unknown } | { b: unknown })'
      ],
      [{ anyOf: [{ type: 'string' }, true] }, 'unknown'],
      [{ properties: 'wrong', required: 5, anyOf: {}, allOf: null } as never, 'unknown']
    ]
    for (const [schema, expected] of cases)
      assert.equal(await types(schema), `{ v?: ${expected} }`, JSON.stringify(schema))
    assert.match(
      await ofSchema({ properties: { operation: { const: 'x' }, a: {} }, required: ['operation'] }),
      /input: \{\n {6}a\?: unknown\n {4}\}/
    )
  })

  it('have a bounded size', async () => {
    let deep: JsonSchema = { type: 'string' }
    for (let depth = 0; depth < 2_000; depth++) deep = { properties: { a: deep } }
    assert.ok((await ofSchema(deep)).length < 10_000)
    assert.ok(
      (await ofSchema({ description: 'a'.repeat(1e6), properties: { b: { description: 'a'.repeat(1e6) } } })).length <
        10_000
    )
    const values = Array.from({ length: limits.TYPES_ALTERNATIVES_MAX + 1 }, (_, at) => at)
    assert.ok((await ofSchema({ properties: { a: { type: 'number', enum: values } } })).includes('a?: number'))
    const unions = Array.from({ length: 9 }, (_, n) => ({ enum: Array.from({ length: 900 }, (_, at) => `${n} ${at}`) }))
    assert.equal(await compiled({ 'a.d.ts': await ofSchema({ properties: { a: { allOf: unions } } }) }), '')
  })
})
