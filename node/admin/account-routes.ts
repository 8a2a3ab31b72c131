import type { FastifyInstance } from 'fastify'
import { formatUsdc } from '../../lib/index.ts'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { type AccountsView, type AccountView, type OpenedAccountView, openAccountSchema } from './api.ts'
import { parse } from './problems.ts'
import type { AdminInit } from './admin-init.ts'

/** Prepaid accounts of this node's ingress, and of those that share its store. */
export function accountRoutes(app: FastifyInstance, { accounts }: AdminInit): void {
  app.get('/accounts', async (): Promise<AccountsView> => {
    const all = await accounts.list()
    const views: AccountView[] = []
    for (const account of all) views.push(await viewOf(accounts, account))
    return { accounts: views, owed: formatUsdc(await accounts.held()) }
  })

  app.get<{ Params: { id: string } }>('/accounts/:id', async (request): Promise<AccountView> => {
    return viewOf(accounts, await accounts.get(request.params.id))
  })

  app.post('/accounts', async (request, reply): Promise<OpenedAccountView> => {
    const { label } = parse(openAccountSchema, request.body)
    const { account, key } = await accounts.open(label)
    reply.code(201)
    return { ...(await viewOf(accounts, account)), key: key.key, key_id: key.id }
  })
}

async function viewOf(accounts: Accounts, account: Account): Promise<AccountView> {
  const { id, label, createdAt, funding } = account
  const { balance, setAside } = await accounts.balance(id)
  return {
    id,
    label,
    balance: formatUsdc(balance),
    set_aside: formatUsdc(setAside),
    spent: formatUsdc(await accounts.spent(id)),
    funding: funding ?? null,
    created_at: createdAt
  }
}
