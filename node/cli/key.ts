import type { KeyView } from '../admin/api.ts'
import type { AddCommand } from './cli.ts'
import { decimal, duration } from './number-option.ts'
import { moment, table } from './table.ts'

interface IssueOptions {
  readonly label?: string
  readonly expiresIn?: number
  readonly maxPrice?: string
  readonly dailyCap?: string
}

export const addKey: AddCommand = (to, cli) => {
  const key = to.command('key').description('consumer keys of this node’s ingress')

  key
    .command('issue')
    .description('make a key; it is shown this once')
    .option('--label <text>', 'whose it is')
    .option('--expires-in <duration>', 'like 30d, 12h or 15m (default: never)', duration)
    .option('--max-price <usdc>', 'refuse dearer calls (default: 0.05)', decimal)
    .option('--daily-cap <usdc>', 'what its calls may cost in a day, UTC (default: 1)', decimal)
    .action(async ({ label, expiresIn, maxPrice, dailyCap }: IssueOptions) => {
      const issued = await (await cli.node()).issueKey({
        label,
        expires_at: expiresIn === undefined ? undefined : Date.now() + expiresIn,
        max_price: maxPrice,
        daily_cap: dailyCap
      })
      await cli.print(issued, () => [issued.key])
      cli.terminal.note(`This is ${issued.id}. The key is not shown again; send it as X-Consumer-Key.`)
    })

  key
    .command('list')
    .description('keys, without the keys themselves')
    .action(async () => {
      const view = await (await cli.node()).keys()
      await cli.print(view, () => lines(view.keys))
    })

  key
    .command('revoke')
    .description('end a key; calls with it are refused from now on')
    .argument('<id>', 'as key list shows it')
    .action(async (id: string) => {
      const revoked = await (await cli.node()).revokeKey(id)
      await cli.print(revoked, () => [])
      cli.terminal.note(`${revoked.id} is revoked.`)
    })
}

function lines(keys: readonly KeyView[]): string[] {
  return table(
    ['ID', 'KEY', 'STATE', 'MAX PRICE', 'DAILY CAP', 'LABEL', 'MADE (UTC)', 'EXPIRES', 'LAST USED'],
    keys.map((key) => [
      key.id,
      key.hint,
      key.state,
      key.max_price,
      key.daily_cap,
      key.label === '' ? '-' : key.label,
      moment(key.created_at),
      moment(key.expires_at),
      moment(key.last_used_at)
    ])
  )
}
