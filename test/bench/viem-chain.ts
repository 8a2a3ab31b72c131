import type { Chain } from 'viem'
import type { ChainParameters } from '../../lib/interface/index.ts'

/** A dev chain in viem's form. */
export function viemChain({ chainId, rpcUrl }: ChainParameters): Chain {
  return {
    id: chainId,
    name: 'dev',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } }
  }
}
