import { encodeFunctionData } from 'viem/utils'
import { ignore } from '../../base/ignore.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'

/**
 * Why the token would refuse a transfer now, in its own words: it is paused, or an account is frozen. A simulated transfer of 0
 * tells, so the sender needs no money.
 * @returns undefined if the token would accept it, or the endpoint does not tell: some simulate nothing that a contract sends
 */
export async function transferRefusal(chain: Chain, from: Address, to: Address): Promise<string | undefined> {
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, 0n] })
  const simulation = await chain.simulate(from, { to: chain.parameters.usdc.address, data }).catch(ignore)
  return simulation?.ok === false ? simulation.reason : undefined
}
