import assert from 'node:assert/strict'
import { runInNewContext } from 'node:vm'
import { writeJson } from '../../../lib/base/write-json.ts'

class Point {
  readonly x = 1
}
class Secret {
  readonly #value = 1
  read(): number {
    return this.#value
  }
}
const loop: Record<string, unknown> = {}
loop['a'] = [loop]
const shared = { a: 1 }
const deep = Array.from({ length: 100_000 }).reduce((inner: unknown) => [inner], 1)

describe('JSON of a value', () => {
  for (const [what, value, reason] of [
    ['a Map', new Map([[1, 2]]), 'the value has the type Map.'],
    ['an empty Map', new Map(), 'the value has the type Map.'],
    ['a Set in a member', { a: [{ b: new Set([1]) }] }, '`a[0].b` has the type Set.'],
    ['a generator', [1].values(), 'the value has the type Array Iterator.'],
    ['an async generator', (async function* () {})(), 'the value has the type AsyncGenerator.'],
    ['a function', () => 1, 'the value has the type function.'],
    ['a function in a member', { a: () => 1 }, '`a` has the type function.'],
    ['a symbol', Symbol('a'), 'the value has the type symbol.'],
    ['a BigInt', { price: 10n }, '`price` has the type bigint.'],
    ['a promise that nobody awaited', { a: Promise.resolve(1) }, '`a` has the type Promise.'],
    ['an error', Object.assign(new Error('a'), { code: 'b' }), 'the value has the type Error.'],
    ['bytes', new Uint8Array([1]), 'the value has the type Uint8Array.'],
    ['a buffer', new ArrayBuffer(1), 'the value has the type ArrayBuffer.'],
    ['a fetch response', new Response('a'), 'the value has the type Response.'],
    ['a regular expression', /a/, 'the value has the type RegExp.'],
    ['an instance without fields', new Secret(), 'the value has the type Secret.'],
    ['a circle', loop, '`a[0]` refers to itself.'],
    ['deep nesting', deep, 'it is nested too deeply or too large.']
  ] as const) {
    it(`has a reason instead of a loss: ${what}`, () => {
      assert.deepEqual(writeJson(value), { reason })
    })
  }

  for (const [what, value, json] of [
    ['nothing', undefined, 'null'],
    ['a member without value', { a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['a number that is none', Number.NaN, 'null'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['an address', new URL('http://a/'), '"http://a/"'],
    ['an instance with fields', new Point(), '{"x":1}'],
    ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
    ['empty objects, also of another realm', [{}, Object.create(null), runInNewContext('({})')], '[{},{},{}]'],
    ['the same object twice', [shared, shared], '[{"a":1},{"a":1}]'],
    ['a boxed number', Object(5), '5']
  ] as const) {
    it(`is as usual: ${what}`, () => {
      assert.deepEqual(writeJson(value), { json })
    })
  }

  it('passes on what `toJSON` throws', () => {
    const failing = { toJSON: () => assert.fail('toJSON failed') }
    assert.throws(() => writeJson(failing), { message: 'toJSON failed' })
  })
})
