import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { unicodePattern } from '../../../protocols/pattern/unicode-pattern.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

describe('a pattern for validators that use the flag u', () => {
  const ROWS: ReadonlyArray<readonly [given: string, written: string | undefined]> = [
    [String.raw`^-?\d{0,2}(?:\,\d{0,2})?$`, String.raw`^-?\d{0,2}(?:,\d{0,2})?$`],
    [String.raw`^\p{L}{2}[^\]\-a]$`, String.raw`^\p{L}{2}[^\]\-a]$`],
    [String.raw`^[\w-.]+\@[\_a\-z]+$`, String.raw`^[\w\-.]+@[_a\-z]+$`],
    [String.raw`^[a-\d][\d--/][\d-][+--]$`, String.raw`^[a\-\d][\d\-\-/][\d\-][+-\-]$`],
    ['^{id}]$', String.raw`^\{id\}\]$`],
    [String.raw`^\p{Lu}\-\u{41}$`, String.raw`^\p{Lu}-\u{41}$`],
    [String.raw`[]\:|[^]`, '[]:|[^]'],
    [String.raw`^\d+\Z`, undefined],
    ['^(?P<year>a)$', undefined],
    [String.raw`^(?=a)*\1$`, undefined],
    ['(', undefined],
    ['[', undefined]
  ]
  for (const [given, written] of ROWS) {
    it(`is ${written ?? 'none'} for ${given}`, () => {
      assert.equal(unicodePattern(given), written)
    })
  }

  it('matches the same texts as without the flag', () => {
    const pieces = [
      'a',
      '-',
      '[',
      '[^',
      ']',
      '{',
      '}',
      '{2}',
      '\\',
      ',',
      '_',
      'd',
      'w',
      'b',
      '+',
      '^',
      '$',
      '|',
      '(',
      ')',
      '/'
    ]
    const pattern = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''))
    const text = fc.array(fc.constantFrom('a', '-', '[', ']', '{', '}', ',', '_', '1', '^', '\\', '/', '\b'), {
      maxLength: 4
    })
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (given, texts) => {
        const written = unicodePattern(given)
        if (written === undefined) return
        for (const one of texts.map((all) => all.join(''))) {
          assert.equal(
            new RegExp(written, 'u').test(one),
            new RegExp(given).test(one),
            `${given} is ${written}: ${one}`
          )
        }
      }),
      fuzzRuns(3_000)
    )
  })
})
