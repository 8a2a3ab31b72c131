import type { AccountView } from '../../admin/api.ts'
import type { AddCommand } from '../cli.ts'
import { allPages } from '../options/all-pages.ts'
import { type Column, day, facts, moment } from '../terminal/table.ts'

export const addAccount: AddCommand = (to, cli) => {
  const account = to.command('account').description('prepaid accounts at this node’s ingress')

  account
    .command('open')
    .description('open an account with a key; the key is shown only once')
    .option('--label <text>', 'name of the account holder')
    .action(async ({ label }: { label?: string }) => {
      const opened = await (await cli.node()).request('POST /accounts', { body: { label } })
      await cli.print(opened, () => [opened.key])
      cli.terminal.note(
        `Key of account ${opened.id}. It is not shown again. To pay in money: POST /v1/account/deposits.`
      )
    })

  account
    .command('list')
    .description('list the accounts, and the sum of their balances')
    .action(async () => {
      const node = await cli.node()
      const pages = await allPages((cursor) => node.request('GET /accounts', { query: { cursor } }))
      const accounts = pages.flatMap((page) => page.accounts).toReversed()
      const { owed } = pages[0]
      await cli.list({ accounts, owed }, accounts, COLUMNS, {
        what: 'No customer has a prepaid account at this ingress.',
        next: 'souk account open --label <customer>'
      })
      if (accounts.length > 0) cli.terminal.note(`Owed to customers: ${owed} USDC.`)
    })

  account
    .command('show')
    .description('show one account')
    .argument('<id>', 'account id from souk account list')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('GET /accounts/:id', { params: { id } })
      await cli.print(view, () =>
        facts([
          ['account', view.id],
          ['label', view.label === '' ? '-' : view.label],
          ['balance', `${view.balance} USDC, of which ${view.set_aside} reserved for calls`],
          ['spent', `${view.spent} USDC`],
          ['paid in from', view.funding ?? 'no deposit yet'],
          ['made (UTC)', moment(view.created_at)]
        ])
      )
    })
}

const COLUMNS: ReadonlyArray<Column<AccountView>> = [
  { head: 'ID', of: ({ id }) => id },
  { head: 'BALANCE', of: ({ balance }) => balance },
  { head: 'SPENT', of: ({ spent }) => spent },
  { head: 'LABEL', of: ({ label }) => label, least: 5 },
  { head: 'MADE (UTC)', of: ({ created_at: at }) => moment(at), short: ({ created_at: at }) => day(at) }
]
