import type { AddCommand } from '../cli.ts'

export const addPeers: AddCommand = (to, cli) => {
  to.command('peers')
    .description('list the connected nodes')
    .action(async () => {
      const view = await (await cli.node()).request('GET /peers')
      await cli.list(
        view,
        view.peers,
        [
          { head: 'PEER', of: ({ peer }) => peer },
          { head: 'ADDRESSES', of: ({ addresses }) => addresses.join(' '), least: 24 }
        ],
        {
          what: 'No peer is connected.',
          next: 'souk up --bootstrap <multiaddr>; souk status of the other node shows its multiaddr as p2p'
        }
      )
    })
}
