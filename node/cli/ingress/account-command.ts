import type { AccountView } from '../../admin/api.ts'
import type { AddCommand } from '../cli.ts'
import { facts, moment, table } from '../terminal/table.ts'

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
      const view = await (await cli.node()).request('GET /accounts')
      await cli.print(view, () => lines(view.accounts))
      cli.terminal.note(`Owed to customers: ${view.owed} USDC.`)
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

function lines(accounts: readonly AccountView[]): string[] {
  return table(
    ['ID', 'BALANCE', 'SPENT', 'LABEL', 'MADE (UTC)'],
    accounts.map(({ id, balance, spent, label, created_at }) => [
      id,
      balance,
      spent,
      label === '' ? '-' : label,
      moment(created_at)
    ])
  )
}
