import { domainSeparator, encodeFunctionData, keccak256 } from 'viem'
import { asSoukError, SoukError } from '../../base/errors.ts'
import type { Chain } from '../../interface/chain.ts'
import type { ChainParameters, PinnedContract, TokenParameters } from '../../interface/network.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'
import { STATE_LOST } from './endpoint-fault.ts'

/**
 * Checks that an endpoint serves the network's own chain, with the expected contract code and the expected signature domain of
 * the token, and has the state of final blocks.
 * @throws SoukError `settlement_unavailable` with the reason
 */
export async function verifyChain(chain: Chain): Promise<void> {
  const { parameters } = chain
  await chain.checkId()
  await verifyCode(chain, 'channel contract', parameters.settlement)
  await verifyCode(chain, 'deposit collector', parameters.collector)
  await verifyToken(chain, parameters.usdc)
  await verifyState(chain, parameters.settlement)
}

/** @throws SoukError `settlement_unavailable` */
export function checkChainId({ chainId }: Pick<ChainParameters, 'chainId'>, actual: number): void {
  if (actual === chainId) return
  throw unavailable(`The chain endpoint is of chain ${actual}; this network's money is on chain ${chainId}.`)
}

/** Money counts from the newest final block, whose state an endpoint may already have dropped. Another fault may pass. */
async function verifyState(chain: Chain, { address }: PinnedContract): Promise<void> {
  try {
    await chain.nonce(address, 'finalized')
  } catch (error) {
    if (asSoukError(error).message === STATE_LOST) throw error
  }
}

async function verifyCode(chain: Chain, what: string, { address, codeHash }: PinnedContract): Promise<void> {
  const code = await chain.code(address)
  if (code === '0x') throw unavailable(`There is no ${what} at ${address} on this chain.`)
  if (keccak256(code) !== codeHash) throw unavailable(`The ${what} at ${address} is not the one that was checked.`)
}

/** The token's code may change, because it is upgradeable. The domain of its signatures may not. */
async function verifyToken(chain: Chain, { address, name, version }: TokenParameters): Promise<void> {
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'DOMAIN_SEPARATOR' })
  const actual = await chain.read({ to: address, data })
  const domain = { name, version, chainId: chain.parameters.chainId, verifyingContract: address }
  if (actual === undefined) throw unavailable(`There is no USDC contract at ${address} on this chain.`)
  if (actual !== domainSeparator({ domain })) {
    throw unavailable(`The USDC at ${address} signs under another name or version than "${name}", "${version}".`)
  }
}

const unavailable = (detail: string) => new SoukError('settlement_unavailable', detail)
