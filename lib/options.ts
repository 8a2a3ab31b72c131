import type { PrivateKey } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import {
  checkMembers,
  CLOCK,
  FLAG,
  FUNCTION,
  isText,
  type MemberRules,
  NUMBER,
  OBJECT,
  TEXT,
  TEXTS,
  withMethods
} from './base/check-members.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { SoukError } from './base/errors.ts'
import { given, type Given } from './base/given.ts'
import { AGENT_CHARS_MAX } from './base/limits/link.ts'
import { KEEP_DAYS, KEEP_DAYS_MIN } from './base/limits/store.ts'
import { checkNetwork } from './base/network-name.ts'
import { type Random, systemRandom } from './base/random.ts'
import type { Directory } from './interface/directory.ts'
import type { PortMapping } from './interface/port-mapping.ts'
import type { Reachability } from './interface/reachability.ts'
import type { Souk } from './interface/souk.ts'
import type { PeerWorth } from './link/peer-worth.ts'
import type { Store } from './interface/store.ts'
import type { Subscription } from './interface/subscription.ts'
import type { PaymentScheme, PaymentSchemeComponents } from './interface/payment-scheme.ts'

/** Options of `souk(init)`. All have defaults. */
export interface SoukInit {
  /** Network name, `[a-z0-9-]{1,32}`. Nodes of different networks never connect. Default `dev`. */
  readonly network?: string | undefined
  /** Stores books, keys and pins. Default: in memory, lost when the process ends. */
  readonly store?: Store | undefined
  /**
   * Store shared by nodes that serve the same APIs, or that call for the same accounts. All of them know its
   * subscriptions and count calls together. Opened and closed with the node. Default: none; then only the node that
   * sold a subscription serves it.
   */
  readonly sharedStore?: Store | undefined
  /** The payment scheme. Default: `metered`, which records usage and moves no money. */
  readonly paymentScheme?: ((components: PaymentSchemeComponents) => PaymentScheme) | undefined
  /** Identifies the provider, Ed25519. Default: the node's own key. */
  readonly providerKey?: PrivateKey | undefined
  /** Finds APIs. Default: the libp2p service named `dht`, created by `soukDht()`. */
  readonly directory?: Directory | undefined
  /** Multiaddrs of bootstrap peers, with `/p2p/<peer id>` or `/dnsaddr/`. Default none. */
  readonly bootstrap?: readonly string[] | undefined
  /** The network uses loopback or private addresses. Default true, as in `createNode`. */
  readonly privateAddresses?: boolean | undefined
  /** Software name, shown to peers. Default `souk`. */
  readonly agent?: string | undefined
  /** Runs at each start, with the store open and before any peer connects. Serve the APIs of earlier runs here. */
  readonly prepare?: ((souk: Souk) => Promise<void>) | undefined
  /**
   * Called with each changed subscription that this node sold, after it is stored, and with its earlier state. It must
   * not throw. The subscription's next change waits for it.
   */
  readonly onSold?: (sold: Subscription, before: Subscription | undefined) => void | Promise<void>
  /**
   * Includes a self-report in own manifests: calls, success and latency of the last days, in coarse steps. Default
   * true.
   */
  readonly selfReport?: boolean | undefined
  /** Probes whether recently used APIs are reachable, without calling them. Default false. */
  readonly probes?: boolean | undefined
  /** Called when the way in which peers reach this node changes. It must not throw. */
  readonly onReach?: ((reach: Reachability) => void) | undefined
  /** The port that the router forwards to this node. Peers check it. Default: none. */
  readonly portMapping?: PortMapping | undefined
  /** Records which peers trade with this node, to decide about connections. Default: none. */
  readonly worth?: PeerWorth | undefined
  /**
   * Days to keep charged calls, ledger entries and receipts; `Infinity` keeps them for ever. Free calls are kept for 30
   * days. Totals are always kept. Default 400.
   */
  readonly keepDays?: number | undefined
  /** Prefixes of the embedder's ledger entry kinds that may be deleted by age. Default none. */
  readonly trimmedKinds?: readonly string[] | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

export type SoukOptions = SoukInit &
  Required<
    Pick<
      Given<SoukInit>,
      | 'network'
      | 'bootstrap'
      | 'privateAddresses'
      | 'agent'
      | 'selfReport'
      | 'probes'
      | 'keepDays'
      | 'trimmedKinds'
      | 'clock'
      | 'random'
    >
  >

const STORE = withMethods('a store, such as `createSqliteStore(…)`', 'open', 'close')

export const SOUK_RULES: MemberRules<SoukInit> = {
  network: TEXT,
  store: STORE,
  sharedStore: STORE,
  paymentScheme: FUNCTION,
  providerKey: OBJECT,
  directory: OBJECT,
  bootstrap: TEXTS,
  privateAddresses: FLAG,
  agent: TEXT,
  prepare: FUNCTION,
  onSold: FUNCTION,
  selfReport: FLAG,
  probes: FLAG,
  onReach: FUNCTION,
  portMapping: withMethods('an object with `mapped` and `onChange`', 'onChange'),
  worth: OBJECT,
  keepDays: NUMBER,
  trimmedKinds: TEXTS,
  clock: CLOCK,
  random: withMethods('an object with `fill`', 'fill')
}

/**
 * Validates the options and sets defaults.
 * @throws SoukError `invalid_request`
 */
export function soukOptions(init: SoukInit): SoukOptions {
  checkMembers('The options', init, SOUK_RULES)
  const options = {
    network: 'dev',
    bootstrap: [],
    privateAddresses: true,
    agent: 'souk',
    selfReport: true,
    probes: false,
    keepDays: KEEP_DAYS,
    trimmedKinds: [],
    clock: systemClock,
    random: systemRandom,
    ...given(init)
  }
  checkNetwork(options.network)
  if (options.agent.length > AGENT_CHARS_MAX)
    throw new SoukError('invalid_request', `The agent name is longer than ${AGENT_CHARS_MAX} characters.`)
  if (options.providerKey !== undefined && options.providerKey.type !== 'Ed25519') {
    throw new SoukError('invalid_request', 'A provider key must be an Ed25519 key.')
  }
  // A call's record must exist for as long as the call may be repeated.
  if (!(options.keepDays >= KEEP_DAYS_MIN)) {
    throw new SoukError('invalid_request', `keepDays must be at least ${KEEP_DAYS_MIN}.`)
  }
  for (const address of options.bootstrap) checkBootstrap(address)
  return options
}

/** @throws SoukError `invalid_request` */
export function checkBootstrap(address: string): void {
  const names = parseMultiaddr(address)
    .getComponents()
    .map(({ name }) => name)
  // A dnsaddr record contains the peer ids.
  if (!names.includes('p2p') && names[0] !== 'dnsaddr') {
    throw new SoukError('invalid_request', `"${address.slice(0, 100)}" names no peer. It must end in /p2p/<peer id>.`)
  }
}

/** @throws SoukError `invalid_request` */
export function parseMultiaddr(address: unknown): Multiaddr {
  try {
    // It also takes bytes and null.
    if (!isText(address)) throw new TypeError('not a string')
    return multiaddr(address)
  } catch (cause) {
    throw new SoukError('invalid_request', `"${String(address).slice(0, 100)}" is not a multiaddr.`, { cause })
  }
}
