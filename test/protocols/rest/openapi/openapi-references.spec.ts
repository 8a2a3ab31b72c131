import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../protocols/exact-json.ts'
import { readOpenapi } from '../../../../protocols/rest/openapi/openapi-document.ts'
import { callsOf, documentOf } from './document-kit.ts'

const URL = 'https://docs.example/v1/openapi.json'

interface Found {
  /** The target of the reference at `components.schemas.From.properties.to`. */
  readonly target: unknown
  readonly missing: readonly string[]
}

function found(schemas: JsonObject, files: Readonly<Record<string, unknown>> = {}): Found {
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: {}, components: { schemas } }
  const texts = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, JSON.stringify(file)]))
  const { root, references } = readOpenapi({ text: JSON.stringify(document), url: URL, files: texts })
  const { From } = (root as typeof document).components.schemas as { From: { properties: { to: { $ref: string } } } }
  return { target: references.target(From.properties.to.$ref), missing: [...references.missing] }
}
const from = (rest: JsonObject, $ref: string): JsonObject => ({ ...rest, properties: { to: { $ref } } })
const wanted = (rest: JsonObject = {}): JsonObject => ({ ...rest, title: 'wanted' })

describe('a reference in a schema', () => {
  const cases: Readonly<Record<string, readonly [schemas: JsonObject, files?: Readonly<Record<string, unknown>>]>> = {
    'with an $id leads to a definition of that schema': [
      { From: from({ $id: 'https://s.example/from', $defs: { a: wanted() } }, '#/$defs/a') }
    ],
    'with an $id leads to an anchor of that schema, not to the same one elsewhere': [
      {
        Other: { $anchor: 'a', title: 'other' },
        From: from({ $id: 'https://s.example/from', $defs: { a: wanted({ $anchor: 'a' }) } }, '#a')
      }
    ],
    'with an $id leads to another $id beside it': [
      { From: from({ $id: 'https://s.example/from' }, 'to'), To: wanted({ $id: 'https://s.example/to' }) }
    ],
    'with an $id in an $id leads on from the inner one': [
      {
        From: { $id: 'https://s.example/a/from', properties: { to: { $id: '../b/inner', $ref: 'to' } } },
        To: wanted({ $id: 'https://s.example/b/to' })
      }
    ],
    'with a name as $id leads to the document': [
      { From: from({ $id: 'From' }, '#/components/schemas/To'), To: wanted() }
    ],
    'with an $id leads to a file beside the document': [
      { From: from({ $id: 'https://s.example/from' }, 'to.json') },
      { 'https://docs.example/v1/to.json': wanted() }
    ],
    'leads to an $id in another file': [
      { From: from({}, 'to.json'), Other: { $ref: 'other.json' } },
      { 'https://docs.example/v1/other.json': { $defs: { a: wanted({ $id: 'https://docs.example/v1/to.json' }) } } }
    ],
    'leads to a pointer below an $id': [
      { From: from({}, 'https://s.example/to#/$defs/a'), To: { $id: 'https://s.example/to', $defs: { a: wanted() } } }
    ],
    'leads through a reference': [
      {
        From: from({}, '#/components/schemas/Other/properties/a'),
        Other: { $ref: '#/components/schemas/To' },
        To: { properties: { a: wanted() } }
      }
    ],
    'leads through a reference to a file': [
      { From: from({}, '#/components/schemas/Others/To'), Others: { $ref: 'others.json' } },
      { 'https://docs.example/v1/others.json': { To: wanted() } }
    ],
    'with a very long $id leads to the document': [
      { From: from({ $id: `https://s.example/${'a'.repeat(5_000)}` }, '#/components/schemas/To'), To: wanted() }
    ]
  }
  for (const [what, [schemas, files]] of Object.entries(cases)) {
    it(what, () => {
      const { target, missing } = found(schemas, files)
      assert.equal((target as JsonObject | undefined)?.['title'], 'wanted')
      assert.deepEqual(missing, [])
    })
  }

  it('that is dynamic is not followed, with a warning', async () => {
    const $defs = { item: { $dynamicAnchor: 'item', not: {} } }
    const schema = { type: 'object', properties: { items: { type: 'array', items: { $dynamicRef: '#item' } } }, $defs }
    const body = { content: { 'application/json': { schema } } }
    const { map, warnings } = callsOf(documentOf({ requestBody: body }))
    assert.match(warnings.join('\n'), /^The \$dynamicRef "#item" is not followed: any value is accepted/m)
    await map({ operation: 'op', items: [1, 'a'] })
  })

  it('through itself leads nowhere', () => {
    const self = '#/components/schemas/From/properties/to/title'
    assert.equal(found({ From: from({}, self) }).target, undefined)
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`S${at}`, { $ref: `#/components/schemas/S${at + 1}` }])
    )
    assert.equal(found({ From: from({}, '#/components/schemas/S0/title'), ...many, S50: wanted() }).target, undefined)
  })

  it('with an $id asks for a file beside the document, and for no other', () => {
    const { target, missing } = found({ From: from({ $id: 'https://s.example/from' }, 'to.json') })
    assert.deepEqual([target, missing], [undefined, ['https://docs.example/v1/to.json']])
  })

  it('leads to the document by the address that it gives itself', () => {
    const text = JSON.stringify({
      openapi: '3.1.0',
      $self: 'https://s.example/api',
      info: { title: 't', version: '1' },
      paths: {},
      components: { schemas: { From: { $ref: 'https://s.example/api#/components/schemas/To' }, To: wanted() } }
    })
    const { references } = readOpenapi({ text, url: URL })
    assert.deepEqual(references.target('https://s.example/api#/components/schemas/To'), wanted())
    assert.deepEqual([...references.missing], [])
  })
})

describe('an operation that is a reference', () => {
  const files = {
    [new globalThis.URL('get-city.json', URL).href]: JSON.stringify({
      operationId: 'getCity',
      parameters: [{ name: 'units', in: 'query', schema: { enum: ['metric'] } }],
      responses: {}
    })
  }
  const document = (get: string) => ({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: { '/city': { get: { $ref: get }, post: { operationId: 'addCity', responses: {} } } }
  })

  it('has the name and the parameters of its target', async () => {
    const { map } = callsOf(document('get-city.json'), { url: URL, files })
    assert.equal((await map({ operation: 'getCity', units: 'metric' })).path, '/city?units=metric')
  })

  it('is left out, with the place, if its file is neither JSON nor YAML', () => {
    const broken = { [new globalThis.URL('get-city.json', URL).href]: 'operationId: getCity\nresponses: {}#\n' }
    const { warnings, description } = callsOf(document('get-city.json'), { url: URL, files: broken })
    assert.match(warnings.join('\n'), /^https:\/\/docs\.example\/v1\/get-city\.json is left out: .* Line 2/m)
    assert.match(warnings.join('\n'), /^The operation get \/city is left out/m)
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['addCity']
    )
  })

  it('is left out if it has no target', () => {
    const { warnings, description } = callsOf(document('nowhere.json'), { url: URL })
    assert.match(warnings.join(), /The operation get \/city is left out: its reference .*nowhere\.json" has no target/)
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['addCity']
    )
  })
})
