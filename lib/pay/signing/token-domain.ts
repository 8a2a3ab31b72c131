import type { Hex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { Address } from '../../interface/signer.ts'
import { type Domain, digestsOf, hashStruct, typeHash } from './typed-data.ts'

const RECEIVE = typeHash(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
)

/** One transfer of a token that its holder allows whoever is named in `to` to fetch (EIP-3009). Times are Unix seconds. */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: Atoms
  readonly validAfter: number
  readonly validBefore: number
  /** 32 bytes. */
  readonly nonce: Hex
}

/** What a holder of the token signs. Name and version of the domain differ between networks that have the same USDC. */
export interface TokenDomain {
  receive(authorization: Authorization): Uint8Array
}

export function tokenDomain(domain: Domain): TokenDomain {
  const digest = digestsOf(domain)
  return {
    receive: ({ from, to, value, validAfter, validBefore, nonce }) =>
      digest(hashStruct(RECEIVE, [from, to, value, BigInt(validAfter), BigInt(validBefore), nonce]))
  }
}
