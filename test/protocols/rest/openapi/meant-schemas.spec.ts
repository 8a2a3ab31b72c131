import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const CLOSED = { additionalProperties: false }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = (fields: Json, more: Json = {}): Json => ({ type: 'object', properties: fields, ...CLOSED, ...more })
const TEXT = { type: 'string' }
const COUNT = { type: 'integer' }

const callsWith = (schema: Json, schemas: Json, version = '3.0.3') => {
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  return callsOf(documentOf({ requestBody }, '/x', version, { components: { schemas } }))
}

describe('types that inherit by allOf, each closed by additionalProperties', () => {
  const Animal = object({ name: TEXT }, { required: ['name'] })
  const nswag = { Animal, Dog: { allOf: [ref('Animal'), object({ barks: COUNT })] } }
  const swashbuckle = { Animal, Dog: object({ barks: COUNT }, { allOf: [ref('Animal')] }) }
  const twice = {
    ...swashbuckle,
    Puppy: object({ weeks: COUNT }, { allOf: [ref('Dog')] })
  }
  const GOOD = { name: 'Rex', barks: 3 }

  for (const [what, schemas] of Object.entries({ nswag, swashbuckle })) {
    it(`have the fields of all parts, and no others: ${what}`, async () => {
      const { map, warnings } = callsWith(ref('Dog'), schemas)
      assert.deepEqual(warnings, [])
      await map(GOOD)
      await assert.rejects(map({ ...GOOD, bark: 1 }), /"bark"/)
      await assert.rejects(map({ ...GOOD, barks: 'x' }), /"barks" must be integer/)
      await assert.rejects(map({ barks: 1 }), /must have the field "name"/)
    })

    it(`in a list: ${what}`, async () => {
      const { map } = callsWith({ type: 'array', items: ref('Dog') }, schemas)
      await map({ body: [GOOD] })
      await assert.rejects(map({ body: [{ ...GOOD, bark: 1 }] }), /"0" must not have the field "bark"/)
    })
  }

  it('at several levels', async () => {
    const { map } = callsWith({ type: 'array', items: ref('Puppy') }, twice)
    await map({ body: [{ ...GOOD, weeks: 3 }] })
    await assert.rejects(map({ body: [{ ...GOOD, months: 3 }] }), /must not have the field "months"/)
  })

  const variants = (kinds: readonly string[]) => {
    const mapping = { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' }
    const Pet = object(
      { kind: { enum: kinds } },
      { required: ['kind'], discriminator: { propertyName: 'kind', mapping } }
    )
    const of = (fields: Json) => ({ allOf: [ref('Pet'), object(fields)] })
    return { Pet, Cat: of({ lives: COUNT }), Dog: of({ barks: COUNT }) }
  }

  for (const keyword of ['oneOf', 'anyOf']) {
    it(`as alternatives with their base in ${keyword}, whose discriminator chooses`, async () => {
      const schema = { [keyword]: [ref('Pet'), ref('Cat'), ref('Dog')] }
      const { map, description } = callsWith(schema, variants(['cat', 'dog', 'Pet']))
      await map({ body: { kind: 'cat', lives: 9 } })
      await map({ body: { kind: 'cat' } })
      await map({ body: { kind: 'Pet' } })
      await assert.rejects(map({ body: { kind: 'dog', lives: 9 } }), /The body must not have the field "lives"/)
      await assert.rejects(map({ body: { kind: 'cow' } }), /"kind" must be "cat", "dog" or "Pet"/)
      assert.match(JSON.stringify(description.operations), /"body":\{"anyOf":\[/)
    })
  }

  it('as alternatives without a discriminator', async () => {
    const Cat = object({ lives: COUNT }, { allOf: [ref('Animal')] })
    const { map } = callsWith({ oneOf: [ref('Animal'), ref('Dog'), ref('Cat')] }, { ...swashbuckle, Cat })
    await map({ body: GOOD })
    await map({ body: { name: 'Tom' } })
  })

  it('where a base with a discriminator stands for its variants', async () => {
    const Kinds = object({ name: TEXT, kind: TEXT }, { discriminator: { propertyName: 'kind' } })
    const { map } = callsWith({ type: 'array', items: ref('Kinds') }, { Kinds })
    await map({ body: [{ kind: 'Dog', barks: 3 }] })
    await assert.rejects(map({ body: [{ kind: 1 }] }), /"0\/kind" must be string/)
  })

  it('and nothing else is opened', async () => {
    const exact = { allOf: [ref('Animal'), { required: ['name'] }] }
    const { map } = callsWith({ type: 'array', items: exact }, { Animal })
    await map({ body: [{ name: 'Rex' }] })
    await assert.rejects(map({ body: [GOOD] }), /must not have the field "barks"/)
    const alternatives = callsWith(
      { type: 'array', items: { oneOf: [ref('Animal'), object({ barks: COUNT })] } },
      { Animal }
    )
    await assert.rejects(alternatives.map({ body: [GOOD] }), /must not have the field/)
  })
})

describe('alternatives of oneOf', () => {
  const callsOf = (...oneOf: Json[]) => callsWith({ type: 'array', items: { oneOf } }, {})
  const requiring = (name: string) => object({ a: {}, b: {} }, { required: [name] })

  it('exclude nothing if there are none, which is not valid', async () => {
    const { map, description } = callsWith({ ...object({ a: TEXT }), oneOf: [] }, {})
    await map({ a: 'x' })
    assert.doesNotMatch(JSON.stringify(description.operations), /oneOf/)
  })

  it('may fit together', async () => {
    await callsOf({ type: 'string', enum: ['ADMIN'] }, TEXT).map({ body: ['ADMIN', 'other'] })
    await callsOf({ type: 'integer' }, { type: 'number' }).map({ body: [1] })
    await callsOf(object({ a: COUNT }), object({ a: COUNT, b: COUNT })).map({ body: [{ a: 1 }] })
    await callsOf(requiring('a'), object({ a: {}, b: {} })).map({ body: [{ a: 1 }] })
  })

  it('must fit alone if each requires a field of its own', async () => {
    const { map } = callsOf(requiring('a'), requiring('b'))
    await map({ body: [{ a: 1 }, { b: 1 }] })
    await assert.rejects(map({ body: [{ a: 1, b: 1 }] }), /"0" must fit exactly one alternative/)
  })

  it('must fit at all', async () => {
    await assert.rejects(
      callsOf(COUNT, TEXT).map({ body: [true] }),
      /"0" must be (?:integer or string|string or integer)/
    )
  })
})

describe('a type beside alternatives', () => {
  const Limits = object({ size: COUNT }, { required: ['size'] })

  it('excludes none of them', async () => {
    const Chunks = { type: 'object', anyOf: [{ type: 'string', enum: ['auto'] }, ref('Limits')] }
    const { map } = callsWith(object({ chunks: Chunks }), { Limits })
    await map({ chunks: 'auto' })
    await map({ chunks: { size: 5 } })
    await assert.rejects(map({ chunks: 'x' }), /"chunks" must be "auto"/)
    await assert.rejects(map({ chunks: 5 }), /"chunks" must be/)
  })

  it('counts if they have it', async () => {
    const { map } = callsWith(object({ n: { type: 'number', anyOf: [COUNT, { minimum: 1.5 }] } }), {})
    await map({ n: 1 })
    await assert.rejects(map({ n: '1' }), /"n" must be number/)
  })
})

describe('a member that is any object', () => {
  const ANY = { type: 'object', description: 'A value.' }
  const fields = object({
    any: ANY,
    empty: { type: 'object', properties: {} },
    nullable: { ...ANY, nullable: true },
    node: ref('Node'),
    list: { type: 'array', items: ANY },
    map: { type: 'object', additionalProperties: ANY },
    meta: { type: 'object', additionalProperties: true },
    loop: ref('Loop')
  })
  const Loop = { anyOf: [ref('Loop'), { type: 'null' }], nullable: true }
  const { map } = callsWith(fields, { Node: ANY, Loop })

  it('is any value', async () => {
    for (const value of ['x', 5, true, ['x'], { a: 1 }])
      await map({ any: value, empty: value, nullable: value, node: value, list: [value], map: { a: value } })
  })

  it('is an object if its members are described', async () => {
    for (const name of ['map', 'meta']) await assert.rejects(map({ [name]: 'x' }), /must be object/)
  })

  it('is an object as the whole body', async () => {
    await assert.rejects(callsWith(ANY, {}).map({ body: 'x' }), /The body must be object/)
  })
})
