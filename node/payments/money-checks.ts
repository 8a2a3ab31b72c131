import { asSoukError, checksummed, formatUsdc, limits, parseUsdc } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import type { DoctorCheck } from '../admin/api.ts'
import { type Finding, fail, ok, warn } from '../finding.ts'
import type { Registrations } from '../registrations/registrations.ts'
import { formatEther } from './ether.ts'
import type { Money } from './money.ts'

export interface MoneyChecksInit {
  readonly money: Money | undefined
  readonly whyFree: string | undefined
  readonly payout: Address | undefined
  readonly registrations: Pick<Registrations, 'list'>
}

/** What keeps a node from paying and being paid. Nothing to say of one that does neither. */
export function moneyChecks({ money, whyFree, payout, registrations }: MoneyChecksInit): Finding[] {
  if (money === undefined) return whyFree === undefined ? [] : [warn('money', 'Free calls only.', whyFree)]
  const isSelling = registrations
    .list()
    .some(({ registration }) => registration.kind === 'own' && parseUsdc(registration.terms.price) > 0n)
  return [chainCheck(money), walletCheck(money), gasCheck(money, isSelling), ...payoutCheck(payout, isSelling)]
}

/** The endpoint's URL may carry an access key: only its host is told. */
async function chainCheck({ chain }: Money): Promise<DoctorCheck> {
  const { chainId, rpcUrl } = chain.parameters
  const host = new URL(rpcUrl).host
  try {
    await chain.verify()
    return ok('chain', `chain ${chainId}, through ${host}`)
  } catch (error) {
    return fail('chain', `${asSoukError(error).message} (${host})`, 'souk up --chain-rpc <url of an endpoint>')
  }
}

async function walletCheck({ chain, wallet, name }: Money): Promise<DoctorCheck> {
  const balance = await chain.balance(wallet, 'latest').catch(() => undefined)
  if (balance === undefined) return warn('wallet', 'The balance is not known.', 'see the check of the chain')
  const text = `${formatUsdc(balance)} ${name} in ${checksummed(wallet)}`
  return balance > 0n ? ok('wallet', text) : warn('wallet', text, `to pay for calls, send some ${name} there`)
}

/** An owner needs gas to fetch what it earned; a consumer only to withdraw from an owner that does not answer. */
async function gasCheck({ chain, wallet, paymentScheme }: Money, isSelling: boolean): Promise<DoctorCheck> {
  const gas = await chain.gas(wallet).catch(() => undefined)
  if (gas === undefined) return warn('gas', 'What there is for gas is not known.', 'see the check of the chain')
  const { claimsInHand } = paymentScheme.settlement.redeemer.status()
  const lasts = claimsInHand === undefined ? '' : `, enough for ${claimsInHand} claims`
  const text = `${formatEther(gas)} ETH${lasts}`
  const hint = `send a little ETH to ${checksummed(wallet)}`
  if (gas > 0n && !(isSelling && claimsInHand !== undefined && claimsInHand < limits.CLAIMS_IN_HAND_MIN))
    return ok('gas', text)
  if (isSelling) return fail('gas', `${text}: no channel is opened, and nothing earned is fetched.`, hint)
  return warn('gas', `${text}: calls are paid without, but leaving an owner that does not answer takes some.`, hint)
}

function payoutCheck(payout: Address | undefined, isSelling: boolean): DoctorCheck[] {
  if (payout !== undefined) return [ok('payout', checksummed(payout))]
  return isSelling ? [fail('payout', 'Nobody has said where you are paid.', 'souk payout set <address>')] : []
}
