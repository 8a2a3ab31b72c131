import { encodeFunctionData, parseAbi } from 'viem'
import type { Address } from '../../lib/interface/signer.ts'
import { asBanker } from '../../node/demo/chain/place-contracts.ts'

const ABI = parseAbi([
  'function pause()',
  'function unpause()',
  'function blacklist(address account)',
  'function unBlacklist(address account)'
])

interface TestChain {
  readonly url: string
  readonly parameters: { readonly usdc: { readonly address: Address } }
}

/** The issuer of a test chain's token. It can pause the token, and freeze accounts. */
export const tokenIssuer = ({ url, parameters: { usdc } }: TestChain) => {
  const send = (data: `0x${string}`) => asBanker(url, usdc.address, data)
  return {
    pause: () => send(encodeFunctionData({ abi: ABI, functionName: 'pause' })),
    unpause: () => send(encodeFunctionData({ abi: ABI, functionName: 'unpause' })),
    freeze: (account: Address) => send(encodeFunctionData({ abi: ABI, functionName: 'blacklist', args: [account] })),
    unfreeze: (account: Address) => send(encodeFunctionData({ abi: ABI, functionName: 'unBlacklist', args: [account] }))
  }
}
