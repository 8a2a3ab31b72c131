import type { AddCommand } from '../cli.ts'
import { decimal, portNumber } from '../options/number-option.ts'

interface GiveFlags {
  readonly usdc: string
  readonly chainRpc?: string
}

const PORT = 8545

/** Commands for the local chain of the network `dev`, which has free play USDC. */
export const addDevChain: AddCommand = (to, cli) => {
  const chain = to.command('dev-chain').description('a chain on this machine with play USDC, for the network dev')

  chain
    .command('up')
    .description('run the chain until Ctrl-C; the next run continues from its state')
    .option('--port <port>', `port of its JSON-RPC endpoint; nodes use ${PORT} by default`, portNumber, PORT)
    .action(async ({ port }: { port: number }) => {
      const { startPlayChain } = await import('../../demo/play-chain.ts')
      const stopped = cli.terminal.stopped()
      const running = await startPlayChain(port, cli.terminal.env)
      const { url, chainId, stateFile } = running
      try {
        await cli.print({ url, chain_id: chainId, state: stateFile }, () => [url])
        cli.terminal.note(`Chain ${chainId} with play USDC, stored in ${stateFile}. Ctrl-C stops it.`)
        cli.terminal.note('Money for a wallet: souk dev-chain give <address>')
        await stopped
      } finally {
        await running.close()
      }
    })

  chain
    .command('give')
    .description('send play USDC, and ETH for gas, to an account')
    .argument('<address>', 'address of a wallet; souk status shows the address of a node')
    .option('--usdc <amount>', 'amount of play USDC', decimal, '10')
    .option('--chain-rpc <url>', 'endpoint of the chain (default: the endpoint of the network dev)')
    .action(async (address: string, { usdc, chainRpc }: GiveFlags) => {
      const { givePlayMoney } = await import('../../demo/play-chain.ts')
      await givePlayMoney(address, usdc, chainRpc)
      await cli.print({ address, usdc }, () => [])
      cli.terminal.note(`Sent ${usdc} play USDC, and 1 ETH for gas, to ${address}.`)
    })
}
