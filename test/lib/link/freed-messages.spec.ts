import assert from 'node:assert/strict'
import { Uint8ArrayList } from 'uint8arraylist'
import { FREED_BYTES_MIN, freedMessages } from '../../../lib/link/freed-messages.ts'
import { SMALL_MESSAGE_BYTES } from '../../../lib/link/noise-crypto.ts'

const LARGE = FREED_BYTES_MIN

/** Copies large messages, and returns small ones in place, as noise with `noiseCrypto` does. */
class Encrypted {
  encrypt(text: Uint8Array): Uint8ArrayList {
    return new Uint8ArrayList(Uint8Array.of(0, 0), text.slice(), text.slice(0, 16))
  }

  decrypt(message: Uint8ArrayList): Uint8ArrayList {
    const { byteLength } = message
    const bytes = message.subarray()
    return new Uint8ArrayList(byteLength > SMALL_MESSAGE_BYTES ? bytes.slice() : bytes)
  }
}

/** A received buffer that holds messages of these sizes, each after its length. */
function received(...sizes: number[]) {
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + 2 + size, 0)).fill(7)
  let at = 0
  const messages = sizes.map((size) => bytes.subarray((at += 2), (at += size)))
  return { bytes, messages, isFreed: () => bytes.length === 0 }
}

describe('the buffers of encrypted messages', () => {
  let connection: Encrypted
  let onWritten: ReturnType<typeof freedMessages>
  beforeEach(() => {
    connection = new Encrypted()
    onWritten = freedMessages(connection)
  })
  const decrypt = (...parts: Array<Uint8Array | undefined>) =>
    connection.decrypt(new Uint8ArrayList(...parts.filter((part) => part !== undefined)))

  it('are freed with their last message, and its text stays', () => {
    const { messages, isFreed } = received(LARGE, LARGE)
    const texts = [decrypt(messages[0])]
    assert.equal(isFreed(), false)
    texts.push(decrypt(messages[1]))
    assert.equal(isFreed(), true)
    for (const text of texts) assert.deepEqual(text.subarray(), new Uint8Array(LARGE).fill(7))
  })

  it('are freed when a message ends in the next one', () => {
    const [first, second] = [received(LARGE, 100), received(SMALL_MESSAGE_BYTES, LARGE)]
    decrypt(first.messages[0])
    // The second message is in two buffers. It has no length of its own in the second one.
    const rest = second.bytes.subarray(0, 2 + SMALL_MESSAGE_BYTES)
    const text = decrypt(first.messages[1], rest)
    assert.equal(first.isFreed(), true)
    assert.equal(second.isFreed(), false)
    assert.equal(text.byteLength, 100 + rest.length)
    decrypt(second.messages[1])
    assert.equal(second.isFreed(), true)
  })

  it('stay where a small message is read in place, before or after large ones', () => {
    for (const sizes of [
      [10, LARGE],
      [LARGE, 10],
      [LARGE, 10, LARGE]
    ]) {
      const { messages, isFreed } = received(...sizes)
      for (const message of messages) decrypt(message)
      assert.equal(isFreed(), false, String(sizes))
    }
  })

  it('stay where a part was not decrypted', () => {
    const { bytes, isFreed } = received(LARGE, LARGE)
    decrypt(bytes.subarray(2 + LARGE + 2))
    assert.equal(isFreed(), false, 'without the first message')
    const other = received(LARGE, 1, LARGE)
    decrypt(other.messages[0])
    decrypt(other.messages[2])
    assert.equal(other.isFreed(), false, 'without the second message')
  })

  it('stay where the text is in the same buffer', () => {
    connection = new Encrypted()
    connection.decrypt = (message) => message
    freedMessages(connection)
    const { messages, isFreed } = received(LARGE)
    assert.equal(decrypt(messages[0]).byteLength, LARGE)
    assert.equal(isFreed(), false)
  })

  it('stay where they are small', () => {
    const { messages, isFreed } = received(FREED_BYTES_MIN - 3)
    decrypt(messages[0])
    assert.equal(isFreed(), false)
    const [, sealed] = [...connection.encrypt(new Uint8Array(FREED_BYTES_MIN - 20))]
    assert.equal(sealed && onWritten(sealed), undefined)
  })

  it('are freed once they are written, if the message fills them', () => {
    const text = new Uint8Array(LARGE).fill(7)
    const [length, sealed, tag] = [...connection.encrypt(text)]
    assert.ok(length !== undefined && sealed !== undefined && tag !== undefined)
    assert.equal(onWritten(length), undefined)
    assert.equal(onWritten(tag), undefined)
    const free = onWritten(sealed)
    assert.deepEqual(sealed, text)
    free?.()
    assert.equal(sealed.length, 0)
    assert.equal(text.length, LARGE)
    // Bytes that no encryption made.
    assert.equal(onWritten(text), undefined)
  })

  it('stay on a connection that encrypts nothing', () => {
    const other = { decrypt: () => 'unchanged' }
    assert.equal(freedMessages(other)(new Uint8Array(LARGE)), undefined)
    assert.equal(other.decrypt(), 'unchanged')
  })
})
