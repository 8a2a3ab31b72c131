import type { ComponentLogger } from '@libp2p/interface'
import { createNode, reachabilityText } from '../../lib/index.ts'
import type { Clock, Reachability, Souk, Store, Subscription } from '../../lib/interface/index.ts'
import { protocolFactories } from '../../protocols/protocol-factories.ts'
import { TRIMMED_KINDS } from '../accounts/account-ledger.ts'
import { packageVersion } from '../config.ts'
import type { Events } from '../events/events.ts'
import { SubscriptionEvents } from '../events/subscription-events.ts'
import { type P2pPlace, p2pPlace, PortTaken } from '../http/p2p-port.ts'
import type { Log } from '../log.ts'
import type { NodeConfig } from '../node-config.ts'
import { connectionShares } from '../open-files.ts'
import type { Payments } from '../payments/payments.ts'
import { identityOf } from '../profile/identity.ts'
import { isForOneMachine, relayFor } from '../networks.ts'
import { PortMapper } from '../port-mapping/port-mapper.ts'
import { Registrations } from '../registrations/registrations.ts'
import { SetupError } from '../setup-error.ts'
import type { NodeGuard } from '../upstream/guard.ts'
import type { SecretBox } from '../upstream/secret-box.ts'
import { closing } from './closing.ts'
import { tellAllInterfaces, tellMovedPort } from './tell-ports.ts'

const LOOPBACK = '127.0.0.1'

export interface MarketInit {
  readonly config: NodeConfig
  readonly log: Log
  readonly logger: ComponentLogger
  readonly clock: Clock
  readonly store: Store
  readonly shared: Store | undefined
  readonly payments: Payments
  readonly guard: NodeGuard
  readonly secretBox: SecretBox
  readonly events: Events
}

/**
 * The peer-to-peer part of a node, and the APIs that it serves. Disposal stops changing listings, claims earnings if configured, drains,
 * and leaves the network.
 */
export interface Market extends AsyncDisposable {
  readonly souk: Souk
  readonly registrations: Registrations
  readonly p2pPort: number
}

/** @throws SetupError `port_busy`, `config_invalid`, `start_failed`; PortTaken, then another start may succeed */
export async function startMarket(init: MarketInit): Promise<Market> {
  const { config, log, payments } = init
  const { p2p } = config
  const host = p2p.host ?? (isForOneMachine(config.network) ? LOOPBACK : undefined)
  const place = await p2pPlace(host, p2p.port)
  const mapper = portMapperOf(init, place)
  let registrations: Registrations | undefined
  const node = await createNode({
    ...(await nodeOptions(init)),
    ...listening(place, p2p.announce),
    mdns: p2p.mdns ?? place.listen.some((address) => !isLoopbackAddress(address)),
    portMapping: mapper,
    prepare: async (souk) => {
      registrations = registrationsOf(init, souk)
      await registrations.restore('own')
    }
  })
  await using started = new AsyncDisposableStack()
  try {
    await node.start()
  } catch (error) {
    if (String(error).includes('EADDRINUSE')) throw new PortTaken(place.port, error)
    throw new SetupError('start_failed', 'The peer-to-peer part of the node did not start.', { cause: error })
  }
  started.defer(() => node.stop())
  if (mapper !== undefined) {
    void mapper.start(place.port)
    started.defer(() => mapper.stop())
  }
  started.defer(payments.settleAtLast)
  tellMovedPort(log, 'peer-to-peer side', p2p.port, place.port)
  tellAllInterfaces(log, place)
  if (registrations === undefined) throw new SetupError('start_failed', 'The node started without its listings.')
  const restored = registrations
  started.defer(() => restored.stop())
  await restored.restore('replica')
  return { souk: node.souk, registrations: restored, p2pPort: place.port, ...closing(started.move()) }
}

/** @param address multiaddr with an IP address */
const isLoopbackAddress = (address: string): boolean => /^\/ip4\/127\.|^\/ip6\/::1\//.test(address)

/**
 * A router is asked only for a node that the Internet may reach: it listens on all interfaces of a public network, and its operator
 * announces no address.
 */
function portMapperOf(
  { config, clock, log, logger }: MarketInit,
  { listen, outside }: P2pPlace
): PortMapper | undefined {
  const { p2p, network } = config
  const isOpen = listen.some((address) => address.startsWith('/ip4/0.0.0.0/')) && outside === undefined
  const isWanted = isOpen && !network.privateAddresses && p2p.announce.length === 0
  if (p2p.portMapping === false || !isWanted) return undefined
  return new PortMapper({ clock, tell: log.info, log: logger.forComponent('souk:link') })
}

/** A public address that a router maps to this machine is announced, unless the operator announces others. */
function listening({ listen, outside }: P2pPlace, announce: readonly string[]) {
  return { listen, announce: announce.length > 0 || outside === undefined ? announce : [outside] }
}

async function nodeOptions({ config, log, logger, store, shared, payments: { paymentScheme }, events }: MarketInit) {
  const { profile, p2p, selfReport, keepDays } = config
  const { network } = config
  const news = new SubscriptionEvents(events)
  return {
    network: network.name,
    privateKey: await identityOf(profile),
    logger,
    connections: { connectionsMax: connectionShares().peers },
    relay: p2p.relay === true ? ('anyone' as const) : p2p.relay === false ? ('known' as const) : relayFor(network),
    bootstrap: [...network.bootstrap, ...p2p.bootstrap],
    store,
    sharedStore: shared,
    paymentScheme,
    onSold: (sold: Subscription, before: Subscription | undefined) => news.sold(before, sold),
    onReach: reachTeller(log),
    agent: `souk/${packageVersion()}`,
    privateAddresses: network.privateAddresses,
    ...(selfReport === undefined ? {} : { selfReport }),
    probes: config.probe ?? false,
    ...(keepDays === undefined ? {} : { keepDays }),
    trimmedKinds: TRIMMED_KINDS
  }
}

/** Some changes of the reach do not show in its text. */
function reachTeller(log: Log): (reach: Reachability) => void {
  let told = ''
  return (reach) => {
    const { text } = reachabilityText(reach)
    if (text !== told) log.info(`This node is ${text}.`)
    told = text
  }
}

function registrationsOf(
  { store, clock, payments, secretBox, guard, events, log }: MarketInit,
  souk: Souk
): Registrations {
  const { documents } = store
  const { payout } = payments
  const factories = protocolFactories
  return new Registrations({ souk, documents, factories, clock, payout, secretBox, guard, events, log: log.info })
}
