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
  const network = to.command('network').description('for whoever founds a network')

  network
    .command('deploy')
    .description("put the network's splitter factory onto its chain; repeating it does no harm")
    .option('--network <network>', 'dev, base-sepolia or base, where the profile does not say')
    .option('--treasury <address>', 'who gets the 5% of everything on this network, for good')
    .option('--chain-rpc <url>', "JSON-RPC endpoint of the network's chain (default: a public one)")
    .option('--passphrase-file <file>', "passphrase of the profile's wallet, which pays the gas")
    .action(async ({ passphraseFile, ...flags }: DeployFlags) => {
      const config = await loadConfig({ flags: { ...flags }, profile: cli.profile, env: cli.terminal.env })
      const { createNetwork } = await import('../../create-network.ts')
      const founded = await cli.during('Waiting for the chain', createNetwork(config, passphraseFile))
      await cli.print(founded, () =>
        facts([
          ['network', `${founded.network} (chain ${founded.chain_id})`],
          ['treasury', founded.treasury],
          ['splitter factory', founded.splitter_factory],
          ['transaction', founded.transaction ?? 'none: it was there already']
        ])
      )
      if (founded.treasury_known) return
      cli.terminal.note(`Everybody on this network has to start with: souk up --treasury ${founded.treasury}`)
    })
}
