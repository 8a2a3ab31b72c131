import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { isSoukError, limits } from '../../../lib/index.ts'
import { text } from '../../../lib/base/bytes.ts'
import { checkJson, membersIn, nestsDeeperThan } from '../../../lib/base/json-text.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

const accepts = (text: string | Uint8Array): boolean => {
  try {
    checkJson(typeof text === 'string' ? Buffer.from(text) : text)
    return true
  } catch (error) {
    assert.ok(isSoukError(error) && error.code === 'invalid_request', String(error))
    return false
  }
}
const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('checkJson', () => {
  it('returns the kind of the outermost value', () => {
    assert.equal(checkJson(Buffer.from(' {"a":1} ')), 'object')
    assert.equal(checkJson(Buffer.from('\t[]\r\n')), 'array')
    for (const scalar of ['"x"', '-0.5e+3', 'true', 'false', 'null'])
      assert.equal(checkJson(Buffer.from(scalar)), 'scalar')
  })

  it('names the byte order mark that Windows programs write', () => {
    assert.throws(() => checkJson(Buffer.from('\u{feff}{"a":1}')), {
      code: 'invalid_request',
      message: /byte order mark/
    })
  })

  it('accepts any output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2), (value, indent) =>
        accepts(JSON.stringify(value, null, indent))
      )
    )
  })

  it('agrees with JSON.parse on almost valid JSON', () => {
    const pieces =
      '{ } [ ] : , " \\ \\u00 \\u00e9 \\x "a" 0 1 -1 01 1. .5 1e5 1E+ e - + true tru null nul \t \n \u0000 é'
    const text = fc.array(fc.constantFrom(...pieces.split(' '), ' '), { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (candidate) => accepts(candidate) === parses(candidate)),
      fuzzRuns(5_000)
    )
  })

  it('agrees with JSON.parse on JSON with one byte changed', () => {
    const changed = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom(...'{ } [ ] : , " \\ 0 - e . t u \u0001'.split(' '), ' ')
      )
      .map(([json, at, char]) => json.slice(0, at % json.length) + char + json.slice((at % json.length) + 1))
    fc.assert(
      fc.property(changed, (candidate) => accepts(candidate) === parses(candidate)),
      fuzzRuns(2_000)
    )
  })

  it('agrees with JSON.parse on a long string with one byte changed, wherever its bytes start', () => {
    const length = fc.integer({ min: 60, max: 400 })
    const changes = fc.constantFrom(...'" \\ \u0000 \u001f a'.split(' '), ' ', 'é', '\u007f')
    fc.assert(
      fc.property(length, fc.nat(399), changes, fc.nat(7), (size, at, change, offset) => {
        const plain = 'x'.repeat(size)
        const text = `{"a":"${plain.slice(0, at % size)}${change}${plain.slice((at % size) + 1)}"}`
        const bytes = Buffer.concat([Buffer.alloc(offset, '"'), Buffer.from(text)]).subarray(offset)
        assert.equal(accepts(bytes), parses(text))
      }),
      fuzzRuns(2_000)
    )
  })

  it('reports the position of an error', () => {
    for (const [text, position] of [
      ['{"a":}', 5],
      ['[1,]', 3],
      ['{"a":1', 6],
      ['nule', 3],
      ['{} {}', 3],
      ['"\\u12g4"', 5],
      ['"a\nb"', 2],
      ['01', 1]
    ] as const) {
      assert.throws(() => checkJson(Buffer.from(text)), { members: { position } }, text)
    }
  })

  it('rejects invalid UTF-8 and a byte order mark', () => {
    assert.ok(!accepts(Uint8Array.of(0x22, 0xc3, 0x28, 0x22)))
    assert.ok(!accepts(Buffer.from('\ufeff{}')))
    assert.ok(!accepts(Buffer.from('{}', 'utf16le')))
  })

  it('checks the depth before it recurses', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    assert.ok(accepts(nested(limits.JSON_DEPTH_MAX)))
    assert.ok(!accepts(nested(limits.JSON_DEPTH_MAX + 1)))
    assert.ok(!accepts('{"a":'.repeat(1_000_000)))
  })
})

describe('membersIn', () => {
  const members = (json: string): unknown => {
    const found = membersIn(Buffer.from(json), ['a', 'b'])
    return found && Object.fromEntries(Array.from(found, ([name, value]) => [name, JSON.parse(text(value))]))
  }

  it('finds members as JSON.parse does, whatever else the object has', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'é', '\\u0061', '\\"a')
    const member = fc.tuple(name, fc.json({ maxDepth: 3 })).map(([key, value]) => ` "${key}" :${value}`)
    fc.assert(
      fc.property(fc.array(member), (all) => {
        const json = `{${all.join(' ,')}}`
        const expected = Object.entries(JSON.parse(json) as object).filter(([key]) => key === 'a' || key === 'b')
        assert.deepEqual(members(json), Object.fromEntries(expected))
      }),
      fuzzRuns(500)
    )
  })

  it('finds none in other values, nor in inner objects', () => {
    assert.deepEqual(members('{"c":{"a":1}}'), {})
    for (const json of ['[{"a":1}]', '"a"', 'null']) assert.equal(members(json), undefined)
    assert.throws(() => members('{"a":1'), { code: 'invalid_request' })
  })
})

describe('nestsDeeperThan', () => {
  const deeper = (text: string, most: number) => nestsDeeperThan(Buffer.from(text), most)
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

  it('counts objects and arrays, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const depth = depthOf(value)
        const text = JSON.stringify(value)
        assert.ok(!deeper(text, depth))
        if (depth > 0) assert.ok(deeper(text, depth - 1))
      })
    )
  })

  it('ignores brackets in strings and unmatched closing brackets', () => {
    assert.ok(!deeper(String.raw`{"a\\":"[[[","b\"[[":"\\\"[[["}`, 1))
    assert.ok(!deeper('"[[[[ never closed', 1))
    assert.ok(deeper(`${']'.repeat(100)}${'['.repeat(100)}`, 99))
    assert.ok(deeper('}{[', 1))
  })
})
