import { encodeFunctionData } from 'viem/utils'
import type { Chain } from '../../interface/chain.ts'
import { signerOf } from '../signing/signature.ts'
import { tokenDomain } from '../signing/token-domain.ts'
import type { ExactPayment } from './exact-payment.ts'

/** The ERC-1271 interface. */
const ACCOUNT_ABI = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' }
    ],
    outputs: [{ name: 'magic', type: 'bytes4' }]
  }
] as const
const VALID = '0x1626ba7e'

/**
 * True if the payer signed the payment, with a key or as a contract. The token checks only signatures of unused authorisations,
 * and payer and nonce of a used one are public.
 */
export async function isSigned(chain: Pick<Chain, 'parameters' | 'read'>, payment: ExactPayment): Promise<boolean> {
  const { chainId, usdc } = chain.parameters
  const { from, signature } = payment
  const digest = tokenDomain({ ...usdc, chainId, verifyingContract: usdc.address }).transfer(payment)
  if (signerOf(digest, Buffer.from(signature.slice(2), 'hex')) === from) return true
  const args = [`0x${Buffer.from(digest).toString('hex')}`, signature] as const
  const data = encodeFunctionData({ abi: ACCOUNT_ABI, functionName: 'isValidSignature', args })
  return (await chain.read({ to: from, data }))?.startsWith(VALID) ?? false
}
