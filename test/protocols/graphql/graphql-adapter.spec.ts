import assert from 'node:assert/strict'
import { RESPONSE_JSON_DEPTH_MAX } from '../../../lib/base/limits/call.ts'
import { GRAPHQL_TOKENS_MAX } from '../../../lib/base/limits/graphql.ts'
import type { Adapter, AdapterReply, AdapterRequest } from '../../../lib/interface/adapter.ts'
import type { Headers } from '../../../lib/interface/payload.ts'
import { graphqlFactory } from '../../../protocols/graphql/graphql-factory.ts'
import { bytesOf, FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

const json = { 'content-type': 'application/json' }
const REFUSED = ['souk-error-source', 'owner']
const MODERN: Headers = [['accept', 'application/graphql-response+json']]
const ok = answering(200, json, '{"data":{"a":1}}')

describe('a GraphQL call', () => {
  let upstream: ScriptedUpstream
  let adapter: Adapter

  beforeEach(async () => {
    upstream = await scriptedUpstream(ok)
    adapter = graphqlFactory.open({ endpoint: `${upstream.url}/graphql` }, '')
  })
  afterEach(async () => {
    await adapter.close?.()
    await upstream.close()
  })

  const sent = (): unknown => JSON.parse(upstream.received[0]?.body.toString() ?? '')
  const call = (body: unknown, more: Partial<AdapterRequest> = {}): Promise<AdapterReply> =>
    adapter.call({ ...plainCall(body), ...more }, FOREVER)

  it('posts only query, variables, operationName and extensions', async () => {
    const request = {
      query: 'query A { a } query B { b }',
      variables: { id: '1' },
      operationName: 'B',
      extensions: { trace: true }
    }
    await call({ ...request, extra: 1 })
    assert.deepEqual(sent(), request)
    const { method, target, headers } = upstream.received[0] ?? assert.fail()
    assert.deepEqual([method, target, headers['content-type']], ['POST', '/graphql', 'application/json'])
    assert.equal(headers.accept, 'application/json, application/graphql-response+json;q=0.9')
  })

  it('keeps the digits of numbers a double cannot hold', async () => {
    await call(
      Buffer.from('{"query":"{ a }","variables":{"n":12345678901234567890,"list":[1.10,1e400,-0]},"extensions":null}')
    )
    assert.equal(
      upstream.received[0]?.body.toString(),
      '{"query":"{ a }","variables":{"n":12345678901234567890,"list":[1.10,1e400,-0]}}'
    )
  })

  it('rejects duplicate variables if it forwards their original text', async () => {
    for (const variables of ['{"n":1.5,"n":2}', '{"n":1.5,"\\u006e":2}', '[1.5,{"a":{"b":1,"b":2}}]']) {
      const body = Buffer.from(`{"query":"{ a }","variables":{"in":${variables}}}`)
      await rejectsWith(call(body), 'invalid_request')
    }
    assert.equal(upstream.received.length, 0)
  })

  it('forwards exactly the query that it checked', async () => {
    await call(Buffer.from('{"query":"subscription { x }","query":"{ a }"}'))
    assert.equal(upstream.received[0]?.body.toString(), '{"query":"{ a }"}')
  })

  it('passes on the response byte by byte', async () => {
    const body = '{ "data" : {"n": 12345678901234567890},\n "extensions": {"cost": 1.10} }'
    upstream.behave(answering(200, { 'content-type': 'application/graphql-response+json' }, body))
    const reply = await call({ query: '{ n }' }, { headers: MODERN })
    assert.equal(upstream.received[0]?.headers.accept, 'application/graphql-response+json, application/json;q=0.9')
    assert.equal((await bytesOf(reply.body)).toString(), body)
    assert.deepEqual(reply.headers, [['content-type', 'application/graphql-response+json']])
  })

  it('is a success with partial data, including the errors', async () => {
    const body = { data: { a: 1, b: null }, errors: [{ message: 'b is gone', path: ['b'] }] }
    upstream.behave(answering(200, json, JSON.stringify(body)))
    const reply = await call({ query: '{ a b }' })
    assert.deepEqual([reply.success, reply.rule], [true, 'partial-data'])
    assert.deepEqual(await jsonOf(reply), body)
  })

  it('is a success when the API writes null for absent errors, or begins with a byte order mark', async () => {
    for (const body of ['{"data":{"a":1},"errors":null}', '\u{feff}{"data":{"a":1}}']) {
      upstream.behave(answering(200, json, body))
      const { success, rule } = await call({ query: '{ a }' })
      assert.deepEqual([success, rule], [true, undefined])
    }
  })

  const unsuccessful: ReadonlyArray<readonly [what: string, status: number, body: object]> = [
    ['data is null', 200, { data: null, errors: [{ message: 'x' }] }],
    ['there are errors only', 200, { errors: [{ message: 'x' }] }],
    ['the upstream refuses the request', 400, { errors: [{ message: 'x' }] }],
    ['the upstream fails, whatever data it shows', 500, { data: { a: 1 } }]
  ]
  for (const [what, status, body] of unsuccessful) {
    it(`is not a success when ${what}`, async () => {
      upstream.behave(answering(status, json, JSON.stringify(body)))
      const reply = await call({ query: '{ a }' })
      assert.equal(reply.status, status)
      assert.equal(reply.success, false)
      assert.deepEqual(await jsonOf(reply), body)
    })
  }

  for (const body of [
    '',
    'null',
    '[]',
    '7',
    '{}',
    '{"data":1}',
    '{"data":[]}',
    '{"errors":{}}',
    '{"data":{}',
    '<html>',
    '\u{feff}',
    `{"data":{"a":${'['.repeat(RESPONSE_JSON_DEPTH_MAX)}${']'.repeat(RESPONSE_JSON_DEPTH_MAX)}}}`
  ]) {
    it(`is upstream_invalid_response when the response is ${JSON.stringify(body).slice(0, 40)}`, async () => {
      upstream.behave(answering(200, json, body))
      await rejectsWith(call({ query: '{ a }' }), 'upstream_invalid_response')
    })
  }

  it('says which Accept to send where a 406 of the upstream says nothing', async () => {
    upstream.behave(answering(406, {}, ''))
    const reply = await call({ query: '{ a ... @defer { b } }' })
    assert.deepEqual([reply.status, reply.success], [406, false])
    const { errors } = (await jsonOf(reply)) as { errors: Array<{ message: string }> }
    assert.match(errors[0]?.message ?? '', /send Accept: multipart\/mixed, application\/json/)
  })

  it('labels JSON as JSON, whatever the upstream says', async () => {
    upstream.behave(answering(200, { 'content-type': 'text/plain' }, '{"data":{}}'))
    assert.deepEqual((await call({ query: '{ a }' })).headers, [['content-type', 'application/json']])
  })

  const refused: ReadonlyArray<readonly [what: string, body: unknown, message: RegExp]> = [
    ['no query', {}, /"query" is missing/],
    ['a null query', { query: null }, /"query" is missing/],
    ['a query that is no text', { query: 7 }, /"query" must be a string/],
    ['variables that are a list', { query: '{ a }', variables: [] }, /"variables" must be a JSON object/],
    ['variables that are text', { query: '{ a }', variables: '{}' }, /"variables" must be a JSON object/],
    ['extensions that are a number', { query: '{ a }', extensions: 1 }, /"extensions" must be a JSON object/],
    ['an operationName that is no text', { query: '{ a }', operationName: 1 }, /"operationName" must be a string/],
    ['an operationName that is not there', { query: '{ a }', operationName: 'b' }, /no operation with the name/],
    ['two operations and no name', { query: 'query A { a } query B { b }' }, /must name one of them/],
    ['fragments only', { query: 'fragment F on T { a }' }, /must contain one operation/],
    ['a syntax error', { query: '{ a' }, /Syntax Error/],
    ['an empty document', { query: '' }, /Syntax Error/],
    ['a subscription without events', { query: 'subscription { a }' }, /responds with events/],
    ['a batch', [{ query: '{ a }' }], /batches are not accepted/],
    ['a text', 'x', /must be a JSON object/],
    ['null', null, /must be a JSON object/],
    ['too many tokens', { query: `{ ${'a '.repeat(GRAPHQL_TOKENS_MAX)} }` }, /tokens/],
    [
      'a query nested too deeply to be parsed',
      { query: '{a'.repeat(GRAPHQL_TOKENS_MAX / 2 - 1) },
      /nested deeper than 64 levels/
    ]
  ]
  for (const [what, body, message] of refused) {
    it(`rejects ${what} with a GraphQL error, without calling the API`, async () => {
      const reply = await call(body, { headers: MODERN })
      assert.deepEqual([reply.status, reply.success], [400, false])
      assert.deepEqual(reply.headers, [['content-type', 'application/graphql-response+json; charset=utf-8'], REFUSED])
      const { errors } = (await jsonOf(reply)) as { errors: Array<{ message: string }> }
      assert.match(errors[0]?.message ?? '', message)
      assert.equal(upstream.received.length, 0)
    })
  }

  it('responds as application/json with 200 to a well-formed but invalid request, and with 400 to a malformed one', async () => {
    const wrong = await call({ query: '{ a' })
    assert.deepEqual([wrong.status, wrong.success], [200, false])
    const broken = await call({ query: 7 })
    assert.deepEqual([broken.status, broken.success], [400, false])
    const type = ['content-type', 'application/json; charset=utf-8']
    assert.deepEqual(wrong.headers, [type])
    assert.deepEqual(broken.headers, [type, REFUSED])
  })

  it('labels the newer type as application/json for consumers that know only that', async () => {
    upstream.behave(answering(200, { 'content-type': 'application/graphql-response+json' }, '{"data":{}}'))
    assert.deepEqual((await call({ query: '{ a }' })).headers, [['content-type', 'application/json']])
  })

  it('accepts a query by GET', async () => {
    const parameters = {
      query: 'query ($n: Int) { a(n: $n) }',
      variables: '{"n":12345678901234567890}',
      operationName: ''
    }
    const path = `?${new URLSearchParams(parameters)}`
    const refused = await call('', { method: 'GET', path, body: new Uint8Array(), headers: MODERN })
    assert.equal(refused.status, 400)
    const reply = await call('', { method: 'GET', path: path.replace('&operationName=', ''), body: new Uint8Array() })
    assert.equal(reply.success, true)
    assert.equal(
      upstream.received[0]?.body.toString(),
      '{"query":"query ($n: Int) { a(n: $n) }","variables":{"n":12345678901234567890}}'
    )
  })

  it('rejects a mutation by GET', async () => {
    const path = `?query=${encodeURIComponent('mutation { a }')}`
    const reply = await call('', { method: 'GET', path, body: new Uint8Array() })
    assert.equal(reply.status, 405)
    assert(reply.headers.some(([name, value]) => name === 'allow' && value === 'POST'))
    assert.equal(upstream.received.length, 0)
  })

  it('forwards no other parameters of a GET', async () => {
    const path = `?query=${encodeURIComponent('{ a }')}&variables=${encodeURIComponent('{}},"query":"mutation{x}"')}`
    await rejectsWith(call('', { method: 'GET', path, body: new Uint8Array() }), 'invalid_request')
    assert.equal(upstream.received.length, 0)
  })

  it('ignores a query string of a POST', async () => {
    assert.equal((await call({ query: '{ a }' }, { path: '?operation=A&query=x' })).success, true)
    assert.deepEqual([upstream.received[0]?.target, sent()], ['/graphql', { query: '{ a }' }])
  })

  it('has no paths and no other methods', async () => {
    await rejectsWith(call({ query: '{ a }' }, { path: '/admin' }), 'operation_not_found')
    await rejectsWith(call({ query: '{ a }' }, { method: 'DELETE' }), 'method_not_allowed')
    assert.equal(upstream.received.length, 0)
  })
})
