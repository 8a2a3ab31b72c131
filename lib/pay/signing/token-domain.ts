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

/** A token holder's authorisation of one transfer (EIP-3009). Times are Unix seconds. */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: Atoms
  readonly validAfter: number | bigint
  readonly validBefore: number | bigint
  /** 32 bytes. */
  readonly nonce: Hex
}

/** The digests that a token holder signs. The domain's name and version differ between networks with the same USDC. */
export interface TokenDomain {
  /** Only the account in `to` may submit it. */
  receive(authorization: Authorization): Uint8Array
  /** Any account may submit it. */
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
