import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import type { Atoms } from '../../../lib/index.ts'
import type { Address, ChainParameters } from '../../../lib/interface/index.ts'
import { NETWORKS } from '../../networks.ts'
import type { DemoOptions, DemoServer } from '../demo-server.ts'
import { startAnvil } from './anvil.ts'
import { asBanker, placeContracts } from './place-contracts.ts'
import { rpc } from './rpc.ts'

export interface DevChainOptions extends DemoOptions {
  /**
   * The network to simulate. Default: `dev`. The contracts are our substitutes, whatever the pinned hashes say.
   * @throws Error for a chain with real money
   */
  readonly parameters?: ChainParameters
  /** A block each second while there are transactions (default), or one for each transaction. */
  readonly mining?: 'interval' | 'instant'
  /** File that keeps the chain between runs. Default: the chain is discarded. */
  readonly stateFile?: string
}

/** A local chain with all contracts that Souk needs, and a faucet of play USDC. */
export interface DevChain extends DemoServer, Faucet {
  readonly parameters: ChainParameters
}

/** Mints play money on a dev chain, also if another process runs the chain. */
export interface Faucet {
  /** Mints play USDC. Resolves when mined. */
  mint(to: Address, amount: Atoms): Promise<void>
  /** Sets an account’s balance for gas, in wei. Default: 1 ether. */
  fundGas(account: Address, wei?: bigint): Promise<void>
}

/** Chains with real money. A simulated chain must never use such an id, because signatures would be valid there. */
const REAL_CHAINS = [1, 8453]

/** Enough gas for thousands of claims. */
const ETHER = 10n ** 18n

const MINT = parseAbi(['function mint(address to, uint256 amount)'])

export async function startDevChain(options: DevChainOptions = {}): Promise<DevChain> {
  const { port = 0, host = '127.0.0.1', parameters = NETWORKS.dev.chain, mining = 'interval', stateFile } = options
  const { chainId, usdc } = parameters
  if (REAL_CHAINS.includes(chainId)) throw new Error(`Chain ${chainId} has real money, so it cannot be simulated.`)
  const anvil = await startAnvil({ port, host, chainId, mining, ...(stateFile !== undefined && { stateFile }) })
  try {
    await placeContracts(anvil.url, parameters)
  } catch (error) {
    await anvil.close()
    throw error
  }
  return { ...anvil, ...faucet(anvil.url, usdc.address), parameters: { ...parameters, rpcUrl: anvil.url } }
}

export function faucet(url: string, usdc: Address = NETWORKS.dev.chain.usdc.address): Faucet {
  return {
    mint: (to, amount) => asBanker(url, usdc, encodeFunctionData({ abi: MINT, args: [to, amount] })),
    async fundGas(account, wei = ETHER) {
      await rpc(url, 'anvil_setBalance', [account, numberToHex(wei)])
    }
  }
}
