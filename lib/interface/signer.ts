import type { Hex } from '../base/hex.ts'

/** An account's address: 20 bytes in lower case. Only output for people and for x402 carries the EIP-55 checksum. */
export type Address = Hex

/** 65 bytes `r ‖ s ‖ v`, with s in the lower half and v 27 or 28: the only form that the contracts accept. */
export type Signature = Uint8Array

/** A secp256k1 account that signs with a key file or a key management service. */
export interface Signer {
  readonly address: Address
  /**
   * Signs a 32-byte digest without hashing it again. For typed data pass the EIP-712 digest.
   * @throws SoukError `settlement_unavailable` where the key is unreachable now
   */
  sign(digest: Uint8Array): Promise<Signature>
}
