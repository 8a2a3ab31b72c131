import type { Hex } from '../base/hex.ts'
import type { Address } from './signer.ts'

/** A contract that is verified by its code, not by its address alone. */
export interface PinnedContract {
  readonly address: Address
  /** keccak256 of its runtime code. Other code at this address is rejected. */
  readonly codeHash: Hex
}

/** The token used for payments. */
export interface TokenParameters {
  readonly address: Address
  /**
   * Name in its EIP-712 domain. It differs between networks ("USD Coin", "USDC"); a signature over a wrong name is
   * invalid.
   */
  readonly name: string
  readonly version: string
}

/** The chain of a network's payments. All nodes of a network must use the same parameters to pay each other. */
export interface ChainParameters {
  /** EIP-155 number. */
  readonly chainId: number
  /** JSON-RPC endpoint where the profile names none. */
  readonly rpcUrl: string
  readonly usdc: TokenParameters
  /** x402's batch-settlement contract, which holds the channels. */
  readonly settlement: PinnedContract
  /** Collects deposits into channels by EIP-3009. */
  readonly collector: PinnedContract
  /**
   * Recipient of the 5% share. It determines the address of the splitter factory. Absent where the network has no
   * treasury yet: then no money moves.
   */
  readonly treasury?: Address
  /**
   * Confirmations, the transaction's own block included, before a transaction counts as done. Money is counted at
   * deeper blocks only.
   */
  readonly confirmations: number
  /** Priority fee per gas of this node's transactions, in wei. Default: what the endpoint suggests. */
  readonly tipWei?: number
}
