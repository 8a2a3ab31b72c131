import { keccak_256 } from '@noble/hashes/sha3.js'
import { utf8 } from '../../base/bytes.ts'
import { type Hex, toHex } from '../../base/hex.ts'

const PREFIX = utf8('souk channel 1')

/**
 * The salt of a channel's config. It binds the channel to the payer's peer id. Vouchers are bearer instruments and claims publish
 * them, so without this any node could use the channel.
 */
export function channelSalt(peer: string, counter: bigint): Hex {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(counter)
  return toHex(keccak_256(Buffer.concat([PREFIX, utf8(peer), number])))
}
