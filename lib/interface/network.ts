import type { Hex } from '../base/hex.ts'
import type { Address } from './signer.ts'

/** A contract that is trusted for its code, not for its address alone. */
export interface PinnedContract {
  readonly address: Address
  /** keccak256 of its runtime code; whatever else is found there is refused. */
  readonly codeHash: Hex
}

/** The token that calls are paid in. */
export interface TokenParameters {
  readonly address: Address
  /** Of its EIP-712 domain. It differs between networks ("USD Coin", "USDC"), and a signature over the wrong one is void. */
  readonly name: string
  readonly version: string
}

/** The chain that a network's money lives on. The same for all nodes of a network: who differs is paid by nobody. */
export interface ChainParameters {
  /** EIP-155 number. */
  readonly chainId: number
  /** JSON-RPC endpoint where the profile names none. */
  readonly rpcUrl: string
  readonly usdc: TokenParameters
  /** x402's batch-settlement contract: the channels. */
  readonly settlement: PinnedContract
  /** Brings deposits into channels by EIP-3009. */
  readonly collector: PinnedContract
  /**
   * Who gets the 5%. The splitter factory's address follows from it. Absent where nobody has founded the network yet: no
   * money moves there.
   */
  readonly treasury?: Address
  /** Blocks on top of a transaction, its own counted, before it is called done. What money is counted on asks for more. */
  readonly confirmations: number
}
