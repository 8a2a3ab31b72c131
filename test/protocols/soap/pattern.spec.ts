import assert from 'node:assert/strict'
import { compilePatterns } from '../../../protocols/soap/pattern.ts'

describe('patterns of a schema', () => {
  const cases: ReadonlyArray<readonly [pattern: string, matching: readonly string[], other: readonly string[]]> = [
    ['[A-Z]{2}', ['AB'], ['ABC', 'ab', 'A']],
    ['\\d{5}(-\\d{4})?', ['12345', '12345-6789'], ['1234', '12345-']],
    ['a|bc', ['a', 'bc'], ['ab', 'c']],
    ['^$', ['^$'], ['']],
    ['\\i\\c*', ['a:b-c', '_x1'], ['1x']],
    ['[\\w]+\\s\\w+', ['one two', 'ün 2'], ['one']],
    ['[^@]+@[^\\.]+\\..+', ['a@b.c'], ['ab.c']],
    ['\\p{Lu}\\p{Ll}*', ['Straße'], ['straße']],
    ['.*', ['anything', ''], ['two\nlines']],
    ['[\\-+]?\\d+', ['-1', '+12', '3'], ['--1']],
    ['a\\@b\\_c/d', ['a@b_c/d'], ['a@b_c']]
  ]
  for (const [pattern, matching, other] of cases) {
    it(pattern, () => {
      const compiled = compilePatterns([pattern]) ?? assert.fail('not compiled')
      for (const text of matching) assert(compiled.test(text), text)
      for (const text of other) assert(!compiled.test(text), text)
    })
  }

  it('are alternatives within one step', () => {
    const compiled = compilePatterns(['a', 'b+']) ?? assert.fail()
    assert.deepEqual(
      ['a', 'bb', 'ab'].map((text) => compiled.test(text)),
      [true, true, false]
    )
  })

  it('are left to the service where JavaScript has no counterpart, or could take for ever', () => {
    for (const pattern of [
      '[a-z-[aeiou]]',
      '\\p{IsGreek}',
      '(a+)+',
      '(\\w*x?)*y',
      '((a{2,})b?)+',
      '(((',
      '(a{1,5000})*'
    ]) {
      assert.equal(compilePatterns([pattern]), undefined, pattern)
    }
  })
})
