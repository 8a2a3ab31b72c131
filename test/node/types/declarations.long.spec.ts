import assert from 'node:assert/strict'
import { importOpenapi } from '../../../protocols/rest/openapi/openapi-import.ts'
import { declarationsOf } from '../../../node/types/declarations.ts'
import { OPENAPI } from '../../client/story/apis.ts'
import { compiled } from './compiled.ts'
import { listing, ofSchema, sourceOf } from './listing.ts'

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
  '\u{E0001}',
  '',
  'then'
]

describe('the types of an API, compiled', () => {
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
    assert.doesNotMatch(source, /[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u)
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

  it('have unions that the compiler can compare', async () => {
    const unions = Array.from({ length: 9 }, (_, n) => ({ enum: Array.from({ length: 900 }, (_, at) => `${n} ${at}`) }))
    assert.equal(await compiled({ 'a.d.ts': await ofSchema({ properties: { a: { allOf: unions } } }) }), '')
  })
})
