/** Noise, section 3: the longest message that a length of two bytes can announce. */
const LONGEST = 0xffff

/** The parts of a chunk list that reading a length uses. */
interface Bytes {
  readonly byteLength: number
  get(index: number): number
}

/**
 * @chainsafe/libp2p-noise 17 reads message lengths until reading throws. So every chunk costs a thrown error, which is more
 *   than decrypting a small message. This function makes an encrypted connection read the longest length instead where
 *   none has arrived. The decoder then waits for more bytes, because fewer than that are there. Other connections are
 *   unchanged.
 */
export function quietLengths(connection: object): void {
  if (!('decoder' in connection)) return
  const { decoder } = connection
  if (typeof decoder !== 'object' || decoder === null || !('lengthDecoder' in decoder)) return
  decoder.lengthDecoder = readLength
}

/** Noise, section 3: a message starts with its length in two bytes, big-endian. */
function readLength(bytes: Bytes): number {
  return bytes.byteLength < 2 ? LONGEST : (bytes.get(0) << 8) | bytes.get(1)
}
