import { loadConfig } from '../../config.ts'
import type { AddCommand } from '../cli.ts'
import { facts } from '../terminal/table.ts'

interface DeployFlags {
  readonly network?: string
  readonly treasury?: string
  readonly chainRpc?: string
  readonly passphraseFile?: string
}

export const addNetwork: AddCommand = (to, cli) => {
  const network = to.command('network').description('set up a new network')

  network
    .command('deploy')
    .description("deploy the network's splitter factory to its chain; does nothing if it is already deployed")
    .option('--network <network>', 'dev, base-sepolia or base, if the profile has no network yet')
    .option('--treasury <address>', 'account that receives 5% of all payments on this network; cannot be changed later')
    .option('--chain-rpc <url>', "JSON-RPC endpoint of the network's chain (default: a public one)")
    .option('--passphrase-file <file>', "file with the passphrase of the profile's wallet, which pays the gas")
    .action(async ({ passphraseFile, ...flags }: DeployFlags) => {
      const config = await loadConfig({ flags: { ...flags }, profile: cli.profile, env: cli.terminal.env })
      const { createNetwork } = await import('../../create-network.ts')
      const founded = await cli.during('Waiting for the chain', createNetwork(config, passphraseFile))
      await cli.print(founded, () =>
        facts([
          ['network', `${founded.network} (chain ${founded.chain_id})`],
          ['treasury', founded.treasury],
          ['splitter factory', founded.splitter_factory],
          ['transaction', founded.transaction ?? 'none: already deployed']
        ])
      )
      if (founded.treasury_known) return
      cli.terminal.note(`Every node of this network must start with: souk up --treasury ${founded.treasury}`)
    })
}
