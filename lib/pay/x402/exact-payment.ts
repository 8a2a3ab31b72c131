import { encodeFunctionData } from 'viem/utils'
import { type Hex, isHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { AuthorizedTransfer, Chain, ContractCall } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'
import { malformed } from './payment-text.ts'

/** A payer's word that one amount may be moved to one account, by anybody (EIP-3009). Times are Unix seconds. */
export interface ExactPayment {
  readonly from: Address
  readonly to: Address
  readonly value: Atoms
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes. */
  readonly nonce: Hex
  /** Of an account's key, or whatever the payer's contract takes for one. */
  readonly signature: Hex
}

/** A payer uses no nonce twice: this is the payment's name. */
export const nameOf = ({ from, nonce }: ExactPayment): string => `${from}/${nonce}`

const NUMBER = /^\d{1,78}$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/

/** The scheme's part of an `exact` payment. @throws SoukError `payment_malformed` */
export function readExact({ authorization, signature }: Record<string, unknown>): ExactPayment {
  const { from, to, value, validAfter, validBefore, nonce } = (authorization ?? {}) as Record<string, unknown>
  const number = (text: unknown): bigint => {
    if (typeof text !== 'string' || !NUMBER.test(text)) throw malformed('a number of its authorization is none')
    return BigInt(text)
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

/** Moves the money. Anybody may send it, once. */
export function transferCall(usdc: Address, payment: ExactPayment): ContractCall {
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  return { to: usdc, data: encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args }) }
}

/**
 * The transfer that a payment's authorisation was used for by somebody else: anybody may send it. Undefined where its money went elsewhere,
 * or where it is not seen.
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
