import { SMALL_MESSAGE_BYTES } from './noise-crypto.ts'

/** One message of the peer: the parts of the socket's buffers that it is in. */
interface Sealed {
  readonly byteLength: number
  subarray(start: number, end: number): Uint8Array
}

/** The parts of an encrypted connection that decrypting uses. */
interface Decrypting {
  readonly handshake: { decrypt(message: Sealed, dst?: Uint8Array): unknown }
  decrypt(message: Sealed): unknown
}

/**
 * @chainsafe/libp2p-noise 17 joins the parts of each message for a buffer to decrypt in, although `noiseCrypto` uses none for a large
 * message. This function makes an encrypted connection decrypt large messages without that copy. Other connections are unchanged.
 */
export function unjoinedMessages(connection: object): void {
  if (!isDecrypting(connection)) return
  const { handshake } = connection
  const decrypt = connection.decrypt.bind(connection)
  connection.decrypt = (message) =>
    message.byteLength > SMALL_MESSAGE_BYTES ? handshake.decrypt(message) : decrypt(message)
}

function isDecrypting(connection: object): connection is Decrypting {
  return (
    'decrypt' in connection &&
    typeof connection.decrypt === 'function' &&
    'handshake' in connection &&
    typeof connection.handshake === 'object' &&
    connection.handshake !== null &&
    'decrypt' in connection.handshake
  )
}
