/**
 * Parameters of each network, one typed place. A node belongs to one network for good: its profile remembers which, and
 * nodes of different networks do not speak to each other.
 */
export interface Network {
  readonly name: string
  /** One line for whoever has to choose. */
  readonly summary: string
  /** Multiaddrs of peers to start from when the profile names none. */
  readonly bootstrap: readonly string[]
  /** What money is called here. */
  readonly money: string
  /** Loopback and private addresses are told to other peers: only where no stranger would be sent to them in vain. */
  readonly privateAddresses: boolean
}

export const NETWORK_NAMES = ['dev', 'base-sepolia', 'base'] as const
export type NetworkName = (typeof NETWORK_NAMES)[number]

export const NETWORKS: Readonly<Record<NetworkName, Network>> = {
  dev: {
    name: 'dev',
    summary: 'play USDC, on this machine or your own network',
    bootstrap: [],
    money: 'play USDC',
    privateAddresses: true
  },
  'base-sepolia': {
    name: 'base-sepolia',
    summary: "test USDC, on Base's public test network",
    bootstrap: [],
    money: 'test USDC',
    privateAddresses: false
  },
  base: {
    name: 'base',
    summary: 'real USDC, on Base',
    bootstrap: [],
    money: 'USDC',
    privateAddresses: false
  }
}

export function isNetworkName(name: string): name is NetworkName {
  return NETWORK_NAMES.some((known) => known === name)
}
