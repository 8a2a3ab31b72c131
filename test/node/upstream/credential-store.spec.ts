import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createSecretBox, SECRET_BOX_KEY_BYTES } from '../../../node/upstream/secret-box.ts'
import { CredentialStore } from '../../../node/upstream/credential-store.ts'

describe('the credentials of registered upstreams', () => {
  const endpoint = 'https://api.example/v1'
  const auth = { bearer: 's3cr3t' }
  const credentialStore = new CredentialStore({
    secretBox: createSecretBox(randomBytes(SECRET_BOX_KEY_BYTES)),
    guard: { refuses: () => false }
  })
  const kept = credentialStore.sealed('ticker', credentialStore.taken('ticker', { endpoint, auth }, undefined))

  it('are stored encrypted, and returned decrypted', () => {
    assert(!JSON.stringify(kept).includes('s3cr3t'))
    assert.deepEqual(Object.keys(kept.upstream), ['endpoint'])
    const { guard, ...config } = credentialStore.opened('ticker', kept)
    assert(guard !== undefined)
    assert.deepEqual(config, { endpoint, auth })
  })

  it('stay if a registration omits them, for the same origin only', () => {
    assert.deepEqual(credentialStore.taken('ticker', { endpoint: 'https://api.example/v2' }, kept).auth, auth)
    for (const other of ['http://api.example/v1', 'https://api.example:444/', 'https://evil.example/']) {
      assert.equal(credentialStore.taken('ticker', { endpoint: other }, kept).auth, undefined)
    }
    assert.equal(credentialStore.taken('ticker', { endpoint, auth: null }, kept).auth, undefined)
    assert.deepEqual(credentialStore.taken('ticker', { endpoint, auth: { bearer: 'new' } }, kept).auth, {
      bearer: 'new'
    })
  })

  it('can be replaced after the key is lost', () => {
    const other = new CredentialStore({ secretBox: createSecretBox(randomBytes(SECRET_BOX_KEY_BYTES)) })
    assert.throws(() => other.taken('ticker', { endpoint }, kept), {
      message: /Register the API again with --auth-file/
    })
    assert.deepEqual(other.taken('ticker', { endpoint, auth: { bearer: 'new' } }, kept).auth, { bearer: 'new' })
  })

  it('belong to one API only', () => {
    assert.throws(() => credentialStore.opened('users', kept), { code: 'internal_error' })
  })

  it('cannot be read without the key', () => {
    const open = new CredentialStore({})
    assert.throws(() => open.taken('ticker', { endpoint, auth }, undefined), { code: 'invalid_request' })
    assert.throws(() => open.opened('ticker', kept), { code: 'internal_error' })
    assert.deepEqual(open.taken('ticker', { endpoint }, undefined), { endpoint })
  })
})
