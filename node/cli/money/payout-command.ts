import type { AddCommand } from '../cli.ts'

export const addPayout: AddCommand = (to, cli) => {
  const payout = to.command('payout').description('where your APIs are paid')

  payout
    .command('set')
    .description('pay me there from now on: 95% of what calls cost')
    .argument('<address>', 'an account on the network’s chain; its key is better kept elsewhere')
    .action(async (address: string) => {
      const status = await (await cli.node()).request('PUT /payout', { body: { address } })
      await cli.print({ payout: status.payout }, () => [status.payout ?? ''])
      cli.terminal.note('Your APIs say so from now on. What was earned before still goes where it was to go.')
    })

  payout
    .command('show')
    .description('show where that is')
    .action(async () => {
      const { payout: address } = await (await cli.node()).request('GET /status')
      await cli.print({ payout: address }, () => [address ?? 'nowhere yet'])
    })
}
