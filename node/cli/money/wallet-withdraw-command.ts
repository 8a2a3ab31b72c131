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
    .description('send USDC from the wallet away; what is in channels has to come back first')
    .argument('<amount>', 'in USDC', decimal)
    .requiredOption('--to <address>', 'an account on the network’s chain')
    .option('--yes', 'without being asked')
    .option('--id <id>', 'a name for it: again under the same name, nothing is sent twice')
    .action(async (amount: string, { to: address, yes, id = randomUUID() }: WithdrawFlags) => {
      const node = await cli.node()
      const { address: from, network, money, balance, held } = await node.request('GET /wallet')
      if (held !== null && held !== '0') {
        cli.terminal.note(
          `Of ${balance} ${money} in it, prepaid accounts hold ${held}: they are paid out of this wallet.`
        )
      }
      if (yes !== true) {
        if (!cli.canAsk)
          throw new UsageError('Nobody is here to be asked whether that is right.', 'the same with --yes')
        cli.terminal.note(`From ${from} to ${address}, on ${network}. It cannot be taken back.`)
        const answer = await cli.terminal.ask(`Send ${amount} ${money}? [y/N] `)
        if (!/^y(es)?$/i.test(answer)) {
          cli.terminal.note('Nothing was sent.')
          cli.exitCode = EXIT.failed
          return
        }
      }
      cli.terminal.note(`If this breaks off, ask for the same again with: --id ${id}`)
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
