import { createChain } from '../../lib/pay/index.ts'
import type { Chain, ChainParameters } from '../../lib/interface/index.ts'
import { placeContracts } from '../demo/chain/place-contracts.ts'
import { rpc } from '../demo/chain/rpc.ts'
import { builtInNetwork } from '../networks.ts'
import { SetupError } from '../setup-error.ts'
import { builtInChain, isPlayChain, isRealChain } from './chain-rules.ts'
import { isWebUrl } from './web-url.ts'

/**
 * The chain of a new network: Base, Base Sepolia, or a play chain. On a play chain without the contracts, installs them if it is anvil.
 * @param choice `base`, `base-sepolia`, or the URL of a JSON-RPC endpoint
 * @throws SetupError `config_invalid`, `start_failed`; SoukError `settlement_unavailable`
 */
export async function chainToFound(choice: string): Promise<{ readonly chain: Chain; readonly isPlay: boolean }> {
  const parameters = await parametersOf(choice)
  const isPlay = isPlayChain(parameters.chainId)
  if (isPlay && !(await hasContracts(parameters))) {
    await checkAnvil(parameters)
    await placeContracts(parameters.rpcUrl, parameters)
  }
  const chain = createChain(parameters)
  await chain.verify()
  return { chain, isPlay }
}

async function parametersOf(choice: string): Promise<ChainParameters> {
  const known = choice === 'dev' ? undefined : builtInNetwork(choice)?.chain
  if (known !== undefined) return known
  if (!isWebUrl(choice)) {
    throw new SetupError(
      'config_invalid',
      '--chain is not valid: give base, base-sepolia, or the URL of an endpoint.',
      {
        hint: 'an https URL without user name and password, or http on this machine'
      }
    )
  }
  const chainId = Number(await asked(choice, 'eth_chainId'))
  if (isPlayChain(chainId) && isRealChain(chainId)) {
    throw new SetupError(
      'config_invalid',
      `Chain ${chainId} has real money, and this release knows no contracts there.`
    )
  }
  // The founder names the treasury.
  const { treasury: _, ...parameters } = builtInChain(chainId)
  return { ...parameters, rpcUrl: choice }
}

async function hasContracts({ rpcUrl, usdc }: ChainParameters): Promise<boolean> {
  return (await rpc(rpcUrl, 'eth_getCode', [usdc.address, 'latest'])) !== '0x'
}

async function checkAnvil({ rpcUrl, chainId }: ChainParameters): Promise<void> {
  const version = await asked(rpcUrl, 'web3_clientVersion')
  if (String(version).startsWith('anvil')) return
  throw new SetupError(
    'config_invalid',
    `Chain ${chainId} has no channel contracts, and they can be installed on anvil only.`,
    {
      hint: '--chain base-sepolia, for a public test network'
    }
  )
}

async function asked(url: string, method: string): Promise<unknown> {
  try {
    return await rpc(url, method)
  } catch (cause) {
    throw new SetupError('start_failed', `The chain at ${new URL(url).host} does not respond.`, { cause })
  }
}
