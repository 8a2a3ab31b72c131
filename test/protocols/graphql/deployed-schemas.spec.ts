import assert from 'node:assert/strict'
import { commonMs, cpuMsOf } from '../../helpers/cpu-time.ts'
import {
  type IntrospectionQuery,
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  graphqlSync,
  printSchema
} from 'graphql'
import type { Adapter, GraphqlTerms } from '../../../lib/interface/index.ts'
import { givenSchema, schemaSteps } from '../../../protocols/graphql/built-schema.ts'
import { graphqlFactory } from '../../../protocols/graphql/graphql-factory.ts'
import { assertTurnsBelow } from '../../helpers/busy-turn.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { type Behaviour, answering, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

const json = { 'content-type': 'application/json' }
/** The maximum blocking of the event loop. */
const STALL_MS = 100
const DONE = { data: { done: true } }
const reversed = (_: string, value: unknown): unknown => (Array.isArray(value) ? value.toReversed() : value)

interface Case {
  readonly what: string
  readonly schema: string
  /** A document that the server runs. */
  readonly query?: string
  readonly variables?: object
  readonly warning?: RegExp
}

/** Schemas that graphql-js or the specification refuses, and that servers run with. */
const CASES: readonly Case[] = [
  {
    what: 'a required argument that is deprecated, as at GitHub',
    schema: 'type Query { a(old: Int! @deprecated(reason: "gone")): Int }',
    query: '{ a(old: 1) }',
    warning: /Required argument Query\.a\(old:\) cannot be deprecated/
  },
  {
    what: 'empty types, as at Saleor',
    schema: 'type Query { a(filter: Filter = {}): Int b(): Int } input Filter {} type Empty {} enum None {}',
    query: 'query ($f: Filter) { a(filter: $f) }',
    variables: { f: {} },
    warning: /Filter must define one or more fields/
  },
  {
    what: 'a field without its deprecated interface field',
    schema: 'type Query implements Node { id: ID! @deprecated } interface Node { id: ID! }',
    query: '{ id }',
    warning: /must not be deprecated/
  },
  {
    what: 'an interface that is not fully implemented',
    schema: 'type Query implements Node { a: Int } interface Node { id: ID! b(x: Int): Int }',
    query: '{ a ... on Node { id } }',
    warning: /Interface field Node\.id expected/
  },
  {
    what: 'interfaces that implement each other and themselves',
    schema:
      'type Query implements A { a: Int } interface A implements A & B { a: Int } interface B implements A { a: Int }',
    query: '{ ... on A { a } }',
    warning: /A cannot be an interface of A|circular/
  },
  {
    what: 'interfaces in the old form',
    schema:
      'type Query implements A B, C { a: Int }\ninterface A { a: Int } interface B { a: Int } interface C { a: Int }',
    query: '{ ... on C { a } }'
  },
  {
    what: 'reserved names',
    schema: 'type Query { __a(__x: __E): __T } type __T { __b: Int } enum __E { __V }',
    query: '{ __a(__x: __V) { __b } }',
    warning: /must not begin with "__"/
  },
  {
    what: 'directives without definition, and twice',
    schema:
      'directive @on on FIELD directive @on on FIELD type Query @key(fields: "a") { a: Int @aws @deprecated @deprecated }',
    query: '{ a @on }',
    warning: /does not define: @key, @aws/
  },
  {
    what: 'directives with wrong arguments',
    schema: 'type Query { a: X @deprecated(reason: 5) } scalar X @specifiedBy(url: 4)',
    query: '{ a }'
  },
  {
    what: 'extensions without a base, as in a subgraph',
    schema:
      'extend type Query { a: Product } extend type Product @key(fields: "id") { id: ID! @external } extend schema @link(url: "x")',
    query: '{ a { id } }',
    warning: /does not define: @key, @external/
  },
  {
    what: 'no query type, as a subgraph may have',
    schema: 'type User @key(fields: "id") { id: ID! } extend type Item @federation__key(fields: "a") { a: Int }',
    query: 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { id } ... on Item { a } } }',
    variables: { r: [{ __typename: 'User', id: '1' }] },
    warning: /does not define: @key/
  },
  {
    what: 'the query type of a subgraph under another name',
    schema: 'schema { query: Root } type Root { a: Int } type User @key(fields: "id", resolvable: true) { id: ID! }',
    query: '{ a _entities(representations: [{ __typename: "User", id: 1 }]) { ... on User { id } } }',
    warning: /does not define: @key/
  },
  {
    what: 'definitions that files share',
    schema:
      'type Query { a: E } type Query { a: E b: E } enum E { X } enum E { X Y } scalar Date scalar Date input Date { a: Int }',
    query: '{ b }',
    warning: /Query is defined twice/
  },
  {
    what: 'scalars of a vendor that its SDL leaves out',
    schema: 'type Query { a(at: AWSDateTime!): AWSJSON }',
    query: '{ a(at: "2026-01-01T00:00:00Z") }',
    warning: /AWSDateTime is not defined/
  },
  {
    what: 'default values of the wrong type',
    schema:
      'type Query { a(order: Order! = "ASC", by: By): Int } enum Order { ASC } input By { n: Int! = "x", m: Int }',
    query: 'query ($by: By) { a(by: $by) }',
    variables: { by: { m: 1 } },
    warning: /invalid default value/
  },
  {
    what: 'default values in a circle',
    schema: 'type Query { a(by: By): Int } input By { by: By = {}, and: By! = { by: {} } }',
    query: 'query ($by: By) { a(by: $by) }',
    variables: { by: {} },
    warning: /circular/
  },
  {
    what: 'an input without an end',
    schema: 'type Query { a(by: By): Int } input By { by: By! }',
    query: '{ a }',
    warning: /finite value/
  },
  {
    what: 'oneOf with a default value',
    schema: 'type Query { a(by: By): Int } input By @oneOf { x: Int = 1, y: Int }',
    query: 'query ($by: By) { a(by: $by) }',
    variables: { by: { y: 1 } },
    warning: /cannot have a default value/
  },
  {
    what: 'types in the wrong place',
    schema:
      'type Query { a(q: Query, ok: Int): Int b: I } input I { q: Query } union U = Query | Query | I | E enum E { A }',
    query: '{ a(ok: 1) }',
    warning: /Query cannot be the type of Query\.a\.q/
  },
  {
    what: 'one type for two kinds of operations',
    schema: 'schema { query: Root mutation: Root } type Root { a: Int }',
    query: 'mutation { a }',
    warning: /All root types must be different/
  },
  { what: 'the types of introspection', schema: 'type Query { a: __Type } type __Type { name: Int } scalar String' },
  {
    what: 'an introspection response',
    schema: JSON.stringify({
      data: {
        __schema: {
          queryType: { name: 'Query' },
          directives: [{ name: 'bad name' }, { name: 'x', locations: ['FIELD', 'NOWHERE'] }, null],
          types: [
            null,
            { kind: 'OBJECT', name: 'My.Type', fields: [] },
            { kind: 'ENUM', name: 'Size', enumValues: [{ name: '1080p' }, { name: 'true' }] },
            {
              kind: 'OBJECT',
              name: 'Query',
              fields: [
                { name: 'a b', type: { kind: 'SCALAR', name: 'Int' } },
                { name: 'lost', type: { kind: 'OBJECT', name: 'Lost' } },
                {
                  name: 'a',
                  type: { kind: 'SCALAR', name: 'Int' },
                  args: [
                    {
                      name: 'size',
                      type: { kind: 'NON_NULL', ofType: { kind: 'ENUM', name: 'Size' } },
                      defaultValue: "{'a'}"
                    }
                  ]
                }
              ]
            }
          ]
        }
      }
    }),
    query: 'query ($s: Size) { a(size: $s) @x }',
    variables: { s: '1080p' },
    warning: /"1080p", so any value is accepted/
  },
  {
    what: 'a directive without a known place, and texts that end within a character',
    schema: JSON.stringify({
      data: {
        __schema: {
          queryType: { name: 'Query' },
          directives: [{ name: 'x', locations: ['NOWHERE'] }],
          types: [
            { kind: 'SCALAR', name: 'Url', specifiedByURL: 'https://url.example/\ud83d' },
            {
              kind: 'OBJECT',
              name: 'Query',
              description: 'Cut \ud83d',
              fields: [
                {
                  name: 'a',
                  type: { kind: 'SCALAR', name: 'Url' },
                  isDeprecated: true,
                  deprecationReason: 'Cut \ud83d'
                }
              ]
            }
          ]
        }
      }
    }),
    query: '{ a }',
    warning: /The directive @x has no place that GraphQL knows/
  }
]

