import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const COMPONENTS = { schemas: { Size: { type: 'integer', minimum: 1 } } }
const SIZE = { $ref: '#/components/schemas/Size' }
const LIST = { type: 'array', items: { type: 'integer' } }
const WORDS = { type: 'array', items: { enum: ['a', 'b'] } }
const SLICES = { anyOf: [SIZE, { type: 'string', enum: ['auto'] }] }

/** The query that a field becomes. */
async function queryOf(parameter: Json, value: unknown): Promise<string> {
  const given = { name: 'f', in: 'query', ...parameter }
  const { map } = callsOf(documentOf({ parameters: [given] }, '/x', '3.1.0', { components: COMPONENTS }))
  return (await map({ f: value })).path.replace('/x?', '')
}

describe('a parameter whose value is the text of a described one', () => {
  const taken: ReadonlyArray<readonly [parameter: Json, value: unknown, query: string]> = [
    [{ schema: SIZE }, '5', 'f=5'],
    [{ schema: { type: 'number' } }, '1.50', 'f=1.50'],
    [{ schema: { type: 'boolean' } }, 'true', 'f=true'],
    [{ schema: { type: 'string', pattern: '^\\d$' } }, 5, 'f=5'],
    [{ schema: { enum: ['1', '2'] } }, 2, 'f=2'],
    [{ schema: SLICES }, '5', 'f=5'],
    [{ schema: SLICES }, 'auto', 'f=auto'],
    [{ schema: LIST }, 5, 'f=5'],
    [{ schema: LIST }, ['5', 6], 'f=5&f=6'],
    [{ schema: WORDS, explode: false }, 'a,b', 'f=a%2Cb'],
    [{ schema: { type: 'object', properties: { size: SIZE } }, style: 'deepObject' }, { size: '5' }, 'f%5Bsize%5D=5']
  ]
  for (const [parameter, value, query] of taken) {
    it(`is sent as it is: ${JSON.stringify(value)} for ${JSON.stringify(parameter)}`, async () => {
      assert.equal(await queryOf(parameter, value), query)
    })
  }

  const refused: ReadonlyArray<readonly [parameter: Json, value: unknown, problem: RegExp]> = [
    [{ schema: SIZE }, '0', /must be >= 1/],
    [{ schema: SIZE }, 'x', /must be integer/],
    [{ schema: SIZE }, '', /must be integer/],
    [{ schema: { type: 'boolean' } }, 'yes', /must be boolean/],
    [{ schema: LIST }, '5,6', /must be integer/],
    [{ schema: WORDS, explode: false }, 'a,c', /must be "a" or "b"/],
    [{ content: { 'application/json': { schema: SIZE } } }, '5', /must be integer/]
  ]
  for (const [parameter, value, problem] of refused) {
    it(`is refused if it is not: ${JSON.stringify(value)} for ${JSON.stringify(parameter)}`, async () => {
      await assert.rejects(queryOf(parameter, value), problem)
    })
  }
})

const META = { type: 'object', properties: { size: SIZE } }

describe('a body whose values are the texts of described ones', () => {
  const schema = { type: 'object', properties: { size: SIZE, open: { type: 'boolean' }, ids: LIST, meta: META } }
  const call = { size: '5', open: 'true', ids: '7' }
  const mapOf = (type: string) =>
    callsOf(documentOf({ requestBody: { content: { [type]: { schema } } } }, '/x', '3.1.0', { components: COMPONENTS }))
      .map

  it('is a form', async () => {
    const map = mapOf('application/x-www-form-urlencoded')
    const { body } = await map(call)
    assert.equal(Buffer.from(body?.bytes ?? []).toString(), 'size=5&open=true&ids=7')
    await assert.rejects(map({ size: 'x' }), /"size" must be integer/)
    await assert.rejects(map({ meta: { size: '5' } }), /"meta\/size" must be integer/)
  })

  it('is multipart', async () => {
    const { body } = await mapOf('multipart/form-data')(call)
    assert.match(Buffer.from(body?.bytes ?? []).toString(), /name="size"\r\n\r\n5\r\n/)
  })

  it('is refused as JSON', async () => {
    await assert.rejects(mapOf('application/json')(call), /must be integer/)
  })
})
