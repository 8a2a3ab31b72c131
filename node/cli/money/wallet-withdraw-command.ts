import { randomUUID } from 'node:crypto'
import type { AddCommand } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { decimal } from '../options/number-option.ts'
import { facts } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface WithdrawFlags {
  readonly to: string
  readonly yes?: boolean
  readonly id?: string
}

export const addWalletWithdraw: AddCommand = (to, cli) => {
  to.command('withdraw')
    .description('send USDC from the wallet; close channels first to include their deposits')
    .argument('<amount>', 'in USDC', decimal)
    .requiredOption('--to <address>', 'account on the network’s chain')
    .option('--yes', 'do not ask for confirmation')
    .option('--id <id>', 'id of this withdrawal; a repeat with the same id sends nothing more')
    .action(async (amount: string, { to: address, yes, id = randomUUID() }: WithdrawFlags) => {
      const node = await cli.node()
      const { address: from, network, money, balance, held } = await node.request('GET /wallet')
      if (held !== null && held !== '0') {
        cli.terminal.note(`${held} of the ${balance} ${money} in the wallet belongs to prepaid accounts.`)
      }
      if (yes !== true) {
        if (!cli.canAsk)
          throw new UsageError(
            'The withdrawal needs a confirmation, but there is no terminal.',
            'the same command with --yes'
          )
        cli.terminal.note(`From ${from} to ${address}, on ${network}. It cannot be undone.`)
        const answer = await cli.terminal.ask(`Send ${amount} ${money}? [y/N] `)
        if (!/^y(es)?$/i.test(answer)) {
          cli.terminal.note('Nothing was sent.')
          cli.exitCode = EXIT.failed
          return
        }
      }
      cli.terminal.note(`If this command fails, repeat it with: --id ${id}`)
      const sent = await node.request('POST /wallet/withdrawals', { body: { amount, to: address, id } })
      await cli.print({ ...sent, id }, () =>
        facts([
          ['sent', `${sent.amount} ${money}`],
          ['to', sent.to],
          ['transaction', sent.transaction]
        ])
      )
    })
}
