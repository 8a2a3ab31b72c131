import assert from 'node:assert/strict'
import { buildSchema, graphqlSync } from 'graphql'
import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { graphqlFactory } from '../../../protocols/graphql/graphql-factory.ts'
import { FOREVER, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { type Behaviour, answering, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { adapterSuite } from '../../suites/adapter.ts'

const SDL = `
  "Everything to be read."
  type Query { "One user." user(id: ID!): User, search: [User!] }
  type Mutation { rename(id: ID!, name: String!): User, search: Boolean }
  type Subscription { renamed: User }
  type User { "Never changes." id: ID!, name: String }
`

/** A real server that executes requests. */
function serving(sdl: string): Behaviour {
  const schema = buildSchema(sdl)
  return (response, { body }) => {
    const { query } = JSON.parse(body.toString()) as { query: string }
    const result = graphqlSync({ schema, source: query })
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
  }
}

const json = { 'content-type': 'application/json' }

adapterSuite({
  factory: graphqlFactory,
  endpointPath: '/graphql',
  inspectable: serving(SDL),
  call: { query: 'query ($id: ID!) { user(id: $id) { name } }', variables: { id: '1' } },
  answer: { headers: json, body: '{"data":{"user":{"name":"Ada"}}}' },
  reply: { data: { user: { name: 'Ada' } } },
  huge: (bytes) => Buffer.from(`{"data":{"x":"${'x'.repeat(bytes)}"}}`),
  holdsResponses: true
})

describe('inspection of a GraphQL endpoint', () => {
  const inspected = async (behaviour: Behaviour, config: Partial<UpstreamConfig> = {}) => {
    const upstream = await scriptedUpstream(behaviour)
    try {
      return await graphqlFactory.inspect({ endpoint: upstream.url, ...config }, FOREVER)
    } finally {
      await upstream.close()
    }
  }

  it('publishes the schema, with queries and mutations as operations', async () => {
    const { description, snapshot, warnings } = await inspected(serving(SDL))
    assert.deepEqual(description.operations, [
      { name: 'user', description: 'One user.' },
      { name: 'search' },
      { name: 'rename' },
      { name: 'mutation search' },
      { name: 'renamed' }
    ])
    assert.equal(description.sdl, snapshot)
    assert.match(snapshot, /type User \{\s+"""Never changes."""\s+id: ID!/)
    assert.deepEqual(warnings, [])
  })

  it('is published once as the inspection found it, then by its snapshot', async () => {
    const { description, snapshot } = await inspected(serving(SDL))
    const adapter = graphqlFactory.open({ endpoint: 'http://127.0.0.1:9/' }, snapshot, description)
    assert.equal(await adapter.description, description)
    const again = await adapter.description
    assert.notEqual(again, description)
    assert.deepEqual(again, description)
    await adapter.close?.()
  })

  const long = 'word '.repeat(20)
  const fields = (count: number, description: string) =>
    Array.from({ length: count }, (_, i) => `"${description}" field${i}(argument: String): String`).join('\n')

  it('describes a schema of any size in full, and lists operations up to the limit', async () => {
    const { description, snapshot, warnings } = await inspected(serving(`type Query { ${fields(6_000, long)} }`))
    assert.equal(description.sdl, snapshot)
    assert.match(snapshot, /field5999\(argument: String\): String/)
    assert.equal(description.operations.length, 2_000)
    assert.equal(description.operations[7]?.description, long)
    assert.match(warnings.join(), /has 6000 operations; the first 2000 are listed/)
    assert.equal(warnings.length, 1)
  })

  const refused: ReadonlyArray<readonly [what: string, behaviour: Behaviour, text: RegExp]> = [
    [
      'a web page',
      answering(200, { 'content-type': 'text/html' }, '<html></html>'),
      /does not return a GraphQL response \(HTTP 200\)/
    ],
    ['a JSON API', answering(200, json, '{"hello":"world"}'), /does not return a GraphQL response/],
    [
      'nothing there',
      answering(404, json, '{"message":"no route"}'),
      /does not return a GraphQL response \(HTTP 404\)/
    ],
    ['a locked door', answering(401, json, '{"errors":[{"message":"no"}]}'), /requires credentials/],
    [
      'introspection turned off',
      answering(400, json, '{"errors":[{"message":"GraphQL introspection is not allowed by Apollo Server"}]}'),
      /introspection turned off/
    ],
    [
      'an error without a reason',
      answering(200, json, '{"errors":[{"message":"secret inner text"}]}'),
      /introspection does not return its schema/
    ],
    ['an error that is null', answering(200, json, '{"errors":[null]}'), /introspection does not return its schema/],
    ['no schema at all', answering(200, json, '{"data":{}}'), /introspection does not return its schema/],
    ['half a schema', answering(200, json, '{"data":{"__schema":{"types":[]}}}'), /not valid/],
    ['a wrong schema', answering(200, json, '{"data":{"__schema":7}}'), /not valid/]
  ]
  for (const [what, behaviour, text] of refused) {
    it(`reports the problem with ${what}`, async () => {
      const attempt = inspected(behaviour)
      await rejectsWith(attempt, 'invalid_request')
      await assert.rejects(attempt, (error: Error) => text.test(error.message) && !error.message.includes('secret'))
    })
  }

  it("accepts the provider's schema, and only checks that the API responds", async () => {
    const off = answering(200, json, '{"data":{"__typename":"Query"}}')
    const graphql = { schema: 'type Query { a: Int } type Hidden { b: Int }', hidden: ['Hidden'] }
    const { description, snapshot } = await inspected(off, { graphql })
    assert.deepEqual(description.sdl, 'type Query {\n  a: Int\n}')
    assert.match(snapshot, /type Hidden/)
    await rejectsWith(inspected(answering(404, {}, ''), { graphql }), 'invalid_request')
    for (const schema of ['type Query {', 'type Query { a: Nothing }', 'type Other { a: Int }', '']) {
      await rejectsWith(inspected(off, { graphql: { schema } }), 'invalid_request')
    }
    const upstream = await scriptedUpstream(off)
    const adapter = graphqlFactory.open({ endpoint: upstream.url, graphql }, snapshot)
    const reply = await adapter.call(plainCall({ query: '{ b }' }), FOREVER)
    assert.deepEqual([reply.success, upstream.received.length], [false, 0])
    await adapter.close?.()
    await upstream.close()
  })

  it('opens without a schema', async () => {
    const adapter = graphqlFactory.open({ endpoint: 'http://127.0.0.1:9/graphql' }, '')
    assert.deepEqual(await adapter.description, { operations: [] })
    await adapter.close?.()
  })
})
