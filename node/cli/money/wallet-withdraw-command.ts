import { randomUUID } from 'node:crypto'
import type { AddCommand } from '../cli.ts'
import { checkAddress } from '../options/check-typed.ts'
import { amount as amountOption } from '../options/number-option.ts'
import { YES } from '../terminal/confirm.ts'
import { facts } from '../terminal/table.ts'

interface WithdrawFlags {
  readonly to: string
  readonly yes?: boolean
  readonly id?: string
}

export const addWalletWithdraw: AddCommand = (to, cli) => {
  to.command('withdraw')
    .description('send USDC from the wallet; close channels first to include their deposits')
    .argument('<amount>', 'in USDC', amountOption)
    .requiredOption('--to <address>', 'account on the network’s chain')
    .option(...YES)
    .option('--id <id>', 'id of this withdrawal; a repeat with the same id sends nothing more')
    .action(async (amount: string, { to: address, yes, id = randomUUID() }: WithdrawFlags) => {
      await checkAddress(address)
      const node = await cli.node()
      const { address: from, network, money, balance, held } = await node.request('GET /wallet')
      if (held !== null && held !== '0') {
        cli.terminal.note(`${held} of the ${balance} ${money} in the wallet belongs to prepaid accounts.`)
      }
      const consequence = `From ${from} to ${address}, on ${network}. It cannot be undone.`
      if (!(await cli.confirm({ yes, question: `Send ${amount} ${money}?`, consequence }))) return
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
