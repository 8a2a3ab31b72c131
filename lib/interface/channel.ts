import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { Address, Signature } from './signer.ts'

/** 32 bytes in lower-case hexadecimal: the EIP-712 digest of the channel's config. */
export type ChannelId = Hex

/**
 * Config of an x402 batch-settlement channel, as the contract defines it. It never changes; its digest is the channel's
 * id.
 */
export interface ChannelConfig {
  /** The account that deposits. The unused rest is returned to it. */
  readonly payer: Address
  /** Signer of vouchers. Souk rejects channels with the zero address here. */
  readonly payerAuthorizer: Address
  /** Recipient of settled claims: the provider's splitter. */
  readonly receiver: Address
  /** Signer of claims and refunds: the owner's settlement address. */
  readonly receiverAuthorizer: Address
  readonly token: Address
  /** Seconds between the start of a payer's withdrawal and its completion. */
  readonly withdrawDelay: number
  /** 32 bytes. */
  readonly salt: Hex
}

/**
 * States of a channel in the books of its payer or owner, and the allowed moves. Code and documentation are derived
 * from this table. A payer uses `open` channels only. An owner also accepts calls on a `withdrawing` one, up to what
 * stays in it.
 */
export const CHANNEL_MOVES = {
  open: ['closing', 'withdrawing', 'disputed'],
  disputed: ['withdrawing', 'closed'],
  closing: ['closed', 'withdrawing', 'disputed'],
  withdrawing: ['closed', 'closing', 'open'],
  closed: []
} as const satisfies Record<string, readonly string[]>

export type ChannelPhase = keyof typeof CHANNEL_MOVES

/** The payer's signed promise: up to `ceiling` in total may be claimed from a channel over its lifetime. */
export interface Voucher {
  readonly channelId: ChannelId
  /** `maxClaimableAmount` of the contract. */
  readonly ceiling: Atoms
  readonly signature: Signature
}

/** A payer's permission to collect a deposit: an EIP-3009 authorisation whose nonce binds it to one channel. */
export interface DepositAuthorization {
  readonly amount: Atoms
  /** Unix seconds. */
  readonly validAfter: number
  readonly validBefore: number
  readonly salt: bigint
  readonly signature: Signature
}
