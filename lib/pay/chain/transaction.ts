import { keccak256, serializeTransaction, toBytes } from 'viem/utils'
import { type Hex, toHex } from '../../base/hex.ts'
import type { ContractCall, Fees } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'

/** All fields of an account's transaction (EIP-1559). */
export interface Transaction extends ContractCall {
  readonly chainId: number
  readonly nonce: number
  /** Gas limit. */
  readonly gas: bigint
  readonly fees: Fees
}

/** A signed transaction. It may be broadcast repeatedly: its bytes and its hash never change. */
export interface SignedTransaction {
  readonly raw: Hex
  readonly hash: Hex
}

/** @throws SoukError `settlement_unavailable` if the key is not available now */
export async function signTransaction(transaction: Transaction, signer: Signer): Promise<SignedTransaction> {
  const { chainId, nonce, gas, fees, to, data } = transaction
  const gasPrices = { maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.tip }
  const unsigned = { type: 'eip1559', chainId, nonce, gas, to, data, ...gasPrices } as const
  const signature = await signer.sign(toBytes(keccak256(serializeTransaction(unsigned))))
  const raw = serializeTransaction(unsigned, {
    r: toHex(signature.subarray(0, 32)),
    s: toHex(signature.subarray(32, 64)),
    yParity: (signature[64] ?? 0) - 27
  })
  return { raw, hash: keccak256(raw) }
}
