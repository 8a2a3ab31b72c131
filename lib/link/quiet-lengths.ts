/** Created once, because capturing the stack is the expensive part of an error. */
const TOO_SHORT = new RangeError('a length needs two bytes')

/** The parts of a chunk, or a chunk list, that reading a length uses. */
interface Bytes {
  readonly byteLength: number
  subarray(start: number, end: number): Uint8Array
}

/**
 * @chainsafe/libp2p-noise 17 reads message lengths until reading throws. So every chunk costs an error with its stack,
 *   which is more than decrypting a small message. This function makes an encrypted connection reuse one error. Other
 *   connections are unchanged.
 */
export function quietLengths(connection: object): void {
  if (!('decoder' in connection)) return
  const { decoder } = connection
  if (typeof decoder !== 'object' || decoder === null || !('lengthDecoder' in decoder)) return
  decoder.lengthDecoder = readLength
}

/** Noise, section 3: a message starts with its length in two bytes, big-endian. */
function readLength(bytes: Bytes): number {
  if (bytes.byteLength < 2) throw TOO_SHORT
  const [high = 0, low = 0] = bytes.subarray(0, 2)
  return (high << 8) | low
}
