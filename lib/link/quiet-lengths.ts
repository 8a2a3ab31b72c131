/** Made once: what makes an error dear is the stack it takes down. */
const TOO_SHORT = new RangeError('fewer than the two bytes of a length')

/** What of a list of chunks, or a chunk, reading a length needs. */
interface Bytes {
  readonly byteLength: number
  subarray(start: number, end: number): Uint8Array
}

/**
 * @chainsafe/libp2p-noise 17 reads message lengths until reading throws, so that every chunk that arrives costs an error with
 * its stack: more than to decrypt a small message. On an encrypted connection of its this puts the same error, made
 * beforehand; other connections are left as they are.
 */
export function quietLengths(connection: object): void {
  if (!('decoder' in connection)) return
  const { decoder } = connection
  if (typeof decoder !== 'object' || decoder === null || !('lengthDecoder' in decoder)) return
  decoder.lengthDecoder = readLength
}

/** Noise, section 3: a message begins with its length, two bytes, big-endian. */
function readLength(bytes: Bytes): number {
  if (bytes.byteLength < 2) throw TOO_SHORT
  const [high = 0, low = 0] = bytes.subarray(0, 2)
  return (high << 8) | low
}
