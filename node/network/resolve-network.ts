import { limits } from '../../lib/index.ts'
import { type Network, builtInNetwork, NETWORKS } from '../networks.ts'
import { type ProfileLocation, profileFile } from '../profile/profile.ts'
import { readPrivateFile } from '../profile/private-file.ts'
import { SetupError } from '../setup-error.ts'
import { loadNetworkFile } from './fetch-network-file.ts'
import { isLocalNetwork, type LocalNetwork, readLocalNetwork } from './local-network.ts'
import { isNewer, readNetworkFile } from './network-file.ts'
import { networkOf } from './network-of.ts'

/**
 * The network that a new profile chooses: a built-in name, `demo` or `dev` on this machine, or the place of a network file.
 * @throws SetupError `config_invalid`, `network_invalid`
 */
export async function chosenNetwork(choice: string, home: string): Promise<Network> {
  if (isLocalNetwork(choice)) return localNetwork(choice, home)
  return builtInNetwork(choice) ?? networkOf(await readNetworkFile(await loadNetworkFile(choice)))
}

/**
 * The network that a profile belongs to, by the name in its settings.
 * @throws SetupError `profile_broken`, `network_invalid`
 */
export async function networkOfProfile(name: string, profile: ProfileLocation, home: string): Promise<Network> {
  if (isLocalNetwork(name)) return localNetwork(name, home)
  const known = builtInNetwork(name)
  if (known !== undefined) return known
  const path = profileFile(profile, 'network')
  const bytes = await readPrivateFile(path)
  if (bytes === undefined) {
    throw new SetupError('profile_broken', `The profile belongs to the network ${name}, but ${path} is missing.`, {
      hint: 'souk join <invitation>, from somebody on that network'
    })
  }
  const network = networkOf(await readNetworkFile(new TextDecoder().decode(bytes)))
  if (network.name === name) return network
  throw new SetupError('profile_broken', `${path} is of the network ${network.name}, and the profile is of ${name}.`, {
    hint: `restore ${path} from a backup`
  })
}

/**
 * The network of a profile after its file was replaced.
 * @param network a newer definition of the profile’s network
 * @throws SetupError `config_invalid` for another network, `network_invalid` for an older file or another key
 */
export function updatedNetwork(network: Network, pinned: Network): Network {
  if (network.file === undefined || pinned.file === undefined) return pinned
  return isNewer(network.file, pinned.file) ? network : pinned
}

/** Whether the chain of a network on this machine responds. */
export async function runsHere({ chain }: Network): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(limits.LOCAL_CHAIN_MS)
  try {
    const response = await fetch(chain.rpcUrl, { method: 'POST', headers, body, signal })
    const { result } = (await response.json()) as { readonly result?: unknown }
    return Number(result) === chain.chainId
  } catch {
    return false
  }
}

async function localNetwork(name: LocalNetwork, home: string): Promise<Network> {
  const file = await readLocalNetwork(home, name)
  if (file === undefined) {
    if (name === 'dev') return NETWORKS.dev
    throw new SetupError('config_invalid', 'The demo has not run on this machine yet.', { hint: 'souk demo' })
  }
  const { file: _, ...network } = networkOf(file)
  // The name stays the same when the demo starts anew with another founder.
  return { ...network, name, summary: SUMMARIES[name] }
}

const SUMMARIES: Readonly<Record<LocalNetwork, string>> = {
  demo: 'play USDC, with the demo that runs on this machine',
  dev: NETWORKS.dev.summary
}
