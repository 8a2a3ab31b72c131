import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { parseExactly, rawNumber } from '../../../lib/base/exact-json.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

const MiB = 1024 * 1024
/** A reviver of `JSON.parse` exceeds this for most of the texts below. */
const CPU_MS_PER_MIB_MAX = 200

const marked = (source: string, nearest: number) => ({ source, nearest })

/** The numbers of a text that `String` writes otherwise. */
const inexact = (text: string): string[] =>
  (text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[^,\s\]}]*/g) ?? []).filter(
    (source) => String(Number(source)) !== source
  )

describe('parseExactly', () => {
  it('reads JSON as JSON.parse does, with the text of each number that a double changes', () => {
    const number = fc.constantFrom('0', '-0', '7', '1.0', '0.1', '1e5', '-2E-3', '12345678901234567890', '1e999')
    const { json } = fc.letrec<{ json: string }>((tie) => {
      const text = fc.string({ unit: 'binary', maxLength: 5 }).map((value) => JSON.stringify(value))
      const name = fc.oneof(
        text,
        fc.constantFrom('"__proto__"', '"a"', String.raw`"\u0061"`, String.raw`"b\\"`, String.raw`"c\""`)
      )
      const member = fc.tuple(name, tie('json')).map(([key, value]) => `${key} :\t${value}`)
      return {
        json: fc.oneof(
          { maxDepth: 3 },
          number,
          text,
          fc.constantFrom('true', 'false', 'null'),
          fc.array(tie('json'), { maxLength: 4 }).map((items) => `[\n${items.join(' , ')}]`),
          fc.array(member, { maxLength: 4 }).map((members) => `{ ${members.join(',')}\r\n}`)
        )
      }
    })
    fc.assert(
      fc.property(json, (text) => {
        const sources: string[] = []
        const value = parseExactly(text, (source, nearest) => {
          sources.push(source)
          return nearest
        })
        assert.deepEqual(value, JSON.parse(text))
        assert.deepEqual(sources, inexact(text))
      }),
      fuzzRuns(100)
    )
  })

  it('takes the last value of a repeated name', () => {
    assert.deepEqual(parseExactly('{"a":1.0,"b":2,"a":[1.0]}', marked), { a: [marked('1.0', 1)], b: 2 })
  })

  it('refuses what JSON.parse refuses', () => {
    for (const text of ['', '[1.0', '{"a":1.0,}', '1.0 2', '"1.0', '01.0', '[1.0]]'])
      assert.throws(() => parseExactly(text, marked), SyntaxError, text)
  })

  const hostile: ReadonlyArray<readonly [what: string, item: string]> = [
    ['numbers', '0,'],
    ['numbers with fractions', '1.0,'],
    ['objects', '{},'],
    ['objects with a member', '{"a":0},'],
    ['strings', '"",'],
    ['escapes', String.raw`"\"",`],
    ['backslashes', String.raw`"${String.raw`\\`.repeat(500)}",`]
  ]
  for (const [what, item] of hostile) {
    it(`reads a megabyte of ${what} without a long stop`, async () => {
      const text = `[1.0,${item.repeat(MiB / item.length)}0]`
      await assertCpuBelow(CPU_MS_PER_MIB_MAX, () => parseExactly(text, rawNumber))
    })
  }
})
