import type { Hex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { Address } from '../../interface/signer.ts'
import { type Domain, digestsOf, hashStruct, typeHash } from './typed-data.ts'

const RECEIVE = typeHash(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
)
const TRANSFER = typeHash(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
)

/** One transfer of a token that its holder allows (EIP-3009). Times are Unix seconds. */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: Atoms
  readonly validAfter: number | bigint
  readonly validBefore: number | bigint
  /** 32 bytes. */
  readonly nonce: Hex
}

/** What a holder of the token signs. Name and version of the domain differ between networks that have the same USDC. */
export interface TokenDomain {
  /** Only the account in `to` may send it. */
  receive(authorization: Authorization): Uint8Array
  /** Anybody may send it. */
  transfer(authorization: Authorization): Uint8Array
}

export function tokenDomain(domain: Domain): TokenDomain {
  const digest = digestsOf(domain)
  const signed =
    (type: Uint8Array) =>
    ({ from, to, value, validAfter, validBefore, nonce }: Authorization) =>
      digest(hashStruct(type, [from, to, value, BigInt(validAfter), BigInt(validBefore), nonce]))
  return { receive: signed(RECEIVE), transfer: signed(TRANSFER) }
}
