import { SoukError } from '../../base/errors.ts'
import { GAS_SPARE, TRANSACTION_GAS_MAX } from '../../base/limits/chain.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'
import { capped } from './fee-bump.ts'
import type { Submission } from './submission.ts'
import type { SignedSubmission, Submissions } from './submissions.ts'
import { signTransaction } from './transaction.ts'

export interface PlanSignerInit {
  readonly chain: Chain
  readonly plans: Submissions
  readonly signer: Signer
}

/** The result of signing a plan: a signed plan on disk, or the reason why not. */
export type SignedPlan = SignedSubmission | SoukError

/**
 * Gives a plan its nonce and signs it. No transaction of the plan is sent yet, so a plan that the chain would refuse, or whose
 * gas the account cannot pay, is dropped without harm.
 * @throws SoukError `settlement_unavailable` if the endpoint cannot tell now; `internal_error` from the store
 */
export async function signPlan(init: PlanSignerInit, plan: Submission, latestNonce: number): Promise<SignedPlan> {
  const { chain, plans, signer } = init
  const { call } = plan
  if (call === undefined) return new SoukError('internal_error', 'A plan has no call.')
  const [simulation, asked, gas] = await Promise.all([
    chain.simulate(signer.address, call),
    chain.fees(),
    chain.gas(signer.address)
  ])
  if (!simulation.ok) {
    return new SoukError('payment_rejected', `The chain would reject this transaction: ${simulation.reason}.`)
  }
  const fees = capped(asked)
  // The contract's state may change before the transaction is mined, so it gets spare gas.
  const limit = simulation.gas + simulation.gas / 4n + GAS_SPARE
  if (limit > TRANSACTION_GAS_MAX) {
    return new SoukError(
      'payment_rejected',
      'The transaction needs more gas than this node allows for one transaction.'
    )
  }
  const taken = plans.unmined().reduce((sum, { signed }) => sum + signed.gas * signed.fees.maxFee, 0n)
  if (gas < taken + limit * fees.maxFee) {
    return new SoukError('settlement_unavailable', `${signer.address} has too little ETH on this chain for the gas.`)
  }
  const nonce = plans.freeNonce(latestNonce)
  const { chainId } = chain.parameters
  const version = await signTransaction({ ...call, chainId, nonce, gas: limit, fees }, signer)
  const signed = { ...plan, signed: { ...version, nonce, gas: limit, fees, replaced: [] } }
  await plans.save(signed)
  return signed
}
