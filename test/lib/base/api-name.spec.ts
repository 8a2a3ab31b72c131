import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { apiId, checkApiName, formatApiRef, isApiName, isProviderId, parseApiRef } from '../../../lib/base/api-name.ts'

const PROVIDER = `12D3KooW${'P'.repeat(44)}`

describe('names of APIs', () => {
  it('are a-z, 0-9 and "-", up to a DNS label’s length', () => {
    for (const name of ['a', '0', 'bb-sse-ticker', 'a-', 'a--b', 'a'.repeat(63)]) {
      assert.ok(isApiName(name), name)
      assert.equal(checkApiName(name), name)
    }
  })

  it('refuse other characters', () => {
    const hostile = ['', '-a', 'A', 'a_b', 'a.b', 'a b', 'a/b', '../a', 'a\n', 'a\0', 'ä', 'а', 'a'.repeat(64), 'a@b']
    for (const name of hostile) {
      assert.equal(isApiName(name), false, JSON.stringify(name))
      assert.throws(() => checkApiName(name), { code: 'invalid_request' })
    }
  })

  it('are cut in the error when they are too long', () => {
    assert.throws(
      () => checkApiName('x'.repeat(10_000)),
      ({ message }: Error) => message.length < 300
    )
    assert.throws(
      () => parseApiRef(`a@${'x'.repeat(10_000)}`),
      ({ message }: Error) => message.length < 300
    )
  })

  it('are qualified by the peer id of an Ed25519 key only', async () => {
    for (let i = 0; i < 20; i++) {
      assert.ok(isProviderId(peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()))
    }
    assert.equal(isProviderId(peerIdFromPrivateKey(await generateKeyPair('secp256k1')).toString()), false)
    for (const id of ['', 'demo', PROVIDER.slice(1), `${PROVIDER}P`, `12D3KooW${'0'.repeat(44)}`, `${PROVIDER}\n`]) {
      assert.equal(isProviderId(id), false, JSON.stringify(id))
    }
  })

  it('parse bare or qualified, and format back unchanged', () => {
    assert.deepEqual(parseApiRef('ticker'), { name: 'ticker' })
    assert.deepEqual(parseApiRef(`ticker@${PROVIDER}`), { name: 'ticker', provider: PROVIDER })
    for (const text of ['ticker', apiId('ticker', PROVIDER)]) assert.equal(formatApiRef(parseApiRef(text)), text)
  })

  it('are refused when one part is malformed', () => {
    for (const text of ['', '@', 'ticker@', `@${PROVIDER}`, 'ticker@demo', `ticker@${PROVIDER}@${PROVIDER}`, 'A@b']) {
      assert.throws(() => parseApiRef(text), { code: 'invalid_request' }, text)
    }
  })
})
