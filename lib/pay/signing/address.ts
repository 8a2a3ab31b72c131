import { keccak_256 } from '@noble/hashes/sha3.js'
import { utf8 } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import { isHex, toHex } from '../../base/hex.ts'
import type { Address } from '../../interface/signer.ts'

const ADDRESS_BYTES = 20

export const ZERO_ADDRESS: Address = `0x${'00'.repeat(ADDRESS_BYTES)}`

/** The address of a public key in 64 bytes. */
export function addressOf(publicKey: Uint8Array): Address {
  return toHex(keccak_256(publicKey).subarray(-ADDRESS_BYTES))
}

/**
 * Reads an address that a person or a peer wrote. One of mixed case has to carry the right checksum (EIP-55), so that a
 * mistyped address cannot take money.
 * @throws SoukError `invalid_request`
 */
export function parseAddress(text: string): Address {
  if (!isHex(text, ADDRESS_BYTES)) {
    throw new SoukError('invalid_request', `"${text.slice(0, 80)}" is not an address: 0x and 40 hex digits.`)
  }
  const address = text.toLowerCase() as Address
  const isMixed = text.slice(2) !== text.slice(2).toLowerCase() && text.slice(2) !== text.slice(2).toUpperCase()
  if (isMixed && checksummed(address) !== text) {
    throw new SoukError('invalid_request', `The checksum of ${text} is wrong: it was mistyped.`)
  }
  return address
}

/** With the upper-case letters of EIP-55. */
export function checksummed(address: Address): Address {
  const digits = address.slice(2).toLowerCase()
  const hash = toHex(keccak_256(utf8(digits))).slice(2)
  const marked = Array.from(digits, (digit, i) => (parseInt(hash[i] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit))
  return `0x${marked.join('')}`
}
