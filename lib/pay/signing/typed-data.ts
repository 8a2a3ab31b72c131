import { keccak_256 } from '@noble/hashes/sha3.js'
import { utf8 } from '../../base/bytes.ts'
import type { Hex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { Address } from '../../interface/signer.ts'

/** The part of EIP-712 that Souk needs: structs of static members and hashes. */

/** A signature's scope: one contract on one chain, or a purpose. */
export interface Domain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  /** Absent if no contract checks the signatures. */
  readonly verifyingContract?: Address
}

/** A member of a struct: bytes or an address, right-aligned in a word; a number; or the hash of a text. */
type Member = Uint8Array | Hex | Atoms

const WORD_BYTES = 32
/** "\\x19\\x01", then the domain separator, then the struct hash. */
const PREFIX = [0x19, 0x01]

export const typeHash = (type: string): Uint8Array => keccak_256(utf8(type))

const DOMAIN_TYPE = typeHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)')
const PURPOSE_TYPE = typeHash('EIP712Domain(string name,string version,uint256 chainId)')

/** Makes the digests of one domain; the separator is hashed once. */
export type Digest = (structHash: Uint8Array) => Uint8Array

export function digestsOf({ name, version, chainId, verifyingContract }: Domain): Digest {
  const purpose = [keccak_256(utf8(name)), keccak_256(utf8(version)), BigInt(chainId)]
  const separator =
    verifyingContract === undefined
      ? hashStruct(PURPOSE_TYPE, purpose)
      : hashStruct(DOMAIN_TYPE, [...purpose, verifyingContract])
  return (structHash) => {
    const bytes = new Uint8Array(PREFIX.length + 2 * WORD_BYTES)
    bytes.set(PREFIX)
    bytes.set(separator, PREFIX.length)
    bytes.set(structHash, PREFIX.length + WORD_BYTES)
    return keccak_256(bytes)
  }
}

export function hashStruct(type: Uint8Array, members: readonly Member[]): Uint8Array {
  const words = Buffer.alloc((members.length + 1) * WORD_BYTES)
  words.set(type)
  for (const [i, member] of members.entries()) writeWord(words, (i + 1) * WORD_BYTES, member)
  return keccak_256(words)
}

function writeWord(words: Buffer, at: number, member: Member): void {
  if (member instanceof Uint8Array) words.set(member, at + WORD_BYTES - member.length)
  else if (typeof member === 'string') words.write(member.slice(2), at + WORD_BYTES - (member.length - 2) / 2, 'hex')
  else {
    // Written in 64-bit parts: converting a 256-bit number to text would cost more than the hash.
    words.writeBigUInt64BE(member & 0xffffffffffffffffn, at + 24)
    if (member > 0xffffffffffffffffn) writeHigh(words, at, member >> 64n)
  }
}

function writeHigh(words: Buffer, at: number, high: bigint): void {
  words.writeBigUInt64BE(high & 0xffffffffffffffffn, at + 16)
  words.writeBigUInt64BE((high >> 64n) & 0xffffffffffffffffn, at + 8)
  words.writeBigUInt64BE(high >> 128n, at)
}
