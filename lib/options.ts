import type { PrivateKey } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { type Clock, systemClock } from './base/clock.ts'
import { SoukError } from './base/errors.ts'
import { AGENT_CHARS_MAX, KEEP_DAYS, KEEP_DAYS_MIN } from './base/limits.ts'
import { type Random, systemRandom } from './base/random.ts'
import type { Directory } from './interface/directory.ts'
import type { Souk } from './interface/souk.ts'
import type { PeerWorth } from './link/peer-worth.ts'
import type { Store } from './interface/store.ts'
import type { Subscription } from './interface/subscription.ts'
import type { Till, TillComponents } from './interface/till.ts'

/** What `souk(init)` takes. Everything has a default. */
export interface SoukInit {
  /** Network name, `[a-z0-9-]{1,32}`. Nodes of different networks never talk. Default `dev`. */
  readonly network?: string
  /** Keeps books, keys and pins. Default: in memory, gone with the process. */
  readonly store?: Store
  /**
   * Shared by the nodes that serve the same APIs: subscriptions sold by one are known to all, and their calls counted together.
   * Nodes that call for the same accounts share what these have subscribed to through it as well.
   * Opened and closed with the node. Default: none; then a subscription is served by the node that sold it.
   */
  readonly sharedStore?: Store
  /** How calls are paid for. Default: `metered`, which records usage and moves no money. */
  readonly till?: (components: TillComponents) => Till
  /** Names the provider. Default: the node's own key. Ed25519. */
  readonly providerKey?: PrivateKey
  /** Where APIs are found. Default: the libp2p service called `dht`, made by `soukDht()`. */
  readonly directory?: Directory
  /** Multiaddrs with `/p2p/<peer id>` by which to join the network. Default none. */
  readonly bootstrap?: readonly string[]
  /** Told to peers for people to read. Default `souk`. */
  readonly agent?: string
  /** Runs at each start with the store open and before any peer is heard: serve here what was served before. */
  readonly prepare?: (souk: Souk) => Promise<void>
  /**
   * Told of each change of what this node sold, once it is on disk, with what it was before. It must not throw; what it takes holds
   * up the next change of that subscription.
   */
  readonly onSold?: (sold: Subscription, before: Subscription | undefined) => void | Promise<void>
  /**
   * The manifests of own listings say, in coarse steps, how many calls there were in the last days, how many were answered well and how
   * quickly. Default true.
   */
  readonly selfReport?: boolean
  /**
   * Tries now and then whether APIs that were called or looked at here can be reached, without calling them. Default false.
   */
  readonly probes?: boolean
  /** Learns which peers trade with this node, for those who decide about its connections. Default: nobody does. */
  readonly worth?: PeerWorth
  /**
   * Days that calls which cost something, ledger entries and receipts are kept; `Infinity` keeps them for ever. Calls that cost nothing
   * are kept for 30 days. Sums stay in any case. Default 400.
   */
  readonly keepDays?: number
  /** Beginnings of the kinds of ledger entries of the embedder's own that may be deleted with age. Default none. */
  readonly trimmedKinds?: readonly string[]
  readonly clock?: Clock
  readonly random?: Random
}

export type SoukOptions = SoukInit &
  Required<
    Pick<
      SoukInit,
      'network' | 'bootstrap' | 'agent' | 'selfReport' | 'probes' | 'keepDays' | 'trimmedKinds' | 'clock' | 'random'
    >
  >

const NETWORK = /^[a-z0-9][a-z0-9-]{0,31}$/

/**
 * Checks once, defaults once.
 * @throws SoukError `invalid_request`
 */
export function soukOptions(init: SoukInit): SoukOptions {
  const options = {
    network: 'dev',
    bootstrap: [],
    agent: 'souk',
    selfReport: true,
    probes: false,
    keepDays: KEEP_DAYS,
    trimmedKinds: [],
    clock: systemClock,
    random: systemRandom,
    ...init
  }
  if (!NETWORK.test(options.network)) {
    throw new SoukError(
      'invalid_request',
      `"${options.network.slice(0, 40)}" is not a network name: use a-z, 0-9 and "-".`
    )
  }
  if (options.agent.length > AGENT_CHARS_MAX) throw new SoukError('invalid_request', 'The agent name is too long.')
  if (options.providerKey !== undefined && options.providerKey.type !== 'Ed25519') {
    throw new SoukError('invalid_request', 'A provider key is an Ed25519 key.')
  }
  // A call has to be found for as long as it may be repeated.
  if (!(options.keepDays >= KEEP_DAYS_MIN)) {
    throw new SoukError('invalid_request', `Books are kept for ${KEEP_DAYS_MIN} days at least.`)
  }
  for (const address of options.bootstrap) checkBootstrap(address)
  return options
}

function checkBootstrap(address: string): void {
  let names: string[]
  try {
    names = multiaddr(address)
      .getComponents()
      .map(({ name }) => name)
  } catch (cause) {
    throw new SoukError('invalid_request', `"${address.slice(0, 100)}" is not a multiaddr.`, { cause })
  }
  if (!names.includes('p2p')) {
    throw new SoukError('invalid_request', `"${address.slice(0, 100)}" names no peer: it ends in /p2p/<peer id>.`)
  }
}
