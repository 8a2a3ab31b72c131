import assert from 'node:assert/strict'
import { limits } from '../../../lib/index.ts'
import { checkScope, permitted } from '../../../node/keys/scope.ts'
import { PROVIDER } from '../ingress/harness.ts'

const OTHER = `12D3KooW${'A'.repeat(44)}`

describe('what a key may call', () => {
  it('is anything, where nobody said otherwise', () => {
    assert.deepEqual(permitted({}, { name: 'ticker' }), { name: 'ticker' })
  })

  it('is by a bare name what any provider calls so', () => {
    const key = { apis: ['ticker'] }
    assert.deepEqual(permitted(key, { name: 'ticker' }), { name: 'ticker' })
    assert.deepEqual(permitted(key, { name: 'ticker', provider: OTHER }), { name: 'ticker', provider: OTHER })
    assert.throws(() => permitted(key, { name: 'tickers' }), { code: 'key_not_permitted' })
  })

  it('is by an id that one, to which the bare name then leads, whoever else takes it', () => {
    const key = { apis: [`ticker@${PROVIDER}`] }
    assert.deepEqual(permitted(key, { name: 'ticker' }), { name: 'ticker', provider: PROVIDER })
    assert.throws(() => permitted(key, { name: 'ticker', provider: OTHER }), { code: 'key_not_permitted' })
    assert.throws(() => permitted(key, { name: 'other' }), { code: 'key_not_permitted' })
  })

  it('is asked for by id where it is several of one name', () => {
    const key = { apis: [`ticker@${PROVIDER}`, `ticker@${OTHER}`] }
    assert.throws(() => permitted(key, { name: 'ticker' }), {
      code: 'name_conflict',
      members: { candidates: key.apis }
    })
    assert.deepEqual(permitted(key, { name: 'ticker', provider: OTHER }), { name: 'ticker', provider: OTHER })
  })

  it('is written with names that can be, each once, and not too many', () => {
    assert.deepEqual(checkScope(['b', 'a', 'b', `a@${PROVIDER}`]), ['a', `a@${PROVIDER}`, 'b'])
    for (const wrong of [[], [''], ['A'], ['a@b'], ['a b'], ['*'], ['x\u0000']]) {
      assert.throws(() => checkScope(wrong), { code: 'invalid_request' }, String(wrong))
    }
    const many = Array.from({ length: limits.KEY_APIS_MAX + 1 }, (_, i) => `api-${i}`)
    assert.throws(() => checkScope(many), { code: 'invalid_request' })
  })
})
