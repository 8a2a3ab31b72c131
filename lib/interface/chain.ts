import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { ChannelId } from './channel.ts'
import type { ChainParameters } from './network.ts'
import type { Address } from './signer.ts'

/** The head of the chain, what is very unlikely to be taken back, and what never is. */
export type BlockTag = 'latest' | 'safe' | 'finalized'

export interface Block {
  readonly number: bigint
  /** Another hash at the same number: what was there has been taken back. */
  readonly hash: Hex
  /** The chain's own time, milliseconds since the epoch. An old head means an endpoint that fell behind. */
  readonly at: number
}

/** A channel in the contract's books. One that never was is all zeros. */
export interface ChannelState {
  /** All that was ever deposited and not given back; claims do not lower it. */
  readonly balance: Atoms
  /** Of it, what the receiver's side has claimed in all. */
  readonly claimed: Atoms
  /** The payer wants out. `since` is the chain's time in milliseconds; the channel's delay runs from it. */
  readonly withdrawal?: { readonly amount: Atoms; readonly since: number }
  /** What the next signed refund has to carry. */
  readonly refundNonce: bigint
}

/** Channels as they stood after one block, in the order asked for. */
export interface ChannelsAt {
  readonly block: Block
  readonly channels: readonly ChannelState[]
}

/** What channels brought a receiver, over all of them. The difference waits for `settle`. */
export interface ReceiverState {
  readonly claimed: Atoms
  readonly settled: Atoms
}

/** What a splitter divided. Zeros where nothing ever came; it need not exist yet. */
export interface SplitterState {
  /** All it ever received, by channels or not. */
  readonly received: Atoms
  /** Of it, what each side was paid. */
  readonly toProvider: Atoms
  readonly toTreasury: Atoms
}

/** A contract's method with its arguments. */
export interface ContractCall {
  readonly to: Address
  readonly data: Hex
}

/** What would become of a transaction now. `reason` is the name of the contract's error, or its words: for logs and decisions. */
export type Simulation = { readonly ok: true; readonly gas: bigint } | { readonly ok: false; readonly reason: string }

/** Where the money of an EIP-3009 authorisation went. */
export interface AuthorizedTransfer {
  readonly to: Address
  readonly value: Atoms
  /** Of the transaction. */
  readonly hash: Hex
  /** The chain's time of its block, milliseconds since the epoch. */
  readonly at: number
}

/** In wei per gas. `maxFee` lasts through some blocks of rising demand. */
export interface Fees {
  readonly maxFee: bigint
  readonly tip: bigint
}

/**
 * What an endpoint said of a signed transaction. `accepted` also where it had it already; `nonce_used`: this one or another of
 * its nonce is mined; `fee_too_low`: not now at this fee, or another of its nonce waits; `no_gas`: the account cannot pay for it.
 */
export type Broadcast = 'accepted' | 'nonce_used' | 'fee_too_low' | 'no_gas'

/** A transaction that is in a block, as far as that block stays. */
export interface Receipt {
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly succeeded: boolean
  readonly gasUsed: bigint
  /** In wei, with what Base adds for Ethereum's own storage. */
  readonly cost: bigint
}

/**
 * One chain through one endpoint, believed in what it shows. Every method rejects with `settlement_unavailable` where the
 * endpoint cannot be reached or answers with nonsense; a broadcast that failed so may have arrived all the same.
 */
export interface Chain {
  readonly parameters: ChainParameters
  /**
   * That this is the network's chain and that its contracts and token are the known ones. Asked at start, before any money.
   * @throws SoukError `settlement_unavailable` saying what is wrong
   */
  verify(): Promise<void>
  /** A block of the chain as it is now; undefined where it has none of this number yet. */
  block(at: BlockTag | bigint): Promise<Block | undefined>
  channels(ids: readonly ChannelId[], at: BlockTag | bigint): Promise<ChannelsAt>
  receiver(address: Address, at: BlockTag | bigint): Promise<ReceiverState>
  /** As it stood after the block of this number. */
  splitter(address: Address, at: bigint): Promise<SplitterState>
  /** USDC of an account. */
  balance(account: Address, at: BlockTag): Promise<Atoms>
  /** What an account has for gas, in wei, at the head. */
  gas(account: Address): Promise<bigint>
  /** An EIP-3009 authorisation was used, or revoked: at the head. */
  authorizationUsed(payer: Address, nonce: Hex): Promise<boolean>
  /**
   * The transfer that an EIP-3009 authorisation was used for, whoever sent it, in blocks since `sinceMs`. Undefined where there is none:
   * the authorisation is unused or revoked, or the endpoint does not show it yet.
   */
  authorizedTransfer(payer: Address, nonce: Hex, sinceMs: number): Promise<AuthorizedTransfer | undefined>
  /** Transactions of an account that are in blocks. */
  nonce(account: Address, at: BlockTag): Promise<number>
  fees(): Promise<Fees>
  /** Tries a transaction at the head without sending it. */
  simulate(from: Address, call: ContractCall): Promise<Simulation>
  /** Same bytes, as often as one likes. */
  broadcast(transaction: Hex): Promise<Broadcast>
  receipt(transactionHash: Hex): Promise<Receipt | undefined>
  /** What a method that changes nothing returns, ABI-encoded; undefined where it reverts or there is no such contract. */
  read(call: ContractCall): Promise<Hex | undefined>
  /** Runtime code at the head; `0x` where there is none. */
  code(address: Address): Promise<Hex>
}
