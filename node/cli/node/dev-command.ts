import type { AddCommand } from '../cli.ts'
import { checkAddress } from '../options/check-typed.ts'
import { amount, portNumber } from '../options/number-option.ts'

interface GiveFlags {
  readonly usdc: string
  readonly chainRpc?: string
}

const PORT = 8545

/** Commands for the network `dev`: its own chain on this machine, with free play USDC. */
export const addDev: AddCommand = (to, cli) => {
  const dev = to
    .command('dev')
    .description('run the network dev on this machine: a chain with play USDC and a first node, until Ctrl-C')
    .option(
      '--port <port>',
      `port of the chain's JSON-RPC endpoint (default: ${PORT}, or the next free one)`,
      portNumber
    )
    .action(async ({ port }: { port?: number }) => {
      const { startDev } = await import('../../demo/run-dev.ts')
      const stopped = cli.terminal.stopped()
      const wish = { port: port ?? PORT, exact: port !== undefined }
      const running = await cli.during('Starting', startDev(wish, cli.terminal.env))
      const { url, chainId, stateFile, bootstrap } = running
      try {
        await cli.print({ url, chain_id: chainId, state: stateFile, bootstrap }, () => [url])
        const { note } = cli.terminal
        note(`The network dev runs: chain ${chainId} with play USDC, stored in ${stateFile}, and a first node.`)
        note('In another terminal, a node of your own: souk init --network dev')
        note('Ctrl-C stops it. The next run continues from its state.')
        const why = await Promise.race([stopped, running.died])
        if (why !== undefined) {
          note(why)
          cli.exitCode = 1
        }
      } finally {
        await running.close()
      }
    })

  dev
    .command('give')
    .description('send play USDC, and ETH for gas, to an account on a play chain')
    .argument('<address>', 'address of a wallet; souk status shows the address of a node')
    .option('--usdc <amount>', 'amount of play USDC', amount, '10')
    .option('--chain-rpc <url>', 'endpoint of the chain (default: the one of souk dev)')
    .action(async (address: string, { usdc, chainRpc }: GiveFlags) => {
      await checkAddress(address)
      const { givePlayMoney } = await import('../../demo/play-chain.ts')
      await givePlayMoney(address, usdc, chainRpc)
      await cli.print({ address, usdc }, () => [])
      cli.terminal.note(`Sent ${usdc} play USDC, and 1 ETH for gas, to ${address}.`)
    })
}
