import { toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, ChannelId } from '../../interface/channel.ts'
import type { Address } from '../../interface/signer.ts'
import { digestsOf, hashStruct, typeHash } from './typed-data.ts'
import type { Hex } from '../../base/hex.ts'

const CHANNEL_CONFIG = typeHash(
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)'
)
const VOUCHER = typeHash('Voucher(bytes32 channelId,uint128 maxClaimableAmount)')
const REFUND = typeHash('Refund(bytes32 channelId,uint256 nonce,uint128 amount)')

/** The digests that the parties of a channel sign, hashed as by the contract `x402BatchSettlement` of one chain. */
export interface SettlementDomain {
  /** The channel's id, as by the contract's `getChannelId`. */
  channelId(config: ChannelConfig): ChannelId
  /** The digest that the payer signs for a voucher. */
  voucher(channelId: ChannelId, ceiling: Atoms): Uint8Array
  /** The digest that the receiver's side signs to refund unclaimed money. */
  refund(channelId: ChannelId, nonce: bigint, amount: Atoms): Uint8Array
}

export function settlementDomain(contract: { readonly chainId: number; readonly address: Address }): SettlementDomain {
  const { chainId, address } = contract
  const digest = digestsOf({ name: 'x402 Batch Settlement', version: '1', chainId, verifyingContract: address })
  return {
    channelId: (config) => toHex(digest(hashStruct(CHANNEL_CONFIG, configMembers(config)))),
    voucher: (channelId, ceiling) => digest(hashStruct(VOUCHER, [channelId, ceiling])),
    refund: (channelId, nonce, amount) => digest(hashStruct(REFUND, [channelId, nonce, amount]))
  }
}

function configMembers(config: ChannelConfig): Array<Hex | bigint> {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config
  return [payer, payerAuthorizer, receiver, receiverAuthorizer, token, BigInt(withdrawDelay), salt]
}
