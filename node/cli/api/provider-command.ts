import type { AddCommand } from '../cli.ts'
import { moment } from '../terminal/table.ts'

export const addProvider: AddCommand = (to, cli) => {
  const provider = to.command('provider').description('this provider and the nodes that may serve its APIs')

  provider
    .command('delegate')
    .description('let another node serve the APIs of this provider')
    .argument('<peer id>', 'peer id of that node, from its souk status')
    .action(async (peer: string) => {
      const delegation = await (await cli.node()).request('POST /delegations', { body: { peer } })
      await cli.print(delegation, () => [])
      cli.terminal.note(
        `${delegation.peer} may serve the APIs of ${delegation.provider} until ${moment(delegation.expires_at)} UTC.`
      )
      cli.terminal.note(`On that node, run: souk api serve <name>@${delegation.provider} --endpoint <url>`)
    })

  provider
    .command('delegations')
    .description('list nodes that may serve the APIs of this provider')
    .action(async () => {
      const view = await (await cli.node()).request('GET /delegations')
      await cli.list(
        view,
        view.delegations,
        [
          { head: 'PEER', of: ({ peer }) => peer },
          { head: 'UNTIL (UTC)', of: ({ expires_at: until }) => moment(until) }
        ],
        {
          what: 'No other node may serve the APIs of this provider.',
          next: 'souk provider delegate <peer id>; on the other node, souk status shows its peer id'
        }
      )
    })
}
