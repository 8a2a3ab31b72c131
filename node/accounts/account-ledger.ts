import type { Atoms } from '../../lib/index.ts'
import type { Entry } from '../../lib/interface/index.ts'

/**
 * Hosted accounts in the ledger. What customers hold is a credit of the operator: their balances, and the slices of them that
 * processes spend from. The other side is what came in for it.
 */

/** Money that came in for balances, less what went out again. */
export const PREPAID = 'prepaid'

/** What customers paid for the gas of their withdrawals. */
export const WITHDRAWAL_FEES = 'withdrawal-fees'

/** Balances and leases alike begin so: what a customer has is read in one go. */
export const ACCOUNTS = 'account/'
export const balanceOf = (account: string): string => `${ACCOUNTS}${account}`
/** What a process holds of a balance: it alone charges calls to it, as long as it lives. */
export const leasedTo = (account: string, holder: string): string => `${balanceOf(account)}/${holder}`
/** What has left the balance and is on its way out. */
export const withdrawingFrom = (account: string): string => `withdrawing/${account}`
/** What calls brought the operator; its own wallet pays their owners. */
export const soldTo = (account: string): string => `sold/${account}`

/** What a customer sees of an account: events of a kind of its own, which finds them. */
export const ENTRY_KINDS = ['deposit', 'charge', 'withdrawal', 'withdrawal_failed'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]
export const kindOf = (kind: EntryKind, account: string): string => `${kind}/${account}`

/** Beginnings of the kinds of entries that every call makes more of: they may be deleted for their age. */
export const TRIMMED_KINDS = ['lease', 'unlease', 'charge/'] as const

/** From one account to another. Kind and reference name the event, so that it happens once. */
export function moved(event: Omit<Entry, 'postings'>, amount: Atoms, from: string, to: string): Entry {
  const postings = [
    { account: from, amount },
    { account: to, amount: -amount }
  ]
  return { ...event, postings }
}

/** Account and holder of a lease's name; undefined for any other. */
export function readLease(name: string): { account: string; holder: string } | undefined {
  const [, account, holder, ...rest] = name.split('/')
  const isLease = name.startsWith(ACCOUNTS) && account !== undefined && holder !== undefined && rest.length === 0
  return isLease ? { account, holder } : undefined
}
