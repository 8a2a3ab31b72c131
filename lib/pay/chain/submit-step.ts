import { keccak256 } from 'viem/utils'
import { SoukError } from '../../base/errors.ts'
import { REDEEM_TRIES_MAX } from '../../base/limits/chain.ts'
import type { ContractCall } from '../../interface/chain.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'

/**
 * Submits a step that is safe to repeat. If it passed its simulation but failed on chain, because the state changed in between,
 * submits it again under another key.
 * @returns undefined if the chain would now refuse the step
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

/** The same rows give the same key, so that a restarted process finds its pending claim. */
export const claimKey = ({ data }: ContractCall): string => `claim/${keccak256(data)}`

function refused(error: unknown): undefined {
  if (error instanceof SoukError && error.code === 'payment_rejected') return undefined
  throw error
}
