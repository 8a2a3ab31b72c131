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

/** Checks what can keep a node from paying and from being paid. Empty for a node that does neither. */
export function moneyChecks({ money, whyFree, payout, registrations }: MoneyChecksInit): Finding[] {
  if (money === undefined) return whyFree === undefined ? [] : [warn('money', 'Free calls only.', whyFree)]
  const isSelling = registrations
    .list()
    .some(({ registration }) => registration.kind === 'own' && parseUsdc(registration.terms.price) > 0n)
  return [chainCheck(money), walletCheck(money), gasCheck(money, isSelling), ...payoutCheck(money, payout, isSelling)]
}

/** Show only the endpoint’s host: its URL may contain an access key. */
async function chainCheck({ chain, health }: Money): Promise<DoctorCheck> {
  const { chainId, rpcUrl } = chain.parameters
  const host = new URL(rpcUrl).host
  try {
    await chain.verify()
    return ok('chain', `chain ${chainId}, through ${host}`)
  } catch (error) {
    return fail('chain', `${asSoukError(error).message} (${host})`, health.hint)
  }
}

async function walletCheck({ chain, wallet, name }: Money): Promise<DoctorCheck> {
  const balance = await chain.balance(wallet, 'latest').catch(() => undefined)
  if (balance === undefined) return warn('wallet', 'The balance is unknown.', 'see the check of the chain')
  const text = `${formatUsdc(balance)} ${name} in ${checksummed(wallet)}`
  return balance > 0n ? ok('wallet', text) : warn('wallet', text, `to pay for calls, send some ${name} there`)
}

/** An owner needs gas to claim earnings. A consumer needs it only to withdraw from a channel whose owner does not respond. */
async function gasCheck({ chain, wallet, paymentScheme }: Money, isSelling: boolean): Promise<DoctorCheck> {
  const gas = await chain.gas(wallet).catch(() => undefined)
  if (gas === undefined) return warn('gas', 'The gas balance is unknown.', 'see the check of the chain')
  const { claimsInHand } = paymentScheme.settlement.redeemer.status()
  const lasts = claimsInHand === undefined ? '' : `, enough for ${claimsInHand} claims`
  const text = `${formatEther(gas)} ETH${lasts}`
  const hint = `send a little ETH to ${checksummed(wallet)}`
  if (gas > 0n && !(isSelling && claimsInHand !== undefined && claimsInHand < limits.CLAIMS_IN_HAND_MIN))
    return ok('gas', text)
  if (isSelling) return fail('gas', `${text}: the node cannot open channels or claim earnings.`, hint)
  return warn('gas', `${text}: calls need none, but withdrawing from an unresponsive owner does.`, hint)
}

function payoutCheck(money: Money, payout: Address | undefined, isSelling: boolean): Finding[] {
  if (payout !== undefined) return [refusalCheck(money, payout)]
  return isSelling ? [fail('payout', 'No payout address is set.', 'souk payout set <address>')] : []
}

/** USDC can be paused, and its issuer can freeze accounts. Earnings of a former payout address may be withheld too. */
async function refusalCheck({ paymentScheme }: Money, payout: Address): Promise<DoctorCheck> {
  const { redeemer } = paymentScheme.settlement
  const text = checksummed(payout)
  const reason = await redeemer.payoutRefusal(payout)
  if (reason !== undefined) {
    const hint = 'wait until USDC allows it. A new address gets only later earnings: souk payout set <address>'
    return warn('payout', `USDC refuses to pay ${text}: ${reason}.`, hint)
  }
  const [withheld] = redeemer.status().withheld
  if (withheld === undefined) return ok('payout', text)
  const { to, amount, reason: why } = withheld
  const stuck = `When last tried, USDC refused to send ${formatUsdc(amount)} to ${checksummed(to)}: ${why}.`
  return warn('payout', stuck, 'souk settle --now')
}
