import type { SettlementView } from '../../admin/money/money-api.ts'
import type { AddCommand } from '../cli.ts'
import { facts } from '../terminal/table.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addSettle: AddCommand = (to, cli) => {
  to.command('settle')
    .description('claim earnings from channels and pay them out: 95% to you, 5% to the treasury')
    .option('--now', 'settle now, even if the gas costs more than the earnings')
    .action(async ({ now }: { now?: boolean }) => {
      if (now !== true) throw new UsageError('A node settles automatically. To settle at once, add --now.')
      const settled = await (await cli.node()).request('POST /settlements')
      await cli.print(settled, () => lines(settled))
      for (const { channel, reason } of settled.refused) {
        cli.terminal.note(`warning: the contract rejected the claim on ${channel}: ${reason}`)
      }
      for (const { to, amount, reason } of settled.withheld) {
        cli.terminal.note(`warning: USDC refuses to send ${amount} to ${to}: ${reason}. The node tries again.`)
        cli.exitCode = EXIT.failed
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
