import { encodeFunctionData } from 'viem/utils'
import { type Hex, isHex } from '../../base/hex.ts'
import { SIGNED_GAS_MAX } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { AuthorizedTransfer, Chain, ContractCall } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'
import { malformed } from './payment-text.ts'

/** A payer's authorisation of one transfer, which any account may submit (EIP-3009). Times are Unix seconds. */
export interface ExactPayment {
  readonly from: Address
  readonly to: Address
  readonly value: Atoms
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes. */
  readonly nonce: Hex
  /** The signature of the account's key, or any bytes that the payer's contract accepts. */
  readonly signature: Hex
}

/** The payment's unique name: a payer uses each nonce once. */
export const nameOf = ({ from, nonce }: ExactPayment): string => `${from}/${nonce}`

const NUMBER = /^\d{1,78}$/
const UINT256_MAX = 2n ** 256n - 1n
const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/

/** Parses the scheme-specific part of an `exact` payment. @throws SoukError `payment_malformed` */
export function readExact({ authorization, signature }: Record<string, unknown>): ExactPayment {
  const { from, to, value, validAfter, validBefore, nonce } = (authorization ?? {}) as Record<string, unknown>
  const number = (text: unknown): bigint => {
    const read = typeof text === 'string' && NUMBER.test(text) ? BigInt(text) : undefined
    if (read === undefined || read > UINT256_MAX) throw malformed('a number of its authorization is invalid')
    return read
  }
  const isSound = isHex(from, 20) && isHex(to, 20) && isHex(nonce, 32)
  if (!isSound || typeof signature !== 'string' || !BYTES.test(signature)) {
    throw malformed('it has no signed EIP-3009 authorization')
  }
  return {
    from: lower(from),
    to: lower(to),
    value: number(value),
    validAfter: number(validAfter),
    validBefore: number(validBefore),
    nonce: lower(nonce),
    signature: lower(signature as Hex)
  }
}

/** The call that transfers the money. Any account may submit it, once. The payer's contract decides how much gas it takes. */
export function transferCall(usdc: Address, payment: ExactPayment): ContractCall {
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args })
  return { to: usdc, data, gasMax: SIGNED_GAS_MAX }
}

/**
 * Another sender's transfer for the payment's authorisation. Undefined if the transfer differs from the payment, or is not found.
 */
export async function foreignTransfer(
  chain: Pick<Chain, 'authorizedTransfer'>,
  { from, to, value, nonce }: ExactPayment,
  sinceMs: number
): Promise<AuthorizedTransfer | undefined> {
  const transfer = await chain.authorizedTransfer(from, nonce, sinceMs)
  return transfer?.to === to && transfer.value === value && transfer.at >= sinceMs ? transfer : undefined
}

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex
