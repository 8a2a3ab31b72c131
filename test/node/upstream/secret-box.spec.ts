import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createSecretBox, SECRET_BOX_KEY_BYTES } from '../../../node/upstream/secret-box.ts'

describe('encrypted texts', () => {
  const key = randomBytes(SECRET_BOX_KEY_BYTES)
  const secretBox = createSecretBox(key)

  it('decrypt to the original, and do not contain it', () => {
    const sealed = secretBox.seal('{"bearer":"s3cr3t ü"}', 'ticker')
    assert.equal(secretBox.open(sealed, 'ticker'), '{"bearer":"s3cr3t ü"}')
    assert(!Buffer.from(sealed.slice(3), 'base64url').toString('latin1').includes('s3cr3t'))
    assert.notEqual(secretBox.seal('same', 'ticker'), secretBox.seal('same', 'ticker'))
  })

  it('do not decrypt with another key or purpose, or after a change', () => {
    const sealed = secretBox.seal('s3cr3t', 'ticker')
    const refused = { code: 'internal_error', message: /Register the API again/ }
    assert.throws(() => createSecretBox(randomBytes(SECRET_BOX_KEY_BYTES)).open(sealed, 'ticker'), refused)
    assert.throws(() => secretBox.open(sealed, 'users'), refused)
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.throws(() => secretBox.open(`v1.${changed.toString('base64url')}`, 'ticker'), refused)
    }
    for (const broken of ['', 'v1.', 'v2.x', sealed.slice(0, 20)])
      assert.throws(() => secretBox.open(broken, 'ticker'), refused)
  })
})
