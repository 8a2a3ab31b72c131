import type { AddCommand } from '../cli.ts'

export const addPayout: AddCommand = (to, cli) => {
  const payout = to.command('payout').description('the address that receives your earnings')

  payout
    .command('set')
    .description('set the address that receives 95% of future earnings')
    .argument('<address>', 'account on the network’s chain; keep its key on another machine')
    .action(async (address: string) => {
      const status = await (await cli.node()).request('PUT /payout', { body: { address } })
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
