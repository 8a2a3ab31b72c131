import type { RelayFor } from '../lib/index.ts'
import type { ChainParameters, PinnedContract } from '../lib/interface/index.ts'
import type { NetworkFile } from './network/network-file-schema.ts'

/**
 * The definition of a network. A node belongs to one network for good: its profile stores the name, and nodes of different networks do
 * not talk to each other.
 */
export interface Network {
  /** Unique: peers, wallets and stored keys use it to keep networks apart. */
  readonly name: string
  /** One line that helps the user choose. */
  readonly summary: string
  /** Multiaddrs of the first peers, unless the profile names others. */
  readonly bootstrap: readonly string[]
  /** Display name of the currency. */
  readonly money: string
  /** The chain that holds the money. */
  readonly chain: ChainParameters
  /** Announce loopback and private addresses to peers. Only for networks whose peers can reach them. */
  readonly privateAddresses: boolean
  /** The chain mints its money for everybody. */
  readonly isPlay: boolean
  /** The file that defines the network. Absent for a built-in network. */
  readonly file?: NetworkFile
}

/** x402’s contracts have the same addresses on every chain. A `dev` chain has our substitutes there. */
const SETTLEMENT = '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003'
const COLLECTOR = '0x4020806089470a89826cb9fb1f4059150b550004'
const REAL_COLLECTOR: PinnedContract = {
  address: COLLECTOR,
  codeHash: '0x0c2cfe8840e964588598801e8d109593fdc57e16d85f214653139c79186d1f3b'
}

/**
 * The built-in networks. Those on real chains have no treasury yet, so they carry free calls only.
 *
 * @example
 * ```ts
 * import { NETWORKS } from 'souk/node'
 *
 * console.log(NETWORKS['base-sepolia'].money, NETWORKS['base-sepolia'].chain.chainId) // test USDC 84532
 * ```
 */
export const NETWORKS: Readonly<Record<'dev' | 'base-sepolia' | 'base', Network>> = {
  dev: {
    name: 'dev',
    summary: 'play USDC, on this machine or your own network',
    bootstrap: [],
    money: 'play USDC',
    chain: {
      // Never use the id of a chain with real money: a signature is valid on every chain with the same id.
      chainId: 31337,
      rpcUrl: 'http://127.0.0.1:8545',
      // "play USDC" in ASCII.
      usdc: { address: '0x706c617920555344430000000000000000000001', name: 'play USDC', version: '2' },
      settlement: {
        address: SETTLEMENT,
        codeHash: '0x0af02da0e748b6df2bd7af75009beb07ad917820b9392b47ead4f1e8705b2b2a'
      },
      collector: {
        address: COLLECTOR,
        codeHash: '0xcf9eeb46c7ea67a34eb22acdf9829b75809499f042bea4022790ace63bcc4f9c'
      },
      // "treasury" in ASCII. No key exists for this address.
      treasury: '0x7472656173757279000000000000000000000001',
      confirmations: 1,
      // Roughly Base's. Anvil suggests a thousand times more, so that one deposit's gas would use up the credit of an hour.
      tipWei: 1_000_000
    },
    privateAddresses: true,
    isPlay: true
  },
  'base-sepolia': {
    name: 'base-sepolia',
    summary: "test USDC, on Base's public test network",
    bootstrap: [],
    money: 'test USDC',
    chain: {
      chainId: 84532,
      rpcUrl: 'https://sepolia.base.org',
      usdc: { address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', name: 'USDC', version: '2' },
      settlement: {
        address: SETTLEMENT,
        codeHash: '0xbaeca2aab3b55b232145a81b38b687084b986131651ea91da9e2c9f78e976145'
      },
      collector: REAL_COLLECTOR,
      confirmations: 3
    },
    privateAddresses: false,
    isPlay: false
  },
  base: {
    name: 'base',
    summary: 'real USDC, on Base',
    bootstrap: [],
    money: 'USDC',
    chain: {
      chainId: 8453,
      rpcUrl: 'https://mainnet.base.org',
      usdc: { address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', name: 'USD Coin', version: '2' },
      settlement: {
        address: SETTLEMENT,
        codeHash: '0x76df856287b981dbf156d17cf05c21dff150df9628c5f7c3d586c27ba608760d'
      },
      collector: REAL_COLLECTOR,
      confirmations: 3
    },
    privateAddresses: false,
    isPlay: false
  }
}

/** Whether the network’s money is real, and not test or play money. */
export function hasRealMoney({ chain }: Network): boolean {
  return chain.chainId === NETWORKS.base.chain.chainId
}

/** What an operator can do when the network’s chain does not respond. */
export function chainHint({ name }: Network): string {
  return CHAIN_COMMANDS[name] ?? 'souk up --chain-rpc <url of an endpoint>'
}

/** The commands that run a chain on this machine. */
const CHAIN_COMMANDS: Readonly<Record<string, string>> = { demo: 'souk demo', dev: 'souk dev' }

/** @returns undefined if no built-in network has this name */
export function builtInNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find((network) => network.name === name)
}

/** Chain id of Base Sepolia, whose money is free. */
const TEST_CHAIN = 84532

/** Relaying costs bandwidth and earns nothing. So a node on a network with real money relays for peers it knows. */
export function relayFor({ isPlay, chain }: Network): RelayFor {
  return isPlay || chain.chainId === TEST_CHAIN ? 'anyone' : 'known'
}

/** Built-in play networks run on one machine until the operator opens them. Others listen on all interfaces. */
export function isForOneMachine({ isPlay, file }: Network): boolean {
  return isPlay && file === undefined
}
