import {
  type KadDHT,
  type KadDHTComponents,
  kadDHT,
  passthroughMapper,
  type QueryEvent,
  removePrivateAddressesMapper
} from '@libp2p/kad-dht'
import { checkMembers, CLOCK, FLAG, type MemberRules, TEXT } from '../../base/check-members.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import {
  DHT_ANSWER_MS_MAX,
  DHT_ASKED_AT_ONCE,
  RECORD_COPIES,
  RECORD_REPUT_MS,
  RECORD_TTL_MS
} from '../../base/limits/directory.ts'
import { HEARTBEAT_ANSWER_MS } from '../../base/limits/link.ts'
import { checkNetwork } from '../../base/network-name.ts'
import { type Handlers, handleInTurns, leaveOutUnknown, shareAddresses, takeOneProvider } from './dht-handlers.ts'
import { type AskPeer, DhtQueries, type DhtQueriesInit } from './dht-query.ts'
import { RECORD_NAMESPACE } from './keys.ts'
import { createRecordRules } from './record-rules.ts'

export interface SoukDhtInit {
  /** Name of the network, e.g. `dev` or `base`. Nodes of different networks never connect. */
  readonly network: string
  /** The network uses private or loopback addresses, so they are announced. Default false. */
  readonly privateAddresses?: boolean
  /**
   * Only queries and never stores or serves records: for nodes behind a NAT. Default: false with `privateAddresses`;
   * otherwise true until libp2p finds a public address.
   */
  readonly clientMode?: boolean
  readonly clock?: Clock
}

const RULES: MemberRules<SoukDhtInit> = {
  network: TEXT,
  privateAddresses: FLAG,
  clientMode: FLAG,
  clock: CLOCK
}

/** Private parts of kad-dht that this file replaces. */
interface DhtInside {
  readonly routingTable: DhtQueriesInit['routingTable']
  readonly queryManager: {
    run: (key: Uint8Array, ask: AskPeer, options?: { readonly signal?: AbortSignal }) => AsyncGenerator<QueryEvent>
  }
  readonly contentRouting: { routingTable: { readonly kBucketSize: number } }
  readonly rpc: { readonly handlers: Handlers }
}

/** Prefix of the DHT's keys in the node's datastore. */
export const DHT_DATASTORE = '/souk/dht'

const dhtProtocol = (network: string): string => `/souk/${network}/kad/1.0.0`

/**
 * The DHT of a Souk network as a libp2p service: `services: { dht: soukDht({ network: 'dev' }) }`. Requires the
 * services `identify` and `ping`. Without `identifyPush`, connected peers do not learn when this node becomes public and serves the DHT. Other DHTs in the same node are unaffected, because protocol, datastore keys and
 * metrics are separate.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 */
export function soukDht(init: SoukDhtInit): (components: KadDHTComponents) => KadDHT {
  checkMembers('The options of `soukDht`', init, RULES, ['network'])
  checkNetwork(init.network)
  const { network, privateAddresses = false, clock = systemClock } = init
  const clientMode = init.clientMode ?? (privateAddresses ? false : undefined)
  return (components) => {
    const { validate, select } = createRecordRules(clock)
    const dht = kadDHT({
      protocol: dhtProtocol(network),
      logPrefix: 'souk:dht',
      datastorePrefix: DHT_DATASTORE,
      metricsPrefix: 'souk_dht',
      validators: { [RECORD_NAMESPACE]: validate },
      selectors: { [RECORD_NAMESPACE]: select },
      peerInfoMapper: privateAddresses ? passthroughMapper : removePrivateAddressesMapper,
      ...(clientMode === undefined ? {} : { clientMode }),
      // libp2p's five seconds are a whole lookup, and double after each silent peer. Queries give up earlier.
      networkDialTimeout: fixed(DHT_ANSWER_MS_MAX),
      // A peer that once responds slowly must not be removed.
      pingNewContactTimeout: fixed(HEARTBEAT_ANSWER_MS),
      pingOldContactTimeout: fixed(HEARTBEAT_ANSWER_MS),
      alpha: DHT_ASKED_AT_ONCE,
      kBucketSize: RECORD_COPIES,
      // The first self-query waits for the first peer. The directory sends no query while it has no peers.
      initialQuerySelfInterval: 250,
      allowQueryWithZeroPeers: false,
      // The directory re-announces its own APIs. An entry without a new announcement expires with its record.
      reprovide: { validity: RECORD_TTL_MS, interval: RECORD_REPUT_MS, threshold: 0 }
    })(components)
    const inside = dht as unknown as DhtInside
    const { contentRouting, queryManager, rpc } = inside
    const queries = new DhtQueries({
      self: components.peerId,
      routingTable: inside.routingTable,
      connectionManager: components.connectionManager,
      clock
    })
    // kad-dht's own queries wait for silent peers, and for the first query for this node's own id, which may take minutes.
    queryManager.run = (key, ask, options) => queries.run(key, ask, options?.signal)
    // kad-dht ends a search at `kBucketSize` providers, so one peer that names ten false ones would hide the real one. It
    // reads nothing else of this table.
    contentRouting.routingTable = { kBucketSize: Number.POSITIVE_INFINITY }
    takeOneProvider(rpc.handlers)
    leaveOutUnknown(rpc.handlers)
    shareAddresses(rpc.handlers)
    handleInTurns(rpc.handlers, clock)
    return dht
  }
}

/**
 * A time limit of kad-dht that stays the same. By default it follows an average that is weighted by the wall clock. When that clock is set
 * back by an hour, the average becomes `NaN`, and every later request fails.
 */
function fixed(timeoutMs: number): { minTimeout: number; maxTimeout: number; interval: number } {
  return { minTimeout: timeoutMs, maxTimeout: timeoutMs, interval: Number.POSITIVE_INFINITY }
}
