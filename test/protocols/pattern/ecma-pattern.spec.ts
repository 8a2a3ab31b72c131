import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits.ts'
import { ecmaPattern } from '../../../protocols/pattern/ecma-pattern.ts'
import { PatternRefused } from '../../../protocols/pattern/linear-pattern.ts'
import { Meter, OutOfSteps } from '../../../protocols/pattern/meter.ts'

const PLENTY = 1e12
const test = (pattern: string, text: string) => ecmaPattern(pattern).test(text, new Meter(PLENTY))

/** Expressions of the subset that both languages have, each valid with the flag `u`. */
const { pattern } = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('term'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((alternatives) => alternatives.map((terms) => terms.join('')).join('|')),
  term: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('atom'),
    fc.constantFrom('^', '$', String.raw`\b`, String.raw`\B`),
    fc
      .tuple(tie('atom'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '*?', '+?', '??', '{1,2}?'))
      .map(([atom, repeat]) => atom + repeat)
  ),
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...'abAZ09_- é😀/'),
    fc.constantFrom(
      ...String.raw`. \d \D \w \W \s \S \t \n \v \f \r \0 \cJ \x41 \u0041 \u{1F600} \uD83D\uDE00 \/ \. \- \\ \( \[ \{ \$ \^ \|`
        .replace(String.raw` \-`, '')
        .split(' ')
    ),
    fc.constantFrom(...String.raw`\p{L} \P{L} \p{Lu} \p{N} \p{Script=Greek} \p{sc=Latin} \p{gc=Nd}`.split(' ')),
    fc.constantFrom(
      ...String.raw`[a-c] [^a] [\d-] [\w\-.] [^\s] [\S] [\b] [^] [] [[] [a\]b] [\u{1F600}-\u{1F64F}] [\p{L}9] [^\p{L}] [&&a] [.$^|*] [-a] [😀é]`.split(
        ' '
      )
    ),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
    tie('pattern').map((inner) => `(?<n${inner.length}_${Math.abs(hash(inner))}>${inner})`)
  )
}))

function hash(text: string): number {
  return [...text].reduce((sum, char) => (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) | 0, 7)
}

const text = fc.oneof(
  fc
    .array(fc.constantFrom(...'abcAZ09_-. \n\r\t\v\u2028\u00a0\ufeff\u0000\b/é😀α[]{}()|^$\\&'), { maxLength: 8 })
    .map((chars) => chars.join('')),
  fc.string({ unit: 'binary', maxLength: 8 })
)

function native(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    return undefined
  }
}

describe('patterns of JSON Schema', () => {
  it('match what the same RegExp matches', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 5 }), (source, texts) => {
        const expected = native(source)
        fc.pre(expected !== undefined)
        const compiled = ecmaPattern(source)
        for (const one of texts) {
          assert.equal(
            compiled.test(one, new Meter(PLENTY)),
            expected.test(one),
            `/${source}/u on ${JSON.stringify(one)}`
          )
        }
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) }
    )
  })
})
