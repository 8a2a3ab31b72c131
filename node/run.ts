import { readFile } from 'node:fs/promises'
import type { ComponentLogger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { checksummed, createNode, systemClock, systemRandom, text, utf8 } from '../lib/index.ts'
import type { Clock, Souk, Store } from '../lib/interface/index.ts'
import { protocolFactories } from '../protocols/index.ts'
import { type Hosting, startHosting } from './accounts/hosting.ts'
import { type Admin, startAdmin } from './admin/server.ts'
import { Sessions } from './admin/sessions.ts'
import { TRIMMED_KINDS } from './accounts/account-books.ts'
import type { StatusView } from './admin/api.ts'
import { examine } from './doctor.ts'
import type { Events } from './events/events.ts'
import { startEvents, type Telling } from './events/start-events.ts'
import { SubscriptionNews } from './events/subscription-news.ts'
import { MoneyWatch } from './events/watch-money.ts'
import { identityOf } from './profile/identity.ts'
import { createIngress, type Ingress, type IngressInit } from './ingress/ingress.ts'
import { dnsLookup, Scopes } from './names/scopes.ts'
import { createComponentLogger } from './component-logger.ts'
import { createLog, type Log } from './log.ts'
import { NETWORKS } from './networks.ts'
import { type NodeInfo, nodeInfo } from './node-info.ts'
import type { NodeConfig, PortWish } from './node-config.ts'
import { isLoopback } from './http/listen.ts'
import { freeMultiaddr } from './http/p2p-port.ts'
import { openPayments, type Payments, type PaymentsInit } from './payments/payments.ts'
import { backUpProfile } from './profile/profile-backup.ts'
import { openProfile, profileFile, secretOf } from './profile/profile.ts'
import { lockProfile } from './profile/profile-lock.ts'
import { fileFault, storeFailed } from './profile/store-fault.ts'
import { Registrations } from './registrations/registrations.ts'
import { NodeGuard } from './upstream/guard.ts'
import { createSealer, type Sealer, SEALER_KEY_BYTES } from './upstream/sealer.ts'
import { SetupError } from './setup-error.ts'
import { walletDesk } from './wallet/wallet-desk.ts'
import { openStores, type Stores } from './stores.ts'
import { storeView } from './store-view.ts'
import { openSubscriptions, type SubscriptionParts } from './subscriptions/open.ts'
import { packageVersion } from './config.ts'
import { forgetRunning, rememberRunning } from './profile/written-down.ts'

export interface RunOptions {
  /** Lines for the operator. Default: nowhere. */
  readonly log?: (line: string) => void
  /**
   * Called once when the node must stop: a commit failed, and only the disk knows what survived. Stop it, and start anew.
   */
  readonly onFailure?: (error: SetupError) => void
  /** Ends a start that waits for a database; it rejects with its reason. */
  readonly signal?: AbortSignal
  /** Asks whoever sits there for the wallet's passphrase, without showing it. Default: nobody does. */
  readonly askSecret?: (question: string) => Promise<string>
}

export interface RunningNode {
  readonly info: NodeInfo
  readonly souk: Souk
  /** Ends what runs, in order; a second call waits for the first. */
  stop(): Promise<void>
}

const SECRET_BYTES = 32

/**
 * Starts a whole node: profile, store, libp2p with Souk, the APIs registered before, ingress, admin API. It resolves when
 * all of it can be used; when any part fails, what was started is stopped again.
 *
 * It stops the other way round: the admin API and the ingress take nothing new and let running calls end, then Souk drains
 * and leaves the network, then the store is closed, and last the profile is free again.
 *
 * @throws SetupError
 */
export async function runNode(config: NodeConfig, options: RunOptions = {}): Promise<RunningNode> {
  let failure: SetupError | undefined
  const log = createLog((line) => {
    // What a failed store breaks elsewhere is no news.
    if (failure === undefined) options.log?.(line)
  })
  const onFailure = (error: Error): void => {
    const words = storeFailed(error, config.profile)
    if (options.onFailure === undefined) log.error(words.message)
    failure = words
    options.onFailure?.(words)
  }
  const undo = new AsyncDisposableStack()
  const { askSecret, signal = new AbortController().signal } = options
  const write = (text: string) => options.log?.(text)
  const logger = config.log === undefined ? defaultLogger() : createComponentLogger(config.log, write)
  try {
    const started = await start({
      config,
      log,
      logger,
      onFailure,
      signal,
      clock: systemClock,
      undo,
      ...(askSecret === undefined ? {} : { askSecret })
    })
    const end = () =>
      started.stop().catch((error: unknown) => {
        if (failure === undefined) throw error
      })
    return { ...started, stop: end }
  } catch (error) {
    await undo.disposeAsync().catch((cause: unknown) => log.error('what was started did not stop cleanly', { cause }))
    throw failure ?? fileFault(error, config.profile) ?? error
  }
}

interface Start extends PaymentsInit {
  readonly logger: ComponentLogger
  readonly onFailure: (error: Error) => void
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly undo: AsyncDisposableStack
}

async function start(init: Start): Promise<RunningNode> {
  const { config, undo } = init
  const { profile } = config
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  undo.defer(() => lock.release())

  const payments = await openPayments(init)
  const { own, shared } = await openStores(init)
  const guard = guardOf(config)
  const sealer = await sealerOf(profile)
  const telling = await startEvents({ ...init, documents: own.documents, guard, sealer })
  const { events, calls } = telling
  const store = calls.store(own)
  const { souk, registrations, p2pPort } = await startSouk(init, { store, shared, payments, guard, sealer, events })

  const money = () => payments.money()
  const common = shared ?? store
  const hosting = await startHosting({ ...init, store: common, self: souk.status().peer, money, events })
  const subscriptions = openSubscriptions({
    ...hosting,
    souk,
    documents: common.documents,
    clock: init.clock,
    news: new SubscriptionNews(events)
  })
  const refusal = () => own.refusal?.() ?? shared?.refusal?.()
  const ingress = await startIngress(init, calls.caller(souk), { ...hosting, subscriptions, refusal })
  const sessions = new Sessions({ documents: store.documents, clock: init.clock, random: systemRandom })
  const parts = {
    souk,
    registrations,
    hosting,
    ingress,
    payments,
    sessions,
    telling,
    subscriptions,
    stores: { own, shared }
  }
  const admin = await startAdminApi(init, parts)
  startMoneyWatch(init, store, payments, events)
  const setupCode = (await sessions.hasAny()) ? undefined : sessions.newCode().code
  const info = nodeInfo(config, souk, { ingress, admin: admin.url, demoKey: hosting.keys.demo?.key, setupCode })
  for (const url of [ingress, admin.url]) if (url !== undefined) guard.addPort(Number(new URL(url).port))
  // What is announced may be another port, forwarded to the one listened on: neither is an API.
  const announced = souk.status().addresses.map((address) => Number(/\/tcp\/(\d+)/.exec(address)?.[1] ?? p2pPort))
  for (const port of [p2pPort, ...announced]) guard.addPort(port)
  undo.defer(() => forgetRunning(profile))
  await rememberRunning(config, info, p2pPort)
  let stopping: Promise<void> | undefined
  return { info, souk, stop: () => (stopping ??= undo.disposeAsync()) }
}

/** No API is ever taken to be where this node itself listens, or where it reads its money from. */
function guardOf({ chain, store }: NodeConfig): NodeGuard {
  const guard = new NodeGuard()
  // Names are known at once; a node that is offline does not wait for their addresses.
  for (const url of [chain.rpcUrl, store]) if (url !== undefined) void guard.addService(url)
  return guard
}

function startMoneyWatch({ clock, undo }: Start, { documents }: Store, payments: Payments, events: Events): void {
  const money = payments.money()
  if (money === undefined) return
  const watch = new MoneyWatch({ money, events, documents, clock })
  watch.start()
  undo.defer(() => watch.stop())
}

async function sealerOf(profile: NodeConfig['profile']): Promise<Sealer> {
  return createSealer(await secretOf(profile, 'upstreamKey', () => systemRandom.fill(new Uint8Array(SEALER_KEY_BYTES))))
}

interface SoukParts {
  readonly store: Store
  readonly shared: Store | undefined
  readonly payments: Payments
  readonly guard: NodeGuard
  readonly sealer: Sealer
  readonly events: Events
}

async function startSouk(
  { config, log, logger, clock, undo }: Start,
  { store, shared, payments, guard, sealer, events }: SoukParts
): Promise<{ souk: Souk; registrations: Registrations; p2pPort: number }> {
  const { profile, p2p } = config
  const network = NETWORKS[config.network]
  const listen = await freeMultiaddr(p2p.host, p2p.port)
  const { documents } = store
  const { till, payout, settleAtLast } = payments
  const news = new SubscriptionNews(events)
  let registrations: Registrations | undefined
  const node = await createNode({
    network: network.name,
    privateKey: await identityOf(profile),
    logger,
    listen: [listen.multiaddr],
    announce: p2p.announce,
    bootstrap: [...network.bootstrap, ...p2p.bootstrap],
    store,
    ...(shared === undefined ? {} : { sharedStore: shared }),
    ...(till === undefined ? {} : { till }),
    onSold: (sold, before) => news.sold(before, sold),
    agent: `souk/${packageVersion()}`,
    privateAddresses: network.privateAddresses,
    ...(config.selfReport === undefined ? {} : { selfReport: config.selfReport }),
    probes: config.probe ?? false,
    ...(config.keepDays === undefined ? {} : { keepDays: config.keepDays }),
    trimmedKinds: TRIMMED_KINDS,
    prepare: async (souk) => {
      registrations = new Registrations({
        souk,
        documents,
        factories: protocolFactories,
        clock,
        payout,
        sealer,
        guard,
        events,
        log: log.info
      })
      await registrations.restore('own')
    }
  })
  try {
    await node.start()
  } catch (error) {
    throw new SetupError('start_failed', 'The peer-to-peer side of the node did not start.', { cause: error })
  }
  undo.defer(() => node.stop())
  undo.defer(settleAtLast)
  noteMove(log, 'peer-to-peer side', p2p.port, listen.port)
  if (registrations === undefined) throw new SetupError('start_failed', 'The node started without its listings.')
  const restored = registrations
  undo.defer(() => restored.stop())
  await restored.restore('replica')
  return { souk: node.souk, registrations: restored, p2pPort: listen.port }
}

async function startIngress(
  { config, log, logger, clock, undo }: Start,
  souk: Pick<Souk, 'call' | 'search' | 'resolve' | 'standing' | 'pinned'>,
  parts: Hosting & Pick<IngressInit, 'refusal'> & { readonly subscriptions: SubscriptionParts }
): Promise<string | undefined> {
  const wanted = config.ingress
  if (wanted === undefined) return undefined
  const { tls, port, ...rest } = wanted
  const ingress: Ingress = createIngress({
    souk,
    scopes: new Scopes({ souk, lookup: dnsLookup(), clock }),
    ...parts,
    money: NETWORKS[config.network].money,
    clock,
    random: systemRandom,
    log,
    logger,
    options: {
      ...rest,
      ...port,
      opensAccounts: config.accounts ?? false,
      selfService: config.selfService ?? true,
      ...(tls === undefined ? {} : { tls: await readTls(tls) })
    }
  })
  undo.defer(() => ingress.close())
  const listening = await ingress.listen()
  noteMove(log, 'ingress', port, listening.port)
  return listening.url
}

async function readTls({
  certFile,
  keyFile
}: {
  certFile: string
  keyFile: string
}): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all(
    [certFile, keyFile].map((path) =>
      readFile(path, 'utf8').catch((error: unknown) => {
        throw new SetupError('config_invalid', `${path} cannot be read.`, { cause: error })
      })
    )
  )
  return { cert: cert ?? '', key: key ?? '' }
}

