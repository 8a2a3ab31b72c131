import { keccak_256 } from '@noble/hashes/sha3.js'
import { utf8 } from '../../base/bytes.ts'
import { isHex, toHex } from '../../base/hex.ts'
import { malformed } from '../../base/malformed.ts'
import type { Address } from '../../interface/signer.ts'

const ADDRESS_BYTES = 20

export const ZERO_ADDRESS: Address = `0x${'00'.repeat(ADDRESS_BYTES)}`

/** The address of a 64-byte public key. */
export function addressOf(publicKey: Uint8Array): Address {
  return toHex(keccak_256(publicKey).subarray(-ADDRESS_BYTES))
}

/**
 * Parses an address from a person or a peer. A mixed-case address must have the right checksum (EIP-55), so that no money goes to
 * a mistyped one.
 * @throws SoukError `invalid_request`
 */
export function parseAddress(text: string): Address {
  if (!isHex(text, ADDRESS_BYTES)) {
    throw malformed('address', `"${text.slice(0, 80)}" is not an address. An address is 0x and 40 hex digits.`)
  }
  const address = text.toLowerCase() as Address
  const isMixed = text.slice(2) !== text.slice(2).toLowerCase() && text.slice(2) !== text.slice(2).toUpperCase()
  if (isMixed && checksummed(address) !== text) {
    throw malformed('address', `The checksum of ${text} is wrong. Check the address for typing errors.`)
  }
  return address
}

/**
 * The address with the upper-case letters of EIP-55.
 *
 * @example
 * ```ts
 * import { checksummed, parseAddress } from 'souk'
 *
 * const address = parseAddress('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
 * console.log(address) // 0x7e5f4552091a69125d5dfcb7b8c2659029395bdf
 * console.log(checksummed(address)) // 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf
 * ```
 */
export function checksummed(address: Address): Address {
  const digits = address.slice(2).toLowerCase()
  const hash = toHex(keccak_256(utf8(digits))).slice(2)
  const marked = Array.from(digits, (digit, i) => (parseInt(hash[i] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit))
  return `0x${marked.join('')}`
}
