import type { Atoms } from '../../lib/index.ts'
import type { Entry } from '../../lib/interface/index.ts'

/**
 * Hosted accounts in the ledger. The operator owes customers their balances, including the leases that processes spend from. The contra
 * account holds the deposits.
 */

/** Deposits into balances, less withdrawals. */
export const PREPAID = 'prepaid'

/** Gas fees that customers paid for withdrawals. */
export const WITHDRAWAL_FEES = 'withdrawal-fees'

/** Prefix of balances and leases, so that one read returns all that a customer has. */
export const ACCOUNTS = 'account/'
export const balanceOf = (account: string): string => `${ACCOUNTS}${account}`
/** The lease of a process on a balance. Only that process charges calls to it while it lives. */
export const leasedTo = (account: string, holder: string): string => `${balanceOf(account)}/${holder}`
/** Money that left the balance for a withdrawal under way. */
export const withdrawingFrom = (account: string): string => `withdrawing/${account}`
/** Revenue from calls. The operator’s own wallet pays the providers. */
export const soldTo = (account: string): string => `sold/${account}`

/** The entries that a customer sees. Each has its own kind, by which it is found. */
export const ENTRY_KINDS = ['deposit', 'charge', 'withdrawal', 'withdrawal_failed'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]
export const kindOf = (kind: EntryKind, account: string): string => `${kind}/${account}`

/** Prefixes of the kinds that every call adds entries of. Such entries may be deleted when old. */
export const TRIMMED_KINDS = ['lease', 'unlease', 'charge/'] as const

/** A transfer between two accounts. Kind and reference identify the event, so it is recorded once. */
export function moved(event: Omit<Entry, 'postings'>, amount: Atoms, from: string, to: string): Entry {
  const postings = [
    { account: from, amount },
    { account: to, amount: -amount }
  ]
  return { ...event, postings }
}

/** Account and holder in a lease’s name; undefined for other names. */
export function readLease(name: string): { account: string; holder: string } | undefined {
  const [, account, holder, ...rest] = name.split('/')
  const isLease = name.startsWith(ACCOUNTS) && account !== undefined && holder !== undefined && rest.length === 0
  return isLease ? { account, holder } : undefined
}
