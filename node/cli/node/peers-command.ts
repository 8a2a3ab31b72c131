import type { AddCommand } from '../cli.ts'
import { table } from '../terminal/table.ts'

export const addPeers: AddCommand = (to, cli) => {
  to.command('peers')
    .description('list the connected nodes')
    .action(async () => {
      const view = await (await cli.node()).request('GET /peers')
      await cli.print(view, () =>
        view.peers.length === 0
          ? []
          : table(
              ['PEER', 'ADDRESSES'],
              view.peers.map(({ peer, addresses }) => [peer, addresses.join(' ')])
            )
      )
      if (view.peers.length === 0)
        cli.terminal.note('No peer is connected.\nTry: souk up --bootstrap <multiaddr of a peer>')
    })
}
