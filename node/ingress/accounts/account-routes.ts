import { z } from 'zod'
import { formatUsdc, limits, SoukError } from '../../../lib/index.ts'
import { accountMembers } from '../../accounts/account-view.ts'
import type { Account, AccountEntry, Accounts } from '../../accounts/accounts.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import type { RequestParts } from '../account-request.ts'
import { pageQuery } from '../parameters.ts'
import type { PerIp } from '../per-ip.ts'
import { routesWith } from '../route.ts'
import { accountSchema, entrySchema, openedAccountSchema, page } from '../views.ts'

export interface AccountContext extends RequestParts {
  /** Unauthenticated callers may open accounts. */
  readonly opensAccounts: boolean
  /** Limits how many accounts one host may open. */
  readonly openings: PerIp
}

const route = routesWith<AccountContext>()

/** Prepaid accounts. Amounts are decimal USDC strings. */
export const accountRoutes = [
  route({
    method: 'POST',
    path: '/v1/account',
    summary: 'Opens a prepaid account and returns its managing key.',
    body: z.strictObject({ label: z.string().optional() }),
    response: openedAccountSchema,
    status: 201,
    admit({ opensAccounts, openings }, { raw }) {
      if (!opensAccounts) {
        throw new SoukError(
          'ingress_not_allowed',
          'This node does not let callers open accounts. Ask the operator for a key.'
        )
      }
      openings.count(raw)
    },
    async handler({ accounts }, { body }) {
      const { account, key } = await accounts.open(body.label)
      return { ...(await view(accounts, account, { ...key, keyId: key.id })), key: key.key }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/account',
    summary: 'The account that the key belongs to.',
    auth: 'account',
    response: accountSchema,
    handler: ({ accounts }, { caller }) => view(accounts, caller.account, caller.holder)
  }),
  route({
    method: 'GET',
    path: '/v1/account/entries',
    summary: 'The account’s statement.',
    auth: 'manager',
    query: pageQuery,
    response: page(entrySchema),
    async handler({ accounts }, { caller, query: { limit = limits.PAGE_MAX, cursor = 0 } }) {
      const entries = await accounts.entries(caller.account.id, { after: cursor, limit })
      const last = entries.length === limit ? entries.at(-1) : undefined
      return { data: entries.map(entryView), next_cursor: last === undefined ? null : String(last.seq) }
    }
  })
] as const

async function view(accounts: Accounts, account: Account, holder: KeyHolder) {
  return {
    ...(await accountMembers(accounts, account)),
    currency: 'USDC' as const,
    created_at: new Date(account.createdAt).toISOString(),
    key_id: holder.keyId,
    key_hint: holder.hint,
    max_price: formatUsdc(holder.maxPrice),
    daily_cap: formatUsdc(holder.dailyCap),
    manages: holder.manages === true
  }
}

function entryView({ kind, reference, at, amount }: AccountEntry) {
  return { kind, reference, at: new Date(at).toISOString(), amount: formatUsdc(amount) }
}
