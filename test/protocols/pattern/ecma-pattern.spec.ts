import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import { ecmaPattern } from '../../../protocols/pattern/ecma-pattern.ts'
import { PatternRefused } from '../../../protocols/pattern/linear-pattern.ts'
import { Meter, OutOfSteps } from '../../../protocols/pattern/meter.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { nativeMatches } from '../../helpers/native-matches.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

const PLENTY = 1e12
/** Expressions of the common subset of both languages, each valid with the flag `u`. */
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
    fc.constantFrom(...Array.from('abAZ09_- é😀/')),
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
  return Array.from(text).reduce((sum, char) => (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) | 0, 7)
}

const text = fc.oneof(
  fc
    .array(fc.constantFrom(...Array.from('abcAZ09_-. \n\r\t\v\u2028\u00a0\ufeff\u0000\b/é😀α[]{}()|^$\\&')), {
      maxLength: 8
    })
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
  it('match the same texts as RegExp', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 5 }), (source, texts) => {
        const reference = native(source)
        fc.pre(reference !== undefined)
        // V8 finds `\B` between the halves of a character, where ECMA-262 has no position.
        fc.pre(!source.includes(String.raw`\B`) || !texts.some((one) => /[\u{10000}-\u{10FFFF}]/u.test(one)))
        const expected = nativeMatches(reference, texts)
        fc.pre(expected !== undefined)
        const compiled = ecmaPattern(source)
        const found = texts.map((one) => compiled.test(one, new Meter(PLENTY)))
        assert.deepEqual(found, expected, `/${source}/u on ${JSON.stringify(texts)}`)
      }),
      fuzzRuns(300)
    )
  })

  it('take time that is linear in the text', async () => {
    for (const [source, piece] of [
      ['^(a+)+$', 'a'],
      ['^(a|aa)+$', 'a'],
      [String.raw`^\s*\s*\s*\s*\s*\s*\s*\s*x$`, ' '],
      ['^(a|a)*b', 'a'],
      [String.raw`^(([a-z])+.)+[A-Z]([a-z])+$`, 'a'],
      [String.raw`(.*)*(.*)*(.*)*!$`, 'a']
    ] as const) {
      const compiled = ecmaPattern(source)
      await assertCpuBelow(2_000, () =>
        assert.equal(compiled.test(`${piece.repeat(50_000)}?`, new Meter(PLENTY)), false, source)
      )
    }
  })

  it('cost at most their size per character, charged in advance', () => {
    const compiled = ecmaPattern('^[a-z]{1,60}$')
    compiled.test('a'.repeat(60), new Meter(60 * compiled.size + 1))
    assert.throws(() => compiled.test('a'.repeat(61), new Meter(60 * compiled.size)), OutOfSteps)
  })

  const refused: ReadonlyArray<readonly [pattern: string, why: RegExp]> = [
    ['(?=a)b', /looks around/],
    ['a(?!b)', /looks around/],
    ['(?<=a)b', /looks around/],
    ['(?<!a)b', /looks around/],
    [String.raw`(a)\1`, /refers back/],
    [String.raw`(?<n>a)\k<n>`, /refers back/],
    ['a{1,5000}', /repeats too often/],
    ['(a{1,99}){1,99}', /repeats too often/],
    ['[ab]{900}'.repeat(5), /too large/],
    [String.raw`\p{L}`.repeat(65), /Unicode properties/],
    ['(', /not a regular expression/],
    ['(?i)a', /not a regular expression/],
    [String.raw`\Aa\z`, /not a part of ECMA-262/],
    ['a'.repeat(PATTERN_CHARS_MAX + 1), /longer than/]
  ]
  for (const [source, why] of refused) {
    it(`are rejected if they cannot be linear: ${source.slice(0, 40)}`, () => {
      assert.throws(
        () => ecmaPattern(source),
        (error: unknown) => error instanceof PatternRefused && why.test(error.message)
      )
    })
  }

  const lenient: ReadonlyArray<readonly [pattern: string, matching: string, other: string]> = [
    [String.raw`^[\w-.]+\_\-$`, 'a-.b_-', 'a b_-'],
    [String.raw`^a{,3}\/$`, 'a{,3}/', 'aaa/'],
    ['^]}$', ']}', ']'],
    [String.raw`^[\d-z]$`, '-', 'y']
  ]
  for (const [source, matching, other] of lenient) {
    it(`are read without the flag u if only that parses: ${source}`, () => {
      const compiled = ecmaPattern(source)
      assert.deepEqual(
        [compiled.test(matching, new Meter(PLENTY)), compiled.test(other, new Meter(PLENTY))],
        [true, false]
      )
    })
  }
})
