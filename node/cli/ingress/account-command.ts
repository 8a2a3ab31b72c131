import type { AccountView } from '../../admin/api.ts'
import type { AddCommand } from '../cli.ts'
import { facts, moment, table } from '../terminal/table.ts'

export const addAccount: AddCommand = (to, cli) => {
  const account = to.command('account').description('prepaid accounts at this node’s ingress')

  account
    .command('open')
    .description('make one with a key, which is shown this once')
    .option('--label <text>', 'whose it is')
    .action(async ({ label }: { label?: string }) => {
      const opened = await (await cli.node()).request('POST /accounts', { body: { label } })
      await cli.print(opened, () => [opened.key])
      cli.terminal.note(
        `This is the key of ${opened.id}. It is not shown again; money comes in by POST /v1/account/deposits.`
      )
    })

  account
    .command('list')
    .description('all of them, and what they come to')
    .action(async () => {
      const view = await (await cli.node()).request('GET /accounts')
      await cli.print(view, () => lines(view.accounts))
      cli.terminal.note(`Owed to customers: ${view.owed} USDC.`)
    })

  account
    .command('show')
    .description('show one of them')
    .argument('<id>', 'as account list shows it')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('GET /accounts/:id', { params: { id } })
      await cli.print(view, () =>
        facts([
          ['account', view.id],
          ['label', view.label === '' ? '-' : view.label],
          ['balance', `${view.balance} USDC, of which ${view.set_aside} set aside for calls`],
          ['spent', `${view.spent} USDC`],
          ['paid in from', view.funding ?? 'nowhere yet'],
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