describe('schemas that deployed servers have', () => {
  const closing: Array<() => Promise<void> | undefined> = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function opened(behaviour: Behaviour, graphql: GraphqlTerms = {}) {
    const upstream = await scriptedUpstream(behaviour)
    closing.push(() => upstream.close())
    const config = { endpoint: upstream.url, graphql }
    const { snapshot, warnings } = await graphqlFactory.inspect(config, FOREVER)
    const adapter: Adapter = graphqlFactory.open(config, snapshot)
    closing.unshift(async () => adapter.close?.())
    return { adapter, upstream, snapshot, warnings }
  }

  for (const { what, schema, query = '{ __typename }', variables, warning } of CASES) {
    it(`registers and calls an API with ${what}`, async () => {
      const { adapter, warnings } = await opened(answering(200, json, JSON.stringify(DONE)), { schema })
      if (warning === undefined) assert.deepEqual(warnings, [])
      else assert.match(warnings.join('\n'), warning)
      assert.deepEqual(await jsonOf(await adapter.call(plainCall({ query, variables }), FOREVER)), DONE)
      const { sdl } = await adapter.description
      buildSchema(sdl ?? '', { assumeValid: true })
    })
  }

  it('gives a subgraph no entity that it cannot resolve', async () => {
    const schema = 'type Query { a: Int } type User @key(fields: "id", resolvable: false) { id: ID! }'
    const { snapshot } = await opened(answering(200, json, '{"data":{}}'), { schema })
    assert.doesNotMatch(snapshot, /_entities/)
  })

  it('names the types that are missing, and how to add them', async () => {
    const schema = 'type Query { a: Nix b(c: Nought): [Nix!] }'
    await assert.rejects(opened(answering(200, json, '{"data":{}}'), { schema }), /not define: Nix, Nought\. Supply/)
  })

  it('quotes some faults, and counts the others', async () => {
    const fields = Array.from({ length: 1_000 }, (_, i) => `f${i}(x: Int! @deprecated): Int`).join(' ')
    const { warnings } = await opened(answering(200, json, '{"data":{}}'), { schema: `type Query { ${fields} }` })
    assert.match(warnings.join(), /^The schema is not valid in 1000 places.* And 995 more\.$/)
  })

  it('hides parts of a schema with faults of its own', async () => {
    const schema = 'type Query { a(old: Int! @deprecated): Int b: Int }'
    const { adapter } = await opened(answering(200, json, JSON.stringify(DONE)), { schema, hidden: ['Query.b'] })
    const called = await adapter.call(plainCall({ query: '{ a(old: 1) }' }), FOREVER)
    assert.equal(called.success, true)
    const asked = await adapter.call(plainCall({ query: getIntrospectionQuery() }), FOREVER)
    assert.doesNotMatch(JSON.stringify(await jsonOf(asked)), /"errors"/)
  })

  it('answers introspection itself where the schema is from a file', async () => {
    const isOff = '{"errors":[{"message":"GraphQL introspection is not allowed by Apollo Server"}]}'
    const { adapter, upstream } = await opened(answering(400, json, isOff), { schema: 'type Query { a: Int }' })
    upstream.received.length = 0
    const asked = await adapter.call(plainCall({ query: getIntrospectionQuery() }), FOREVER)
    const { data } = (await jsonOf(asked)) as { data: IntrospectionQuery }
    assert.equal(printSchema(buildClientSchema(data)), 'type Query {\n  a: Int\n}')
    assert.deepEqual([asked.success, upstream.received.length], [false, 0])
    const beside = await adapter.call(plainCall({ query: '{ a __type(name: "Query") { name } }' }), FOREVER)
    assert.deepEqual([beside.status, upstream.received.length], [400, 1])
  })

  const SDL = `directive @again repeatable on FIELD
    scalar Url @specifiedBy(url: "https://url.example")
    input Key @oneOf { id: ID, name: String }
    type Query { item(key: Key, old: Int @deprecated(reason: "use key")): Url, gone: Int @deprecated }`

  /** A server that refuses documents with members of introspection that it does not know. */
  function knowing(unknown?: string, isHonest = true): Behaviour {
    const schema = buildSchema(SDL)
    return (response, { body }) => {
      const { query } = JSON.parse(body.toString()) as { query: string }
      const isOff = unknown !== undefined && query.includes(unknown)
      const result = isOff ? { errors: [{ message: 'Unknown member' }] } : graphqlSync({ schema, source: query })
      const text = isHonest ? JSON.stringify(result).replaceAll(`"${unknown}"`, '"later"') : JSON.stringify(result)
      response.writeHead(isOff ? 400 : 200, json).end(text)
    }
  }

  it('asks for deprecated arguments, repeatable directives, addresses of scalars and oneOf', async () => {
    const { adapter, snapshot, upstream } = await opened(knowing())
    for (const part of [
      'repeatable',
      '@specifiedBy(url',
      '@oneOf',
      'old: Int @deprecated(reason: "use key")',
      'gone: Int @deprecated'
    ])
      assert(snapshot.includes(part), part)
    upstream.received.length = 0
    assert.equal((await adapter.call(plainCall({ query: '{ item(old: 1) gone }' }), FOREVER)).status, 200)
    assert.equal(upstream.received.length, 1)
  })

  it('asks a server only for what it knows', async () => {
    const { snapshot, upstream } = await opened(knowing('isOneOf'))
    assert.match(snapshot, /old: Int @deprecated/)
    assert.doesNotMatch(snapshot, /@oneOf/)
    assert.equal(upstream.received.length, 3)
  })

  it('falls back to the oldest form of the query', async () => {
    const { snapshot } = await opened(knowing('isRepeatable', false))
    assert.match(snapshot, /item\(key: Key\): Url/)
    assert.doesNotMatch(snapshot, /@specifiedBy/)
  })

  it('asks in the oldest form if the server gives no list of what it knows', async () => {
    const schema = buildSchema(SDL)
    for (const type of ['{"fields":7}', '{"fields":[null]}', '{"fields":[{"name":"inputFields","args":{}}]}', '7']) {
      const { snapshot } = await opened((response, { body }) => {
        const { query } = JSON.parse(body.toString()) as { query: string }
        const isNew = query.includes('specifiedByURL')
        const result = isNew ? { errors: [{ message: 'Unknown member' }] } : graphqlSync({ schema, source: query })
        const isAsked = query.startsWith('{')
        response.writeHead(200, json).end(isAsked ? `{"data":{"type":${type}}}` : JSON.stringify(result))
      })
      assert.match(snapshot, /item\(key: Key\): Url/)
    }
  })

  it('takes a schema in another order as the same schema', async () => {
    const sdl = `interface Node { id: ID! } enum Size { S M } type User implements Node { id: ID! "In cm." size(of: Size, in: Int): Size }
      type Query { user(id: ID!, "Past." at: Int): User, node(id: ID!): Node } union Any = User | Query`
    let asked = 0
    const { adapter } = await opened((response, { body }) => {
      const { query } = JSON.parse(body.toString()) as { query: string }
      const result = JSON.stringify(graphqlSync({ schema: buildSchema(sdl), source: query }))
      const isTurned = asked++ % 2 === 1
      response.writeHead(200, json).end(isTurned ? JSON.stringify(JSON.parse(result, reversed)) : result)
    })
    const updates: string[] = []
    adapter.follow?.((snapshot) => updates.push(snapshot), false)
    assert.match(JSON.stringify(await jsonOf(await adapter.call(plainCall({ query: '{ no }' }), FOREVER))), /no/)
    assert.deepEqual([asked, updates], [2, []])
  })

  it('parses no long response in the process that serves calls', async () => {
    const long = '['.repeat(5e6) + ']'.repeat(5e6)
    const behaviour: Behaviour = (response, { body }) => {
      const isIntrospection = body.includes('IntrospectionQuery')
      response.writeHead(200, json).end(isIntrospection ? '{"errors":[{"message":"Unknown member"}]}' : long)
    }
    await assertTurnsBelow(400, async () => {
      for (const graphql of [{}, { schema: SDL }]) {
        await assert.rejects(opened(behaviour, graphql), { code: 'invalid_request' })
      }
    })
  })

  it('reads a schema of the size of GitHub in short steps', async () => {
    const fields = Array.from({ length: 20 }, (_, i) => `"${'word '.repeat(12)}" f${i}(first: Int = 10): T${i}`).join(
      '\n'
    )
    const types = Array.from({ length: 500 }, (_, i) => `type T${i} { ${fields} }`)
    const { sdl } = givenSchema(`type Query { a: T1 } ${types.join('\n')}`)
    assert(sdl.length > 700_000)
    const reading = schemaSteps(sdl, [])
    const step = async (): Promise<boolean> => {
      let isLast: boolean | undefined
      const ms = commonMs(await cpuMsOf(() => (isLast = reading.next().done)), STALL_MS)
      assert(ms < STALL_MS, `a step took ${ms} ms`)
      return isLast === true
    }
    let steps = 1
    while (!(await step())) steps++
    assert(steps > 20)
  })
})
