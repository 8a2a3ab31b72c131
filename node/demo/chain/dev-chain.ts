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
   * What network it plays. Default: `dev`. The contracts are ours for play whatever the pinned hashes say.
   * @throws Error for a chain with real money on it
   */
  readonly parameters?: ChainParameters
  /** A block each second (default), or one for each transaction. */
  readonly mining?: 'interval' | 'instant'
  /** Keeps the chain in this file between runs. Default: gone when it ends. */
  readonly stateFile?: string
}

/** A chain on this machine with everything that Souk's money needs, and play USDC for the asking. */
export interface DevChain extends DemoServer, Faucet {
  readonly parameters: ChainParameters
}

/** Gives play money away on a dev chain, also one that another process runs. */
export interface Faucet {
  /** Makes new play USDC. Mined when it resolves. */
  mint(to: Address, amount: Atoms): Promise<void>
  /** Sets what an account has for gas, in wei. Default: 1 ether. */
  fundGas(account: Address, wei?: bigint): Promise<void>
}

/** Chains whose signatures are worth real money: a play one must never carry such a number. */
const REAL_CHAINS = [1, 8453]

/** Plenty for any demo: thousands of claims. */
const ETHER = 10n ** 18n

const MINT = parseAbi(['function mint(address to, uint256 amount)'])

export async function startDevChain(options: DevChainOptions = {}): Promise<DevChain> {
  const { port = 0, host = '127.0.0.1', parameters = NETWORKS.dev.chain, mining = 'interval', stateFile } = options
  const { chainId, usdc } = parameters
  if (REAL_CHAINS.includes(chainId)) throw new Error(`Chain ${chainId} has real money on it: it is not played.`)
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
