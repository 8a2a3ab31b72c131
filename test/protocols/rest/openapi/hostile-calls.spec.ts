import assert from 'node:assert/strict'
import { OpenapiCalls } from '../../../../protocols/rest/openapi/openapi-call.ts'
import { importOpenapi } from '../../../../protocols/rest/openapi/openapi-import.ts'
import { textCall } from '../../../../protocols/rest/openapi/text-call.ts'
import { readSnapshot } from '../../../../protocols/rest/snapshot.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'

const NEVER = new AbortController().signal
/** Each of these calls took seconds, or did not end. */
const CALL_MS_MAX = 1_000

type Json = Readonly<Record<string, unknown>>

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const repeated = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at))
const named = (count: number, one: (at: number) => unknown): Json =>
  Object.fromEntries(repeated(count, (at) => [`A${at}`, one(at)]))
/** So many characters that calls are not checked against the schema. */
const UNCHECKED = { description: 'd'.repeat(300_000) }

function callsOf(operation: Json, schemas: Json = {}, path = '/x'): OpenapiCalls {
  const responses = { 200: { description: 'ok' } }
  const document = {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { [path]: { post: { operationId: 'op', responses, ...operation } } },
    components: { schemas }
  }
  const { snapshot } = importOpenapi({ text: JSON.stringify(document), endpoint: 'https://api.example' })
  return new OpenapiCalls(readSnapshot(snapshot)?.api ?? assert.fail('no snapshot'))
}

const bodyOf = (type: string, schema: unknown): Json => ({ requestBody: { content: { [type]: { schema } } } })

describe('a call of an OpenAPI operation', () => {
  const refused = (schema: Json, call: Json, message: RegExp) =>
    assert.rejects(callsOf(bodyOf('application/json', schema)).map(call, NEVER), { code: 'invalid_request', message })

  it('names a member "body" that could be the body too', async () => {
    const content = { type: 'object', properties: { content: { type: 'string' } } }
    const mail = { type: 'object', properties: { subject: { type: 'string' }, body: content } }
    const given = { content: 'hi' }
    await refused(
      mail,
      { body: given },
      /^The field "body" can be the body or its member "body". Name .* "body.body"\.$/
    )
    const { body } = await callsOf(bodyOf('application/json', mail)).map({ 'body.body': given, subject: 's' }, NEVER)
    assert.equal(Buffer.from(body?.bytes ?? []).toString(), '{"body":{"content":"hi"},"subject":"s"}')
  })

  it('gives a body of several alternatives as a whole', async () => {
    const schema = {
      oneOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['b'] }
      ]
    }
    await refused(schema, { a: 1 }, /^The operation has no field "a". Give the whole body as the field "body".$/)
  })

  it('has only members whose names match', async () => {
    const schema = { type: 'object', patternProperties: { '^x-': { type: 'integer' } }, additionalProperties: false }
    await refused(schema, { 'x-a': 'one' }, /^The field "x-a" must be integer/)
    await refused(schema, { y: 1 }, /must not have the field "y"/)
  })

  it('has times, moments and durations that exist', async () => {
    const schema = (format: string) => ({ type: 'object', properties: { at: { type: 'string', format } } })
    for (const [format, text] of [
      ['time', '25:00:00'],
      ['date-time', '2026-13-01T00:00:00Z'],
      ['date-time', '2026-13-01'],
      ['duration', 'PT'],
      ['duration', '1 day'],
      ['time', '10'],
      ['date-time', '2026-01-01T25:00'],
      ['email', 'a b@c'],
      ['hostname', 'a/b'],
      ['byte', 'a*b']
    ] as const)
      await refused(schema(format), { at: text }, /must match format/)
  })

  it('has texts in the forms that APIs use', async () => {
    const schema = (format: string) => ({ type: 'object', properties: { at: { type: 'string', format } } })
    for (const [format, text] of [
      ['date', '2026-01-01T00:00:00'],
      ['date-time', '2026-01-01'],
      ['duration', '1h30m'],
      ['time', '10:30'],
      ['time', '10:30+02:00'],
      ['date-time', '2026-01-01T10:30'],
      ['date-time', '2026-01-01 10:30Z'],
      ['duration', '01:30:00'],
      ['duration', '-1.01:30:00.5'],
      ['duration', '1.5s'],
      ['email', 'müller@bücher.example'],
      ['hostname', 'my_host'],
      ['uri', 'www.example.com'],
      ['byte', 'a-_b'],
      ['byte', 'YWJj\nZGVm'],
      ['byte', 'YQ']
    ] as const)
      await callsOf(bodyOf('application/json', schema(format))).map({ operation: 'op', at: text }, NEVER)
  })
})

