import type { AddCommand } from '../cli.ts'
import { decimal, portNumber } from '../options/number-option.ts'

interface GiveFlags {
  readonly usdc: string
  readonly chainRpc?: string
}

const PORT = 8545

/** The money of the network `dev`: a chain on this machine, and play USDC for the asking. */
export const addDevChain: AddCommand = (to, cli) => {
  const chain = to.command('dev-chain').description('a chain on this machine with play USDC, for the network dev')

  chain
    .command('up')
    .description('run it until Ctrl-C; the next time it goes on where it was')
    .option('--port <port>', `of its JSON-RPC endpoint; nodes look at ${PORT} by themselves`, portNumber, PORT)
    .action(async ({ port }: { port: number }) => {
      const { startPlayChain } = await import('../../demo/play-chain.ts')
      const stopped = cli.terminal.stopped()
      const running = await startPlayChain(port, cli.terminal.env)
      const { url, chainId, stateFile } = running
      try {
        await cli.print({ url, chain_id: chainId, state: stateFile }, () => [url])
        cli.terminal.note(`Chain ${chainId} with play USDC, kept in ${stateFile}. Ctrl-C stops it.`)
        cli.terminal.note('Money for a wallet: souk dev-chain give <address>')
        await stopped
      } finally {
        await running.close()
      }
    })

  chain
    .command('give')
    .description('play USDC, and ETH for gas, to an account')
    .argument('<address>', 'of a wallet; souk status shows that of a node')
    .option('--usdc <amount>', 'how much play USDC', decimal, '10')
    .option('--chain-rpc <url>', 'endpoint of the chain (default: the one of the network dev)')
    .action(async (address: string, { usdc, chainRpc }: GiveFlags) => {
      const { givePlayMoney } = await import('../../demo/play-chain.ts')
      await givePlayMoney(address, usdc, chainRpc)
      await cli.print({ address, usdc }, () => [])
      cli.terminal.note(`${address} has ${usdc} play USDC more, and 1 ETH for gas.`)
    })
}
