import { formatUsdc } from '../../../lib/index.ts'
import { accountMembers } from '../../accounts/account-view.ts'
import type { Account, Accounts } from '../../accounts/accounts.ts'
import {
  accountsViewSchema,
  type AccountView,
  accountViewSchema,
  openAccountSchema,
  openedAccountViewSchema
} from '../api.ts'
import { pageOf, pageSchema } from '../page.ts'
import { route } from '../route.ts'

/** Prepaid accounts of this node's ingress, and of all ingress processes that share its database. */
export const accountRoutes = [
  route({
    method: 'GET',
    path: '/accounts',
    summary: 'Prepaid accounts, and the sum of their balances.',
    query: pageSchema,
    response: accountsViewSchema,
    async handler({ accounts }, { query }) {
      const { page, next } = pageOf(await accounts.list(), query)
      const views: AccountView[] = []
      for (const account of page) views.push(await viewOf(accounts, account))
      return { accounts: views, next, owed: formatUsdc(await accounts.held()) }
    }
  }),
  route({
    method: 'POST',
    path: '/accounts',
    summary: 'Opens an account with a key. Only this response shows the key.',
    body: openAccountSchema,
    response: openedAccountViewSchema,
    status: 201,
    async handler({ accounts }, { body }) {
      const { account, key } = await accounts.open(body.label)
      return { ...(await viewOf(accounts, account)), key: key.key, key_id: key.id }
    }
  }),
  route({
    method: 'GET',
    path: '/accounts/:id',
    summary: 'Returns one account.',
    response: accountViewSchema,
    handler: async ({ accounts }, { params }) => viewOf(accounts, await accounts.get(params.id))
  })
] as const

async function viewOf(accounts: Accounts, account: Account): Promise<AccountView> {
  return { ...(await accountMembers(accounts, account)), created_at: account.createdAt }
}
