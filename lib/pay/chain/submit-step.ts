import { keccak256 } from 'viem/utils'
import { SoukError } from '../../base/errors.ts'
import { REDEEM_TRIES_MAX } from '../../base/limits.ts'
import type { ContractCall } from '../../interface/chain.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'

/**
 * Submits a step that harms nobody when it is repeated, and once more under another key where it passed its trial and then
 * failed on chain: something came in between.
 * @returns undefined where the chain refuses it by now
 * @throws SoukError as `Submitter.submit`
 */
export async function submitStep(
  submitter: Submitter,
  key: string,
  call: ContractCall,
  signal?: AbortSignal
): Promise<Mined | undefined> {
  for (let attempt = 1; attempt <= REDEEM_TRIES_MAX; attempt++) {
    const mined = await submitter.submit(attempt === 1 ? key : `${key}/${attempt}`, call, signal).catch(refused)
    if (mined === undefined || mined.receipt.succeeded) return mined
  }
  return undefined
}

/** The same rows give the same key, so that a restarted process finds the claim that is under way. */
export const claimKey = ({ data }: ContractCall): string => `claim/${keccak256(data)}`

function refused(error: unknown): undefined {
  if (error instanceof SoukError && error.code === 'payment_rejected') return undefined
  throw error
}
