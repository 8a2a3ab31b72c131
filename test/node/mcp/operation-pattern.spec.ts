import assert from 'node:assert/strict'
import { matchesPattern } from '../../../node/mcp/operation-pattern.ts'

describe('a pattern of operations', () => {
  for (const [pattern, name, expected] of [
    ['getBalance', 'GetBalance', true],
    ['getBalance', 'getBalances', false],
    ['get*', 'getBalance', true],
    ['get*', 'forget', false],
    ['*balance', 'getBalance', true],
    ['*a*e', 'getBalance', true],
    ['*a*x', 'getBalance', false],
    ['*', 'anything', true],
    ['**', '', true],
    ['', '', true],
    ['', 'a', false],
    ['a.c', 'abc', false],
    ['[a-z]+', 'abc', false],
    ['*ü*', 'GrÜße', true]
  ] as const) {
    it(`${pattern === '' ? 'nothing' : pattern} ${expected ? 'matches' : 'does not match'} ${name === '' ? 'nothing' : name}`, () => {
      assert.equal(matchesPattern(name, pattern), expected)
    })
  }

  it('takes no long time, however many stars it has', () => {
    assert.equal(matchesPattern('a'.repeat(500), `${'a*'.repeat(249)}b`), false)
  })
})
