import { EARNINGS_COLUMNS } from '../../admin/money/earnings-columns.ts'
import type { EarningsView, ProviderEarningsView } from '../../admin/money/money-api.ts'
import type { AddCommand } from '../cli.ts'
import { csvLine } from '../terminal/csv.ts'
import { facts, moment } from '../terminal/table.ts'

export const addEarnings: AddCommand = (to, cli) => {
  to.command('earnings')
    .description('show your earnings, and where the money is')
    .option('--csv', 'comma-separated, amounts in USDC')
    .action(async ({ csv }: { csv?: boolean }) => {
      const view = await (await cli.node()).request('GET /earnings')
      if (csv === true) await cli.terminal.write(csvOf(view))
      else await cli.print(view, () => lines(view))
      if (view.providers.length === 0)
        cli.terminal.note(
          'There are no earnings yet.\nTry: souk api list, to see what this node sells; or souk sell <url>'
        )
      if (view.stale) cli.terminal.note('warning: the chain does not respond. These figures are from an earlier read.')
      if (view.as_of !== null) {
        cli.terminal.note(`Payouts are final up to block ${view.as_of.block}, ${moment(view.as_of.at)} UTC.`)
      }
    })
}

function csvOf({ providers }: EarningsView): string {
  const rows = providers.map((provider) => EARNINGS_COLUMNS.map((column) => provider[column]))
  return [EARNINGS_COLUMNS, ...rows].map(csvLine).join('')
}

function lines({ providers, money, gas, credit }: EarningsView): string[] {
  if (providers.length === 0) return []
  const blocks = providers.map((provider) => providerLines(provider, money))
  const spent = facts([
    ['gas', `${gas.cost} ETH for ${gas.transactions} transactions`],
    ...(credit.used === '0' ? [] : [['on credit', `${credit.used} of ${credit.max} ${money}`] as const])
  ])
  return [...blocks.flatMap((block) => [...block, '']), ...spent]
}

function providerLines(provider: ProviderEarningsView, money: string): string[] {
  const { payout, splitter, gross, net, fee, paid_provider: yours, paid_treasury: theirs, transactions } = provider
  const stages: Array<readonly [string, string, string]> = [
    ['in channels', provider.captured, ''],
    ['being claimed', provider.claiming, ', not final yet'],
    ['claimed', provider.claimed, ''],
    ['in the splitter', provider.waiting, '']
  ]
  return facts([
    ['provider', payout ?? `no payout address on this node (splitter ${splitter})`],
    ['earned', `${gross} ${money}: ${net} for the provider, ${fee} for the treasury`],
    ...(provider.direct === '0' ? [] : [['direct payments', `${provider.direct} ${money}`] as const]),
    ...(provider.others === '0' ? [] : [['from other nodes', `${provider.others} ${money}`] as const]),
    ...(provider.written_off === '0' ? [] : [['written off', `${provider.written_off} ${money}`] as const]),
    ...stages
      .filter(([, amount]) => amount !== '0')
      .map(([name, amount, more]) => [name, `${amount} ${money}${more}`] as const),
    ['paid out', `${yours} ${money} to the provider, ${theirs} ${money} to the treasury`],
    ...transactions.map(({ what, hash, block }) => [what, `${hash} in block ${block}`] as const)
  ])
}
