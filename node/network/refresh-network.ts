import { limits } from '../../lib/index.ts'
import type { Clock, Souk, Timer } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'
import type { Network } from '../networks.ts'
import type { NodeConfig } from '../node-config.ts'
import { rememberNetworkFile } from '../profile/saved-settings.ts'
import { fetchNetworkFile } from './fetch-network-file.ts'
import { readNetworkFile } from './network-file.ts'
import { networkOf } from './network-of.ts'
import { updatedNetwork } from './resolve-network.ts'

/**
 * Takes a newer revision of the network file from the place where the profile got it. Without one, or if it may not be taken, the node
 * starts with the file it has.
 */
export async function withNewestNetwork(config: NodeConfig, log: Log): Promise<NodeConfig> {
  const { network: pinned, networkUrl } = config
  if (networkUrl === undefined || pinned.file === undefined) return config
  try {
    const { content } = await fetchNetworkFile(networkUrl, { withinMs: limits.NETWORK_REFRESH_MS })
    const network = await taken(content, pinned, config)
    if (network === pinned) return config
    log.info(newRevision(network))
    return { ...config, network, chain: hasOwnEndpoint(config) ? config.chain : network.chain }
  } catch (error) {
    log.warn(notTaken(error))
    return config
  }
}

export interface NetworkWatchInit {
  readonly config: NodeConfig
  readonly souk: Pick<Souk, 'addBootstrap'>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Log
}

/** Looks for newer revisions of the network file while the node runs, and applies their bootstrap peers. */
export class NetworkWatch {
  readonly #init: NetworkWatchInit
  #network: Network
  #etag: string | undefined
  #pauseMs = 0
  #timer: Timer | undefined
  #isStopped = false

  constructor(init: NetworkWatchInit) {
    this.#init = init
    this.#network = init.config.network
  }

  /** What of a newer revision counts only after a restart. */
  get restartNeeded(): string | undefined {
    const { config } = this.#init
    const [before, now] = [config.network.file, this.#network.file]
    if (before === undefined || now === undefined) return undefined
    const changed = [
      ...(before.chain.rpc === now.chain.rpc || hasOwnEndpoint(config) ? [] : ['chain endpoint']),
      ...(before.lan === now.lan ? [] : ['addresses on the LAN'])
    ]
    return changed.length === 0
      ? undefined
      : `revision ${now.revision} of the network changes its ${changed.join(' and ')}`
  }

  start(): void {
    const { networkUrl, network } = this.#init.config
    if (networkUrl !== undefined && network.file !== undefined) this.#lookIn(networkUrl, limits.NETWORK_REREAD_MS)
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #lookIn(url: string, delayMs: number): void {
    if (!this.#isStopped) this.#timer = this.#init.clock.after(delayMs, () => void this.#look(url))
  }

  async #look(url: string): Promise<void> {
    const { log } = this.#init
    const hadFailed = this.#pauseMs > 0
    try {
      const fetched = await fetchNetworkFile(url, { etag: this.#etag })
      if (fetched !== undefined) await this.#take(fetched.content)
      this.#etag = fetched === undefined ? this.#etag : fetched.etag
      this.#pauseMs = 0
    } catch (error) {
      if (!hadFailed) log.warn(notTaken(error))
      this.#pauseMs = Math.min(2 * this.#pauseMs || limits.NETWORK_RETRY_MS, limits.NETWORK_REREAD_MS)
    }
    this.#lookIn(url, this.#pauseMs === 0 ? limits.NETWORK_REREAD_MS : this.#pauseMs)
  }

  async #take(content: string): Promise<void> {
    const { config, souk, log } = this.#init
    const network = await taken(content, this.#network, config)
    if (network === this.#network || this.#isStopped) return
    this.#network = network
    souk.addBootstrap(network.bootstrap)
    const why = this.restartNeeded
    log.info(`${newRevision(network)} ${why === undefined ? 'It is in use.' : `Restart this node: ${why}.`}`)
  }
}

/** The network by a newer file, which the profile then keeps; `pinned` if the file is the same. @throws SetupError `network_invalid` */
async function taken(content: string, pinned: Network, { profile }: NodeConfig): Promise<Network> {
  const network = updatedNetwork(networkOf(await readNetworkFile(content)), pinned)
  if (network !== pinned) await rememberNetworkFile(profile, network)
  return network
}

/** The operator chose the endpoint of the chain. */
const hasOwnEndpoint = ({ chain, network }: NodeConfig): boolean => chain.rpcUrl !== network.chain.rpcUrl

const newRevision = ({ name, file }: Network): string =>
  `The network ${name} has a new revision, ${file?.revision ?? 0}.`

const notTaken = (error: unknown): string =>
  `No newer network file was taken. ${error instanceof Error ? error.message : String(error)}`
