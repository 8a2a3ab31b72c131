import assert from 'node:assert/strict'
import { Uint8ArrayList } from 'uint8arraylist'
import { SMALL_MESSAGE_BYTES } from '../../../lib/link/noise-crypto.ts'
import { unjoinedMessages } from '../../../lib/link/unjoined-messages.ts'

/** Decrypts as @chainsafe/libp2p-noise does: into a copy of the joined parts. */
class Encrypted {
  readonly handshake = { decrypt: (_message: Uint8ArrayList, dst?: Uint8Array) => dst?.length ?? 'no copy' }

  decrypt(message: Uint8ArrayList): unknown {
    return this.handshake.decrypt(message, message.subarray())
  }
}

describe('an encrypted connection', () => {
  it('decrypts a large message in parts without joining them, and a small one in place', () => {
    const connection = new Encrypted()
    unjoinedMessages(connection)
    const [small, rest] = [Buffer.alloc(SMALL_MESSAGE_BYTES), Buffer.alloc(1)]
    assert.equal(connection.decrypt(new Uint8ArrayList(small, rest)), 'no copy')
    assert.equal(connection.decrypt(new Uint8ArrayList(small)), SMALL_MESSAGE_BYTES)
  })

  it('stays as it is where it has other parts', () => {
    const other = { decrypt: () => 'unchanged' }
    unjoinedMessages(other)
    assert.equal(other.decrypt(), 'unchanged')
  })
})
