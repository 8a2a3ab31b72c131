import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { defaultCrypto } from '@chainsafe/libp2p-noise/crypto'
import { encodingLength } from 'uint8-varint'
import { Uint8ArrayList } from 'uint8arraylist'
import { BULK_CHUNK_BYTES_SENT, NOISE_TAG_BYTES, NOISE_TEXT_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import { noiseCrypto, SMALL_MESSAGE_BYTES } from '../../../lib/link/noise-crypto.ts'

type Bytes = Parameters<typeof defaultCrypto.chaCha20Poly1305Encrypt>[0]

const [KEY, NONCE, AD] = [randomBytes(32), randomBytes(12), randomBytes(20)]
const SIZES = [0, 1, SMALL_MESSAGE_BYTES, SMALL_MESSAGE_BYTES + 1, 5_000, NOISE_TEXT_BYTES_MAX]

/** A list of noise's own version has the same methods. */
const listOf = (bytes: Uint8Array, partBytes: number): Bytes => {
  const list = new Uint8ArrayList()
  for (let at = 0; at < bytes.length; at += partBytes) list.append(Uint8Array.from(bytes.subarray(at, at + partBytes)))
  return list as unknown as Bytes
}

describe('the encryption of links', () => {
  const ours = noiseCrypto()
  const seal = (crypto: typeof ours, text: Bytes) => crypto.chaCha20Poly1305Encrypt(text, NONCE, AD, KEY).subarray()
  const open = (crypto: typeof ours, sealed: Bytes) => {
    const dst = new Uint8Array(Math.max(0, sealed.byteLength - NOISE_TAG_BYTES))
    return Buffer.from(crypto.chaCha20Poly1305Decrypt(sealed, NONCE, AD, KEY, dst).subarray())
  }

  it('is that of noise, for bytes and for lists of any parts', () => {
    for (const size of SIZES) {
      const text = randomBytes(size)
      const sealed = Buffer.from(seal(defaultCrypto, text))
      for (const partBytes of [1, 15, 4_096, Math.max(1, size)]) {
        assert.deepEqual(Buffer.from(seal(ours, listOf(text, partBytes))), sealed, `${size} bytes by ${partBytes}`)
        assert.deepEqual(open(ours, listOf(sealed, partBytes)), text, `${size} bytes by ${partBytes}`)
      }
      assert.deepEqual(Buffer.from(seal(ours, text)), sealed)
      assert.deepEqual(open(ours, Buffer.from(sealed)), text)
    }
  })

  it('leaves messages that it returned unchanged when it makes the next', () => {
    const [first, second] = [randomBytes(5_000), randomBytes(5_000)]
    const sealed = ours.chaCha20Poly1305Encrypt(listOf(first, 100), NONCE, AD, KEY)
    const opened = ours.chaCha20Poly1305Decrypt(listOf(sealed.subarray(), 100), NONCE, AD, KEY)
    seal(ours, listOf(second, 100))
    assert.deepEqual(open(ours, Buffer.from(sealed.subarray())), first)
    assert.deepEqual(Buffer.from(opened.subarray()), first)
  })

  it('refuses a message with one changed byte, in the text or in the tag', () => {
    for (const size of [100, 5_000]) {
      const sealed = Buffer.from(seal(ours, listOf(randomBytes(size), 1_000)))
      for (const at of [0, size - 1, size, size + NOISE_TAG_BYTES - 1]) {
        const changed = Buffer.from(sealed)
        changed[at] = (changed[at] ?? 0) ^ 1
        assert.throws(() => open(ours, listOf(changed, 999)), Error, `${size} bytes, changed at ${at}`)
      }
    }
  })

  it('has messages that a chunk of a body fills, with its length and the header of yamux', () => {
    const yamuxHeaderBytes = 12
    const framed = yamuxHeaderBytes + encodingLength(BULK_CHUNK_BYTES_SENT) + BULK_CHUNK_BYTES_SENT
    assert.equal(framed, NOISE_TEXT_BYTES_MAX)
  })
})
