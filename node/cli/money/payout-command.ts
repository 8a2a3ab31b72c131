import { YES } from '../terminal/confirm.ts'
import type { AddCommand } from '../cli.ts'
import { checkAddress } from '../options/check-typed.ts'

export const addPayout: AddCommand = (to, cli) => {
  const payout = to.command('payout').description('the address that receives your earnings')

  payout
    .command('set')
    .description('set the address that receives 95% of future earnings')
    .argument('<address>', 'account on the network’s chain; keep its key on another machine')
    .option(...YES)
    .action(async (address: string, { yes }: { yes?: boolean }) => {
      await checkAddress(address)
      const node = await cli.node()
      const { payout: before } = await node.request('GET /status')
      const isChange = before !== null && before.toLowerCase() !== address.toLowerCase()
      const consequence = `Now it is ${before}. Future earnings go to the new address, and cannot be returned from it.`
      const question = `Send earnings to ${address}?`
      if (isChange && !(await cli.confirm({ yes, question, consequence }))) return
      const status = await node.request('PUT /payout', { body: { address } })
      await cli.print({ payout: status.payout }, () => [status.payout ?? ''])
      cli.terminal.note('Your listings now name this address. Earlier earnings still go to the old address.')
    })

  payout
    .command('show')
    .description('show the payout address')
    .action(async () => {
      const { payout: address } = await (await cli.node()).request('GET /status')
      await cli.print({ payout: address }, () => [address ?? 'not set'])
    })
}