describe('a hostile call of an OpenAPI operation', () => {
  const parameter = (more: Json): Json => ({ parameters: [{ name: 'q', in: 'query', schema: {}, ...more }] })
  // Half a megabyte, which would be written as hundreds.
  const list = { ['k'.repeat(5e5)]: Array(600).fill(1) }
  const amplified: ReadonlyArray<readonly [what: string, calls: OpenapiCalls, call: Json]> = [
    ['a deepObject query', callsOf(parameter({ style: 'deepObject' })), { q: list }],
    ['an exploded query', callsOf(parameter({})), { q: list }],
    ['a list in a path', callsOf(parameter({ in: 'path', style: 'matrix', explode: true }), {}, '/{q}'), { q: list }],
    [
      'a path that repeats its parameter',
      callsOf(parameter({ in: 'path' }), {}, `/${'{q}'.repeat(400)}`),
      { q: 'y'.repeat(1e6) }
    ],
    ['a header', callsOf(parameter({ in: 'header', name: 'x-q' })), { 'x-q': 'y'.repeat(1e6) }],
    ['a form', callsOf(bodyOf('application/x-www-form-urlencoded', {})), { body: list }],
    ['a multipart form', callsOf(bodyOf('multipart/form-data', {})), { body: list }],
    ['XML', callsOf(bodyOf('application/xml', {})), { body: list }],
    [
      'XML with long attributes',
      callsOf(bodyOf('application/xml', { items: { xml: { namespace: 'n'.repeat(1e5) } } })),
      { body: Array(1e4).fill(1) }
    ]
  ]
  for (const [what, calls, call] of amplified) {
    it(`cannot write a far longer request: ${what}`, async () => {
      await assert.rejects(calls.map(call, NEVER), { code: 'request_too_large' })
    })
  }

  const slow: ReadonlyArray<readonly [what: string, calls: OpenapiCalls, call: Json]> = [
    [
      'lists of lists in a multipart form',
      callsOf(
        bodyOf('multipart/form-data', { properties: { f: ref('A0') } }),
        named(23, (at) => ({ ...UNCHECKED, anyOf: [1, 2].map(() => ({ items: at === 22 ? {} : ref(`A${at + 1}`) })) }))
      ),
      { f: 'x' }
    ],
    [
      'a list of itself in a multipart form',
      callsOf(bodyOf('multipart/form-data', { properties: { f: ref('A') } }), {
        A: { ...UNCHECKED, anyOf: [{ items: ref('A') }] }
      }),
      { f: 'x' }
    ],
    [
      'XML of schemas that are six others each',
      callsOf(
        bodyOf('application/xml', ref('A0')),
        named(10, (at) => ({ ...UNCHECKED, allOf: Array(6).fill(at === 9 ? {} : ref(`A${at + 1}`)) }))
      ),
      { body: { a: 1 } }
    ],
    [
      'a body of thousands of parts',
      callsOf(
        bodyOf('application/json', {
          allOf: [
            ...repeated(1e4, () => ({ description: 'd'.repeat(30), type: 'object' })),
            { type: 'object', properties: named(4_900, () => ({})) }
          ]
        })
      ),
      { A1: 1 }
    ]
  ]
  for (const [what, calls, call] of slow) {
    it(`takes no long time: ${what}`, () => assertCpuBelow(CALL_MS_MAX, () => calls.map(call, NEVER)))
  }

  it('a query whose list is a list of itself is a call', async () => {
    const schema = ref('A')
    const calls = callsOf({ parameters: [{ name: 'q', in: 'query', schema }] }, { A: { type: 'array', items: schema } })
    await assert.rejects(calls.map(textCall('?q=x'), NEVER), {
      code: 'invalid_request',
      message: /q\/0" must be array/
    })
    assert.equal((await calls.map(textCall('?q=[]&q=[]'), NEVER)).path, '/x?q=%5B%5D&q=%5B%5D')
  })

  it('a file of megabytes is sent', async () => {
    const calls = callsOf(bodyOf('application/octet-stream', {}))
    const { body } = await calls.map({ body: Buffer.alloc(7_500_000).toString('base64') }, NEVER)
    assert.equal(body?.bytes.length, 7_500_000)
    for (const text of ['AAA', 'A===', 'AA=A', 'AAA-']) {
      await assert.rejects(calls.map({ body: text }, NEVER), { code: 'invalid_request', message: /must be base64/ })
    }
  })

  it('a schema of 200,000 parts is imported', () => {
    assert.ok(callsOf(bodyOf('application/json', { allOf: Array(200_000).fill({}) })))
  })
})
