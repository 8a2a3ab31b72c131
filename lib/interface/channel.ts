import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { Address, Signature } from './signer.ts'

/** 32 bytes in lower case: the EIP-712 digest of the channel's config. */
export type ChannelId = Hex

/** What an x402 batch-settlement channel is made of, as the contract has it. It never changes; its digest names the channel. */
export interface ChannelConfig {
  /** Whose deposit it is, and where what is left goes back to. */
  readonly payer: Address
  /** Who signs vouchers. Souk takes no channel with the zero address here. */
  readonly payerAuthorizer: Address
  /** Where claims are settled to: the provider's splitter. */
  readonly receiver: Address
  /** Who claims and refunds: the owner's settlement address. */
  readonly receiverAuthorizer: Address
  readonly token: Address
  /** Seconds between the payer's wish to withdraw and the withdrawal. */
  readonly withdrawDelay: number
  /** 32 bytes. */
  readonly salt: Hex
}

/**
 * States of a channel in its payer's or its owner's books, and the moves between them. One table: code and docs follow it.
 * Paid for is through an `open` one alone; an owner also takes calls on one that is `withdrawing`, for what stays in it.
 */
export const CHANNEL_MOVES = {
  open: ['closing', 'withdrawing', 'disputed'],
  disputed: ['withdrawing', 'closed'],
  closing: ['closed', 'withdrawing', 'disputed'],
  withdrawing: ['closed', 'closing', 'open'],
  closed: []
} as const satisfies Record<string, readonly string[]>

export type ChannelPhase = keyof typeof CHANNEL_MOVES

/** The payer's word that up to `ceiling` in all may be claimed from a channel, over its whole life. */
export interface Voucher {
  readonly channelId: ChannelId
  /** `maxClaimableAmount` of the contract. */
  readonly ceiling: Atoms
  readonly signature: Signature
}

/** A payer's word that a deposit may be fetched: an EIP-3009 authorisation whose nonce ties it to one channel. */
export interface DepositAuthorization {
  readonly amount: Atoms
  /** Unix seconds. */
  readonly validAfter: number
  readonly validBefore: number
  readonly salt: bigint
  readonly signature: Signature
}
