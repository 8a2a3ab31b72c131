import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { ChannelId } from './channel.ts'
import type { ChainParameters } from './network.ts'
import type { Address } from './signer.ts'

/** The head of the chain, a block that is very unlikely to be reverted, and one that cannot be reverted. */
export type BlockTag = 'latest' | 'safe' | 'finalized'

export interface Block {
  readonly number: bigint
  /** A different hash at the same number means that the earlier block was reverted. */
  readonly hash: Hex
  /** The block's timestamp, milliseconds since the epoch. An old head means an endpoint that fell behind. */
  readonly at: number
}

/** State of a channel in the contract. All zeros for an unknown channel. */
export interface ChannelState {
  /** All deposits minus refunds and withdrawals. Claims do not lower it. */
  readonly balance: Atoms
  /** Total claimed by the receiver's side. */
  readonly claimed: Atoms
  /**
   * Present where the payer started a withdrawal. `since` is the chain's time in milliseconds; the channel's delay
   * starts then.
   */
  readonly withdrawal?: { readonly amount: Atoms; readonly since: number }
  /** Nonce of the next signed refund. */
  readonly refundNonce: bigint
}

/** Channel states after one block, in the order requested. */
export interface ChannelsAt {
  readonly block: Block
  readonly channels: readonly ChannelState[]
}

/** A receiver's totals over all channels. The difference can be moved by `settle`. */
export interface ReceiverState {
  readonly claimed: Atoms
  readonly settled: Atoms
}

/** Totals of a splitter. Zeros where nothing arrived; the contract need not exist yet. */
export interface SplitterState {
  /** Everything it received, from channels or elsewhere. */
  readonly received: Atoms
  /** The part paid to each side. */
  readonly toProvider: Atoms
  readonly toTreasury: Atoms
}

/** A contract address and the encoded call of one of its methods. */
export interface ContractCall {
  readonly to: Address
  readonly data: Hex
  /** A simulation that takes more gas is refused. Default: only the limit of each transaction counts. */
  readonly gasMax?: bigint
}

/** Simulated result of a transaction. `reason` is the contract's error name or message, for logs and decisions. */
export type Simulation = { readonly ok: true; readonly gas: bigint } | { readonly ok: false; readonly reason: string }

/** The transfer made with an EIP-3009 authorisation. */
export interface AuthorizedTransfer {
  readonly to: Address
  readonly value: Atoms
  /** Hash of the transaction. */
  readonly hash: Hex
  /** Timestamp of its block, milliseconds since the epoch. */
  readonly at: number
}

/** A transaction that transferred USDC, and its block. */
export interface SentTransfer {
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** In wei per gas. `maxFee` covers a few blocks of rising fees. */
export interface Fees {
  readonly maxFee: bigint
  readonly tip: bigint
}

/**
 * The endpoint's result for a signed transaction. `accepted`: taken, or known before. `nonce_used`: this transaction or
 * another with its nonce is mined. `fee_too_low`: the fee is too low now, or another transaction with its nonce waits.
 * `no_gas`: the account cannot pay the gas.
 */
export type Broadcast = 'accepted' | 'nonce_used' | 'fee_too_low' | 'no_gas'

/** A transaction in a block, until the block is reverted. */
export interface Receipt {
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly succeeded: boolean
  readonly gasUsed: bigint
  /** In wei, including Base's fee for Ethereum data. */
  readonly cost: bigint
}

/**
 * One chain, through one trusted endpoint. Every method rejects with `settlement_unavailable` where the endpoint is
 * unreachable or returns invalid data. A broadcast that failed this way may still have arrived.
 */
export interface Chain {
  readonly parameters: ChainParameters
  /**
   * Checks the chain id, and the code of contracts and token. Called at start, before any payment.
   * @throws SoukError `settlement_unavailable` saying what is wrong
   */
  verify(): Promise<void>
  /** Checks the chain id only. @throws SoukError `settlement_unavailable` */
  checkId(): Promise<void>
  /** A block of the current chain. Undefined where this number does not exist yet. */
  block(at: BlockTag | bigint): Promise<Block | undefined>
  channels(ids: readonly ChannelId[], at: BlockTag | bigint): Promise<ChannelsAt>
  receiver(address: Address, at: BlockTag | bigint): Promise<ReceiverState>
  /** State after the block of this number. */
  splitter(address: Address, at: bigint): Promise<SplitterState>
  /** USDC of an account. */
  balance(account: Address, at: BlockTag): Promise<Atoms>
  /** ETH of an account for gas, in wei, at the head. */
  gas(account: Address): Promise<bigint>
  /** True where an EIP-3009 authorisation is used or revoked, at the head. */
  authorizationUsed(payer: Address, nonce: Hex): Promise<boolean>
  /**
   * The transfer made with an EIP-3009 authorisation in blocks since `sinceMs`, from any sender. Undefined if the
   * authorisation is unused or revoked, or the endpoint does not show the transfer yet.
   */
  authorizedTransfer(payer: Address, nonce: Hex, sinceMs: number): Promise<AuthorizedTransfer | undefined>
  /**
   * The one of these transactions that transferred USDC in blocks since `sinceMs`, also if the endpoint has dropped its
   * receipt. Undefined if none did.
   */
  sentTransfer(query: {
    readonly from: Address
    readonly to: Address
    readonly hashes: readonly Hex[]
    readonly sinceMs: number
  }): Promise<SentTransfer | undefined>
  /** Number of mined transactions of an account. */
  nonce(account: Address, at: BlockTag): Promise<number>
  fees(): Promise<Fees>
  /** Simulates a transaction at the head without sending it. */
  simulate(from: Address, call: ContractCall): Promise<Simulation>
  /** Idempotent: the same bytes may be sent any number of times. */
  broadcast(transaction: Hex): Promise<Broadcast>
  receipt(transactionHash: Hex): Promise<Receipt | undefined>
  /** ABI-encoded result of a read-only method. Undefined where it reverts or the contract does not exist. */
  read(call: ContractCall): Promise<Hex | undefined>
  /** Runtime code at the head; `0x` where there is none. */
  code(address: Address): Promise<Hex>
}
