import assert from 'node:assert/strict'
import type { JsonSchema, Operation } from '../../../lib/interface/index.ts'
import { apiTools } from '../../../node/mcp/api-tools.ts'
import { signManifest } from '../../../lib/resolve/manifest/sign-manifest.ts'
import { idOf, keyOf, manifestOf } from '../../lib/resolve/fixtures.ts'

const LONG = 'x'.repeat(200)

/** Names as strangers may choose them. Some are equal once they are cut, or once foreign characters are replaced. */
const NAMES = [
  '日本語の操作',
  '日本語の操作二',
  'größe',
  'gr öße',
  'gr-öße',
  'a.b',
  'a/b',
  'a b',
  'a_b',
  `${LONG}1`,
  `${LONG}2`,
  `${LONG}/1`,
  '🦊',
  '🦊🦊',
  ' ',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '"; DROP TABLE tools; --',
  '\u202Eevil'
]
const properties = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' }]))

/** As strict as the strictest model vendor: names, depth and no union at the top. */
function assertStrict(schema: JsonSchema): void {
  assert.equal(schema['type'], 'object')
  for (const union of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref', 'if']) assert.ok(!Object.hasOwn(schema, union))
  const visit = (node: unknown, depth: number): void => {
    assert.ok(depth <= 24, 'nests too deeply')
    if (Array.isArray(node)) for (const each of node) visit(each, depth + 1)
    if (typeof node !== 'object' || node === null) return
    if ('properties' in node && typeof node.properties === 'object' && node.properties !== null)
      for (const name of Object.keys(node.properties)) assert.match(name, /^[a-zA-Z0-9_.-]{1,64}$/)
    for (const each of Object.values(node)) visit(each, depth + 1)
  }
  visit(schema, 0)
}

function nested(depth: number): JsonSchema {
  return depth === 0 ? { type: 'string' } : { type: 'object', properties: { next: nested(depth - 1) } }
}

describe('tools of operations with odd names and schemas', () => {
  const toolsOf = async (operations: readonly Operation[]) => {
    const key = await keyOf('odd')
    const signed = await signManifest(manifestOf(idOf(key), { name: 'odd', api: { operations } }), key)
    return apiTools(signed, operations, () => false)
  }

  it('have different names that every vendor accepts, the same in each list', async () => {
    const operations = NAMES.map((name) => ({ name }))
    const names = (await toolsOf(operations)).map(({ name }) => name)
    for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
    assert.equal(new Set(names).size, NAMES.length)
    assert.deepEqual(
      (await toolsOf(operations)).map(({ name }) => name),
      names
    )
  })

  it('have arguments with such names, and send them under the API’s own', async () => {
    const [tool] = await toolsOf([{ name: 'one', input: { type: 'object', properties } }])
    const { inputSchema } = (await tool?.describe()) ?? assert.fail()
    assertStrict(inputSchema)
    const shown = Object.keys(inputSchema.properties ?? {})
    assert.equal(shown.length, NAMES.length)
    const body = tool?.body(Object.fromEntries(shown.map((name, at) => [name, String(at)]))) as object
    for (const name of NAMES) assert.ok(Object.hasOwn(body, name), name)
    assert.equal(Object.getPrototypeOf(body), Object.prototype)
  })

  const odd: Readonly<Record<string, JsonSchema>> = {
    'a union': { oneOf: [{ type: 'object', properties }, { type: 'string' }] },
    'an array': { type: 'array', items: { type: 'object', properties } },
    'a union of unions': { anyOf: [{ allOf: [{ oneOf: [{ type: 'object', properties }] }] }] },
    'no type': { properties },
    'several types': { type: ['object', 'null'], properties },
    'an enumeration': { enum: [{ a: 1 }, 2] },
    'a reference to itself': { $ref: '#' },
    'a reference to nothing': { $ref: '#/$defs/none' },
    '30 levels': nested(30),
    'a boolean as a property': { type: 'object', properties: { a: true, b: false } },
    'wrong keywords': { type: 'object', properties: [], required: 'a', additionalProperties: 7, pattern: '(' }
  }
  for (const [what, input] of Object.entries(odd)) {
    it(`have a strict schema where the provider’s is ${what}`, async () => {
      const [tool] = await toolsOf([{ name: 'one', input, output: input }])
      const { inputSchema, outputSchema } = (await tool?.describe()) ?? assert.fail()
      assertStrict(inputSchema)
      if (outputSchema !== undefined) assertStrict(outputSchema)
    })
  }
})
