import assert from 'node:assert/strict'
import { limits } from '../../../lib/index.ts'
import { checkScope, permitted } from '../../../node/keys/scope.ts'
import { PROVIDER } from '../ingress/harness.ts'

const OTHER = `12D3KooW${'A'.repeat(44)}`

describe('the API scope of a key', () => {
  it('is unrestricted by default', () => {
    assert.deepEqual(permitted({}, { name: 'ticker' }), { name: 'ticker' })
  })

  it('allows, for a bare name, the API of any provider with that name', () => {
    const key = { apis: ['ticker'] }
    assert.deepEqual(permitted(key, { name: 'ticker' }), { name: 'ticker' })
    assert.deepEqual(permitted(key, { name: 'ticker', provider: OTHER }), { name: 'ticker', provider: OTHER })
    assert.throws(() => permitted(key, { name: 'tickers' }), { code: 'key_not_permitted' })
  })

  it('allows, for an id, that API only, and resolves its bare name to it', () => {
    const key = { apis: [`ticker@${PROVIDER}`] }
    assert.deepEqual(permitted(key, { name: 'ticker' }), { name: 'ticker', provider: PROVIDER })
    assert.throws(() => permitted(key, { name: 'ticker', provider: OTHER }), { code: 'key_not_permitted' })
    assert.throws(() => permitted(key, { name: 'other' }), { code: 'key_not_permitted' })
  })

  it('requires an id if several allowed APIs have the same name', () => {
    const key = { apis: [`ticker@${PROVIDER}`, `ticker@${OTHER}`] }
    assert.throws(() => permitted(key, { name: 'ticker' }), {
      code: 'name_conflict',
      members: { candidates: key.apis }
    })
    assert.deepEqual(permitted(key, { name: 'ticker', provider: OTHER }), { name: 'ticker', provider: OTHER })
  })

  it('requires valid names, without duplicates, up to a limit', () => {
    assert.deepEqual(checkScope(['b', 'a', 'b', `a@${PROVIDER}`]), ['a', `a@${PROVIDER}`, 'b'])
    for (const wrong of [[], [''], ['A'], ['a@b'], ['a b'], ['*'], ['x\u0000']]) {
      assert.throws(() => checkScope(wrong), { code: 'invalid_request' }, String(wrong))
    }
    const many = Array.from({ length: limits.KEY_APIS_MAX + 1 }, (_, i) => `api-${i}`)
    assert.throws(() => checkScope(many), { code: 'invalid_request' })
  })
})
