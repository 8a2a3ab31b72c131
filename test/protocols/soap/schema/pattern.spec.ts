import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { PATTERNS_SIZE_MAX } from '../../../../lib/base/limits/descriptions.ts'
import { SOAP_STEPS_MAX } from '../../../../lib/base/limits/soap.ts'
import { Meter, OutOfSteps } from '../../../../protocols/pattern/meter.ts'
import { PatternBook, type XsdPattern } from '../../../../protocols/soap/schema/pattern.ts'
import { nativeMatches } from '../../../helpers/native-matches.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'

const compiled = (...patterns: string[]): XsdPattern => {
  const taken = new PatternBook().take(patterns)
  return typeof taken === 'string' ? assert.fail(`${patterns.join()} ${taken}`) : taken
}
const refusal = (pattern: string): string => {
  const taken = new PatternBook().take([pattern])
  return typeof taken === 'string' ? taken : assert.fail(`${pattern} is taken`)
}
const matches = (pattern: XsdPattern, text: string) => pattern.test(text, new Meter(SOAP_STEPS_MAX))
/** Evaluates the published pattern like a consumer's validator. */
const published = (pattern: XsdPattern) => new RegExp(`^(?:${pattern.expression})$`, 'u')

describe('patterns of a schema', () => {
  const cases: ReadonlyArray<readonly [pattern: string, matching: readonly string[], other: readonly string[]]> = [
    ['[A-Z]{2}', ['AB'], ['ABC', 'ab', 'A']],
    ['\\d{5}(-\\d{4})?', ['12345', '12345-6789'], ['1234', '12345-']],
    ['a|bc', ['a', 'bc'], ['ab', 'c']],
    ['^$', ['^$'], ['']],
    ['\\i\\c*', ['a:b-c', '_x1', 'é·1', ':'], ['1x', '-a', '']],
    ['\\I\\C', ['1 ', '--'.replace('-', '1').replace('-', '$')], ['a ', '1a']],
    ['[\\i-[:]][\\c-[:]]*', ['ab', '_'], ['a:b', ':a']],
    ['[\\w]+\\s\\w+', ['one two', 'ün 2'], ['one', 'a-b c']],
    ['\\W', ['-', ' ', '\u0378'], ['a', '1', '+']],
    ['[\\W\\d]', ['-', '5', '٣'], ['a']],
    ['[^\\W\\d]', ['a', '+'], ['5', '-']],
    ['\\d\\D', ['5x', '٣x'], ['55', 'x5']],
    ['\\s\\S', [' x', '\tx'], ['\u00a0x', 'x ']],
    ['[^@]+@[^\\.]+\\..+', ['a@b.c'], ['ab.c']],
    ['\\p{Lu}\\p{Ll}*', ['Straße'], ['straße']],
    ['\\P{L}', ['1'], ['a', 'é']],
    ['.*', ['anything', '', 'a\u2028b'], ['two\nlines', 'a\rb']],
    ['[\\-+]?\\d+', ['-1', '+12', '3'], ['--1']],
    ['a\\@b\\_c/d', ['a@b_c/d'], ['a@b_c']],
    ['[a-z-[aeiou]]', ['b', 'z'], ['a', 'A', '-', '[']],
    ['[^a-z-[A-M]]', ['N', '1'], ['a', 'A']],
    ['[a-z-[b-y-[m]]]', ['a', 'm', 'z'], ['b', 'y']],
    ['[\\p{L}-[\\p{Lu}]]', ['a', 'é'], ['A', '1']],
    ['[\\p{L}0-9-[\\p{Lu}5]]', ['a', '4'], ['A', '5']],
    ['\\p{IsBasicLatin}+', ['abc~'], ['é']],
    ['\\P{IsBasicLatin}', ['é', '😀'], ['a']],
    ['[\\p{IsGreek}\\p{IsCyrillic}]', ['Ω', 'Ж'], ['O']],
    ['[-a]', ['-', 'a'], ['b']],
    ['[a-]', ['-', 'a'], ['b']],
    ['.{2}', ['😀é'], ['😀', '😀éa']],
    ['[😀-😎]', ['😃'], ['😏', '\ud83d']],
    ['(a(b|c)*){2}', ['abab', 'aa'], ['ab', 'aaa']],
    ['', [''], ['a']],
    ['a||b', ['a', '', 'b'], ['c']],
    ['a{2,}', ['aa', 'aaaa'], ['a']],
    ['[^\\r\\n]', ['x'], ['\n']],
    ['}', ['}'], ['']]
  ]
  for (const [pattern, matching, other] of cases) {
    it(pattern === '' ? 'nothing' : pattern, () => {
      const one = compiled(pattern)
      for (const text of matching) assert(matches(one, text), `${one.expression} for ${text}`)
      for (const text of other) assert(!matches(one, text), `${one.expression} against ${text}`)
      for (const text of [...matching, ...other]) assert.equal(published(one).test(text), matching.includes(text), text)
    })
  }

  it('are alternatives within one step', () => {
    const one = compiled('a', 'b+')
    assert.deepEqual(
      ['a', 'bb', 'ab'].map((text) => matches(one, text)),
      [true, true, false]
    )
  })

  it('that are invalid or cannot be translated report why', () => {
    for (const pattern of [
      '(((',
      'a)|(b',
      '[',
      '[]',
      '[^]',
      'a]',
      'a**',
      'a+?',
      '*',
      '\\q',
      '\\p{IsKlingon}',
      '[z-a]'
    ]) {
      assert.match(refusal(pattern), /^is no pattern of XML Schema/, pattern)
    }
    assert.match(refusal('(\\d{1,99}){1,99}'), /repeats too often/)
    assert.match(refusal('(x{1,30}){1,30}'.repeat(8)), /too large/)
    assert.match(refusal('('.repeat(30_000) + ')'.repeat(30_000)), /nested too deeply/)
    assert.match(refusal('[a-[b-'.repeat(5_000)), /nested too deeply/)
  })

  it('are matched in linear time', async () => {
    for (const pattern of [
      '(a|a)*b',
      '(a*)*b',
      '(\\s*\\s*\\s*\\s*\\s*\\s*\\s*\\s*)x',
      '((a+)+)+',
      '(.*,){20}x',
      '(a?){500}a{500}'
    ]) {
      const one = compiled(pattern)
      for (const text of ['a'.repeat(60_000), ' '.repeat(60_000), `${'a,'.repeat(30_000)}!`]) {
        await assertCpuBelow(5_000, () => matches(one, text))
      }
    }
  })

  it('are charged before they are matched', () => {
    const one = compiled('(x{1,30}){1,30}')
    assert.throws(() => one.test('x'.repeat(60_000), new Meter(1_000_000)), OutOfSteps)
  })

  it('have a total limit, and the same ones are omitted when reopened', () => {
    const book = new PatternBook()
    const sources = Array.from({ length: 200 }, (_, n) => `n${n}x{0,900}`)
    const taken = sources.map((source) => book.take([source]))
    const refused = taken.filter((one) => typeof one === 'string')
    assert(refused.length > 0 && refused.length < 199, String(refused.length))
    assert(refused.every((reason) => /together/.test(reason)))
    assert(PATTERNS_SIZE_MAX < 200 * 1_800)
    const again = new PatternBook(book.unchecked)
    for (const [at, source] of [...sources.entries()].toReversed()) {
      assert.equal(typeof again.take([source]), typeof taken[at], source)
    }
  })

  it('agree with the published expressions, and with JavaScript in the common subset', () => {
    const char = fc.constantFrom('a', 'b', '0', 'é', '-', ' ')
    const classOf = fc
      .tuple(
        fc.boolean(),
        fc.array(fc.constantFrom('a', 'b', '0-9', 'a-c', '\\d', '\\s', 'é'), { minLength: 1, maxLength: 3 })
      )
      .map(([not, members]) => `[${not ? '^' : ''}${members.join('')}]`)
    const { pattern } = fc.letrec<{ pattern: string; piece: string; atom: string }>((tie) => ({
      atom: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        char,
        classOf,
        fc.constantFrom('\\d', '\\.', '\\p{L}'),
        tie('pattern').map((inner) => `(${inner})`)
      ),
      piece: fc
        .tuple(tie('atom'), fc.constantFrom('', '', '?', '*', '+', '{2}', '{0,3}'))
        .map((parts) => parts.join('')),
      pattern: fc
        .array(
          fc.array(tie('piece'), { maxLength: 3 }).map((parts) => parts.join('')),
          { minLength: 1, maxLength: 3 }
        )
        .map((branches) => branches.join('|'))
    }))
    const text = fc
      .array(fc.oneof(char, fc.constantFrom('1', '.', 'Z', '😀', '٣')), { maxLength: 8 })
      .map((chars) => chars.join(''))
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 5 }), (source, texts) => {
        const one = compiled(source)
        // XML Schema's `\d` is any Unicode digit, its `\s` four characters.
        const reference = new RegExp(
          `^(?:${source.replaceAll('\\d', '\\p{Nd}').replaceAll('\\s', ' \\t\\n\\r')})$`,
          'u'
        )
        const expected = nativeMatches(reference, texts)
        fc.pre(expected !== undefined)
        const found = texts.map((each) => matches(one, each))
        assert.deepEqual(found, expected, `${source} as ${one.expression} on ${texts.join()}`)
        assert.deepEqual(nativeMatches(published(one), texts) ?? expected, expected)
      }),
      { numRuns: 1_000 }
    )
  })

  it('subtract classes like sets', () => {
    const members = fc.array(
      fc.constantFrom('a-m', 'k-z', '0-5', '\\p{L}', '\\p{Lu}', '\\P{L}', '\\w', '\\W', '\\d', '\\c', '_', 'é'),
      {
        minLength: 1,
        maxLength: 3
      }
    )
    const group = fc.record({ not: fc.boolean(), members })
    const chars = Array.from('amkzAZ059_é-·:😀٣ß \n')
    const inGroup = ({ not, members: all }: { not: boolean; members: readonly string[] }, char: string) =>
      all.some((member) => matches(compiled(`[${member}]`), char)) !== not
    const written = ({ not, members: all }: { not: boolean; members: readonly string[] }) =>
      `${not ? '^' : ''}${all.join('')}`
    fc.assert(
      fc.property(group, group, (base, less) => {
        const one = compiled(`[${written(base)}-[${written(less)}]]`)
        for (const char of chars) {
          const expected = inGroup(base, char) && !inGroup(less, char)
          assert.equal(matches(one, char), expected, `${one.source} as ${one.expression} on ${char}`)
          assert.equal(published(one).test(char), expected)
        }
      }),
      { numRuns: 300 }
    )
  })
})
