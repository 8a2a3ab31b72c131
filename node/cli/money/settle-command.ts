import type { SettlementView } from '../../admin/money/money-api.ts'
import type { AddCommand } from '../cli.ts'
import { facts } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addSettle: AddCommand = (to, cli) => {
  to.command('settle')
    .description('fetch what was earned from channels, and pay it out: 95% to you, 5% to the treasury')
    .option('--now', 'whether it is worth the gas or not; without asking, a node does it when it is')
    .action(async ({ now }: { now?: boolean }) => {
      if (now !== true) throw new UsageError('A node settles by itself; to do it at once, say --now.')
      const settled = await (await cli.node()).request('POST /settlements')
      await cli.print(settled, () => lines(settled))
      for (const { channel, reason } of settled.refused) {
        cli.terminal.note(`warning: the chain refuses the claim on ${channel}: ${reason}`)
      }
    })
}

function lines({ claimed, settled, distributed, transactions }: SettlementView): string[] {
  return facts([
    ['claimed', `${claimed} USDC from channels`],
    ['settled', `${settled} USDC to the splitter`],
    ['paid out', `${distributed} USDC`],
    ...transactions.map((hash) => ['transaction', hash] as const)
  ])
}