interface Parts {
  readonly souk: Souk
  readonly registrations: Registrations
  readonly hosting: Hosting
  readonly ingress: string | undefined
  readonly payments: Payments
  readonly sessions: Sessions
  readonly telling: Telling
  readonly stores: Stores
  readonly subscriptions: SubscriptionParts
}

async function startAdminApi(init: Start, parts: Parts): Promise<Admin> {
  const { config, log, logger, clock, undo } = init
  const { souk, registrations, hosting, ingress, payments, sessions, telling, subscriptions } = parts
  const { events, webhooks } = telling
  const { feed: calls, captures } = telling.calls
  const { keys, accounts, spending } = hosting
  const { profile } = config
  const money = payments.money()
  const startedAt = { now: clock.now(), elapsed: clock.elapsed() }
  let url = ''
  const status = (): StatusView => {
    const { alone, peers, addresses, ...rest } = souk.status()
    return {
      version: packageVersion(),
      profile: profile.name,
      money: NETWORKS[config.network].money,
      admin: url,
      ingress: ingress ?? null,
      p2p: addresses,
      peers: peers.length,
      alone,
      wallet: money === undefined ? null : checksummed(money.wallet),
      payout: payments.payout.address === undefined ? null : checksummed(payments.payout.address),
      uptime_ms: Math.round(clock.elapsed() - startedAt.elapsed),
      store: storeView(parts.stores, profile),
      ...rest
    }
  }
  const doctor = (signal: AbortSignal) =>
    examine(
      {
        profile,
        network: NETWORKS[config.network],
        souk,
        registrations,
        clock,
        identityOnDisk: async () => peerIdFromPrivateKey(await identityOf(profile)).toString(),
        p2p: souk.status().addresses,
        ingress,
        admin: url,
        startedAt,
        money,
        whyFree: payments.whyFree,
        payout: payments.payout.address,
        store: storeView(parts.stores, profile),
        away: parts.stores.shared?.refusal?.()
      },
      signal
    )
  const token = text(await secretOf(profile, 'adminToken', makeToken))
  const admin = await startAdmin(
    {
      souk,
      registrations,
      keys,
      accounts,
      spending,
      events,
      webhooks,
      calls,
      captures,
      walletDesk: walletDesk(config),
      subscriptions,
      clock,
      token,
      sessions,
      log,
      logger,
      status,
      doctor,
      backUp: (directory) => backUpProfile(profile, directory, (path) => parts.stores.own.backUp(path)),
      money
    },
    { ...config.admin.port, ...(config.admin.host === undefined ? {} : { host: config.admin.host }) }
  )
  undo.defer(() => admin.close())
  url = admin.url
  noteMove(log, 'admin API', config.admin.port, Number(new URL(url).port))
  noteOpen(log, config.admin.host, url)
  return admin
}

/** 256 bits, as text that can stand in a header. */
function makeToken(): Uint8Array {
  return utf8(Buffer.from(systemRandom.fill(new Uint8Array(SECRET_BYTES))).toString('base64url'))
}

/** Whoever reaches the port from elsewhere can say any `Host`, and then only a session or the token is in the way. */
function noteOpen(log: Log, host: string | undefined, url: string): void {
  if (host === undefined || isLoopback(host)) return
  log.info(
    `The admin API listens on ${host}: publish port ${new URL(url).port} as 127.0.0.1:${new URL(url).port} only.`
  )
}

function noteMove(log: Log, what: string, { port, exact }: PortWish, got: number | undefined): void {
  if (exact || port === 0 || got === port) return
  log.info(`Port ${port} is taken: the ${what} is on ${got}.`)
}
