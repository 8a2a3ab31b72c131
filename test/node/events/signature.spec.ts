import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { systemRandom } from '../../../lib/index.ts'
import { makeSecrets, shownSecrets, signedHeaders } from '../../../node/events/webhook-signature.ts'

const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const AT = 1_614_265_330
const PAYLOAD = '{"test": 2432232314}'

describe('the signatures of webhooks', () => {
  const signaturesOf = (headers: ReadonlyArray<readonly [string, string]>) => (headers.at(-1)?.[1] ?? '').split(' ')

  it('match the shared test vector of Standard Webhooks', () => {
    const secrets = { ...makeSecrets(systemRandom), hmac: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
    const headers = signedHeaders(ID, AT, PAYLOAD, [secrets])
    assert.deepEqual(headers.slice(0, 2), [
      ['webhook-id', ID],
      ['webhook-timestamp', '1614265330']
    ])
    assert.equal(signaturesOf(headers)[0], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('verify with the published key over the exact sent bytes', () => {
    const secrets = makeSecrets(systemRandom)
    const { secret, public_key } = shownSecrets(secrets)
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.match(public_key, /^whpk_[A-Za-z0-9+/]{43}=$/)
    const [, v1a = ''] = signaturesOf(signedHeaders(ID, AT, PAYLOAD, [secrets]))
    assert.ok(v1a.startsWith('v1a,'))
    const raw = Buffer.from(public_key.slice('whpk_'.length), 'base64')
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
      format: 'jwk'
    })
    const signature = Buffer.from(v1a.slice('v1a,'.length), 'base64')
    assert.ok(verify(null, Buffer.from(`${ID}.${AT}.${PAYLOAD}`), key, signature))
    assert.ok(!verify(null, Buffer.from(`${ID}.${AT + 1}.${PAYLOAD}`), key, signature))
  })

  it('include one signature per valid secret', () => {
    const both = [makeSecrets(systemRandom), makeSecrets(systemRandom)]
    assert.deepEqual(
      signaturesOf(signedHeaders(ID, AT, PAYLOAD, both)).map((one) => one.split(',')[0]),
      ['v1', 'v1a', 'v1', 'v1a']
    )
  })
})
