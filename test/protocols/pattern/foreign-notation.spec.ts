import assert from 'node:assert/strict'
import { ecmaPattern } from '../../../protocols/pattern/ecma-pattern.ts'
import { foreignNotation } from '../../../protocols/pattern/foreign-notation.ts'
import { publishedSchema } from '../../../protocols/rest/openapi/published-schema.ts'

describe('a pattern in another notation', () => {
  const foreign: ReadonlyArray<readonly [pattern: string, why: RegExp]> = [
    ['/^[a-z]+$/', /delimiters/],
    ['/^[a-z]+$/i', /delimiters/],
    ['#^[a-z]+$#', /delimiters/],
    ['~^[a-z]+$~u', /delimiters/],
    ['regex:/^[a-z]+$/', /delimiters/],
    ['/[a-z]+$/', /delimiters/],
    ['/[a-z]/i', /delimiters/],
    ['^[[:alpha:]]+$', /POSIX/],
    ['^[^[:space:]_]*$', /POSIX/],
    ['yyyy-MM-dd', /format of dates/],
    ["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", /format of dates/],
    ['YYYY-MM-DDThh:mm:ssZ', /format of dates/],
    ['dd/MM/yyyy', /format of dates/],
    ['HH:mm', /format of dates/]
  ]
  for (const [pattern, why] of foreign) {
    it(`is not checked and not published: ${pattern}`, () => {
      assert.throws(() => ecmaPattern(pattern), why)
      const { pattern: published, $comment } = publishedSchema({ type: 'string', pattern })
      assert.equal(published, undefined)
      assert.match(String($comment), why)
    })
  }

  it('is not guessed', () => {
    const own = [
      '^/[a-z]+/$',
      '/users/',
      '/users/[a-z]+/',
      '/users/me',
      '/a/i',
      '/a\\$/',
      'a/^b',
      '^[a:b]+$',
      '^[:a-z]+$',
      'MM',
      'dd',
      'y',
      'Mmx',
      '^\\d{2}:\\d{2}$',
      'm-s',
      ''
    ]
    for (const pattern of own) assert.equal(foreignNotation(pattern), undefined, pattern)
  })

  it('is found in linear time', () => {
    for (const piece of ['y', '/^', "'", '[:a', 'regex:/^', 'mm-'])
      assert.ok(foreignNotation(`${piece.repeat(50_000)}!`) !== '')
  })
})
