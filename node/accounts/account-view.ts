import { z } from 'zod'
import { formatUsdc } from '../../lib/index.ts'
import { usdc } from '../http/schemas.ts'
import type { Account, Accounts } from './accounts.ts'

/** The members of an account that admin API and ingress show alike. They differ in the format of times. */
export const accountShape = {
  id: z.string(),
  label: z.string(),
  balance: usdc,
  set_aside: usdc.describe('Part of the balance that ingress processes reserved for calls.'),
  spent: usdc,
  funding: z.string().nullable().describe('Address of the deposits. Refunds go to this address.')
}

/** The values of `accountShape`. */
export async function accountMembers(accounts: Accounts, { id, label, funding }: Account) {
  const { balance, setAside } = await accounts.balance(id)
  return {
    id,
    label,
    balance: formatUsdc(balance),
    set_aside: formatUsdc(setAside),
    spent: formatUsdc(await accounts.spent(id)),
    funding: funding ?? null
  }
}
