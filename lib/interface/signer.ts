import type { Hex } from '../base/hex.ts'

/** An account's address: 20 bytes in lower case. Only what leaves for people and x402 carries the EIP-55 checksum. */
export type Address = Hex

/** 65 bytes `r ‖ s ‖ v` with s in the lower half and v 27 or 28: the only form the contracts take. */
export type Signature = Uint8Array

/** A secp256k1 account that signs: a key file's, or one held by a key management service. */
export interface Signer {
  readonly address: Address
  /**
   * Signs a digest as it is: 32 bytes, for typed data the EIP-712 one.
   * @throws SoukError `settlement_unavailable` where the key cannot be reached now
   */
  sign(digest: Uint8Array): Promise<Signature>
}
