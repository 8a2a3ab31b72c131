import { encodeAbiParameters, encodeFunctionData, keccak256 } from 'viem/utils'
import { type Hex, toHex } from '../../base/hex.ts'
import { SIGNED_GAS_MAX } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { ContractCall } from '../../interface/chain.ts'
import type { ChannelConfig, ChannelId, DepositAuthorization, Voucher } from '../../interface/channel.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Address, Signature } from '../../interface/signer.ts'
import { batchSettlementAbi, splitterFactoryAbi } from '../contracts/contracts.generated.ts'
import type { SplitterFactory } from './splitter.ts'

const abi = batchSettlementAbi

/** One row of a claim. `total` is the total claimed of the channel so far, never above the voucher's ceiling. */
export interface Claim {
  readonly config: ChannelConfig
  readonly voucher: Voucher
  readonly total: Atoms
}

/** The contract methods of a network, as transactions to send. */
export interface SettlementCalls {
  /** If the payer's account has code, the code decides how much gas this takes. */
  deposit(config: ChannelConfig, deposit: DepositAuthorization): ContractCall
  /** Sender: the receiver's authoriser. */
  claim(rows: readonly Claim[]): ContractCall
  /** Transfers the claimed amount of a receiver to it. Sender: any account. */
  settle(receiver: Address): ContractCall
  /** Sender: the receiver's authoriser. Returns at most the unclaimed amount. */
  refund(config: ChannelConfig, amount: Atoms): ContractCall
  /** Sender: any account, with the authoriser's signature. */
  refundWithSignature(config: ChannelConfig, amount: Atoms, nonce: bigint, signature: Signature): ContractCall
  /** Sender: the payer or its authoriser. */
  initiateWithdraw(config: ChannelConfig, amount: Atoms): ContractCall
  /** Sender: the payer or its authoriser, after the channel's delay. */
  finalizeWithdraw(config: ChannelConfig): ContractCall
  /** Pays out a provider's splitter to both sides; creates the splitter if it does not exist. Sender: any account. */
  distribute(factory: SplitterFactory, payout: Address): ContractCall
}

export function settlementCalls({ settlement, collector, usdc }: ChainParameters): SettlementCalls {
  const to = settlement.address
  return {
    deposit: (config, deposit) => {
      const args = [config, deposit.amount, collector.address, collectorData(deposit)] as const
      return { to, data: encodeFunctionData({ abi, functionName: 'deposit', args }), gasMax: SIGNED_GAS_MAX }
    },
    claim: (rows) => ({ to, data: encodeFunctionData({ abi, functionName: 'claim', args: [rows.map(claimRow)] }) }),
    settle: (receiver) => ({
      to,
      data: encodeFunctionData({ abi, functionName: 'settle', args: [receiver, usdc.address] })
    }),
    refund: (config, amount) => ({
      to,
      data: encodeFunctionData({ abi, functionName: 'refund', args: [config, amount] })
    }),
    refundWithSignature: (config, amount, nonce, signature) => {
      const args = [config, amount, nonce, toHex(signature)] as const
      return { to, data: encodeFunctionData({ abi, functionName: 'refundWithSignature', args }) }
    },
    initiateWithdraw: (config, amount) => ({
      to,
      data: encodeFunctionData({ abi, functionName: 'initiateWithdraw', args: [config, amount] })
    }),
    finalizeWithdraw: (config) => ({
      to,
      data: encodeFunctionData({ abi, functionName: 'finalizeWithdraw', args: [config] })
    }),
    distribute: (factory, payout) => ({
      to: factory.address,
      data: encodeFunctionData({ abi: splitterFactoryAbi, functionName: 'distribute', args: [payout, usdc.address] })
    })
  }
}

const COLLECTOR_DATA = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }] as const
const DEPOSIT_NONCE = [{ type: 'bytes32' }, { type: 'uint256' }] as const

/** The nonce of a deposit's authorisation. It binds the money to one channel. The payer never reuses a salt. */
export function depositNonce(channelId: ChannelId, salt: bigint): Hex {
  return keccak256(encodeAbiParameters(DEPOSIT_NONCE, [channelId, salt]))
}

function collectorData({ validAfter, validBefore, salt, signature }: DepositAuthorization): Hex {
  return encodeAbiParameters(COLLECTOR_DATA, [BigInt(validAfter), BigInt(validBefore), salt, toHex(signature)])
}

const claimRow = ({ config, voucher, total }: Claim) => ({
  voucher: { channel: config, maxClaimableAmount: voucher.ceiling },
  signature: toHex(voucher.signature),
  totalClaimed: total
})
