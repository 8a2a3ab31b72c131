import { type Atoms, limits } from '../../lib/index.ts'
import type { DocumentPut, Documents, Ledger } from '../../lib/interface/index.ts'
import { balanceOf, kindOf } from './account-ledger.ts'

/** By account: the ledger number of the last deposit whose gas a withdrawal has paid. */
const COLLECTION = 'account-deposits-counted'

export interface DepositsPaidOutInit {
  readonly documents: Pick<Documents, 'get'>
  readonly ledger: Pick<Ledger, 'entries'>
}

/** The deposits that funded a withdrawal. */
export interface PaidOut {
  readonly count: bigint
  /** Must be written with the withdrawal, so that each deposit is charged once. */
  readonly mark: DocumentPut
}

/**
 * The operator pays the gas of each deposit. A withdrawal is charged for the deposits that funded its amount, oldest first. Many small
 * deposits thus cost the customer what they cost the operator.
 */
export async function depositsPaidOut(
  { documents, ledger }: DepositsPaidOutInit,
  account: string,
  amount: Atoms
): Promise<PaidOut> {
  let through = Number((await documents.get(COLLECTION, account)) ?? 0)
  let [count, sum] = [0n, 0n]
  for (let isMore = true; isMore && sum < amount; ) {
    const query = { kinds: [kindOf('deposit', account)], after: through, limit: limits.PAGE_MAX }
    const entries = await ledger.entries(query)
    isMore = entries.length === limits.PAGE_MAX
    for (const { seq, postings } of entries) {
      if (sum >= amount) break
      const credit = postings.find((posting) => posting.account === balanceOf(account))
      sum -= credit?.amount ?? 0n
      count++
      through = seq
    }
  }
  return { count, mark: { collection: COLLECTION, key: account, value: String(through) } }
}
