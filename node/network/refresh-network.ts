import { limits } from '../../lib/index.ts'
import type { Log } from '../log.ts'
import type { NodeConfig } from '../node-config.ts'
import { rememberNetworkFile } from '../profile/saved-settings.ts'
import { loadNetworkFile } from './fetch-network-file.ts'
import { readNetworkFile } from './network-file.ts'
import { networkOf } from './network-of.ts'
import { updatedNetwork } from './resolve-network.ts'

/**
 * Takes a newer revision of the network file from the place where the profile got it. Without one, or if it may not be taken, the node
 * starts with the file it has.
 */
export async function withNewestNetwork(config: NodeConfig, log: Log): Promise<NodeConfig> {
  const { network: pinned, networkUrl, profile } = config
  if (networkUrl === undefined || pinned.file === undefined) return config
  try {
    const file = await readNetworkFile(await loadNetworkFile(networkUrl, limits.NETWORK_REFRESH_MS))
    const network = updatedNetwork(networkOf(file), pinned)
    if (network === pinned) return config
    await rememberNetworkFile(profile, network)
    log.info(`The network ${network.name} has a new revision, ${file.revision}.`)
    const isOwnEndpoint = config.chain.rpcUrl !== pinned.chain.rpcUrl
    return { ...config, network, chain: isOwnEndpoint ? config.chain : network.chain }
  } catch (error) {
    log.warn(`No newer network file was taken. ${error instanceof Error ? error.message : String(error)}`)
    return config
  }
}
