import type { ComponentLogger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { limits, systemClock, systemRandom } from '../lib/index.ts'
import type { Clock, Documents, Souk } from '../lib/interface/index.ts'
import { startHosting } from './accounts/hosting.ts'
import { Sessions } from './admin/sessions/sessions.ts'
import { createComponentLogger } from './component-logger.ts'
import type { Events } from './events/events.ts'
import type { Log } from './log.ts'
import { startEvents } from './events/start-events.ts'
import { SubscriptionEvents } from './events/subscription-events.ts'
import { tellDispute } from './events/tell-dispute.ts'
import { MoneyWatch } from './events/watch-money.ts'
import { createLog } from './log.ts'
import { PortTaken } from './http/p2p-port.ts'
import { type NodeInfo, nodeInfo } from './node-info.ts'
import type { NodeConfig } from './node-config.ts'
import { startAdminPart } from './parts/admin.ts'
import { startIngress } from './parts/ingress.ts'
import { startMarket } from './parts/market.ts'
import { NetworkWatch, withNewestNetwork } from './network/refresh-network.ts'
import { openPayments, type Payments, type PaymentsInit } from './payments/payments.ts'
import { lockProfile } from './profile/profile-lock.ts'
import { openProfile, profileFile, secretOf } from './profile/profile.ts'
import { fileFault, storeFailed } from './profile/store-fault.ts'
import { forgetRunning, rememberRunning } from './profile/saved-settings.ts'
import type { SetupError } from './setup-error.ts'
import { openStores } from './stores.ts'
import { openSubscriptions } from './subscriptions/open.ts'
import { NodeGuard } from './upstream/guard.ts'
import { createSecretBox, type SecretBox, SECRET_BOX_KEY_BYTES } from './upstream/secret-box.ts'

export interface RunOptions {
  /** Receives log lines for the operator. Default: none. */
  readonly log?: (line: string) => void
  /** Called once when the node must stop: a commit failed, and only the disk knows whether it is durable. Stop the node and start it again. */
  readonly onFailure?: (error: SetupError) => void
  /** Aborts a start that waits for a database. The start rejects with the signal’s reason. */
  readonly signal?: AbortSignal
  /** Asks for the wallet’s passphrase without echo. Default: never asks. */
  readonly askSecret?: (question: string) => Promise<string>
}

export interface RunningNode {
  readonly info: NodeInfo
  readonly souk: Souk
  /** Stops all parts in order. A second call waits for the first. */
  stop(): Promise<void>
}

/**
 * Starts a whole node: profile, store, libp2p with Souk, the APIs registered before, ingress, admin API. It resolves when
 * all of it can be used; when any part fails, what was started is stopped again.
 *
 * It stops the other way round: the admin API and the ingress take nothing new and let running calls end, then Souk drains
 * and leaves the network, then the store is closed, and last the profile is free again.
 *
 * @throws SetupError
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from 'node:fs/promises'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { loadConfig, runNode } from 'souk/node'
 *
 * const home = await mkdtemp(join(tmpdir(), 'souk-'))
 * const env = { SOUK_HOME: home, SOUK_NETWORK: 'dev', SOUK_TILL: 'metered' }
 * const config = await loadConfig({ profile: 'shop', flags: {}, env })
 * const node = await runNode(config)
 * console.log(node.souk.status().network) // dev
 * await node.stop()
 * await rm(home, { recursive: true })
 * ```
 */
export async function runNode(config: NodeConfig, options: RunOptions = {}): Promise<RunningNode> {
  for (let triesLeft = limits.PORT_TRIES_MAX; ; triesLeft--) {
    try {
      return await runOnce(config, options)
    } catch (error) {
      if (!(error instanceof PortTaken) || triesLeft === 0) throw error
    }
  }
}

/** @throws SetupError; PortTaken, then another try may succeed */
async function runOnce(config: NodeConfig, options: RunOptions): Promise<RunningNode> {
  let failure: SetupError | undefined
  const log = createLog((line) => {
    // After a store failure, log no follow-up errors.
    if (failure === undefined) options.log?.(line)
  })
  const write = (text: string) => options.log?.(text)
  const logger = config.log === undefined ? defaultLogger() : createComponentLogger(config.log, write)
  const onFailure = (error: Error): void => {
    const words = storeFailed(error, config.profile)
    if (options.onFailure === undefined) log.error(words.message)
    failure = words
    options.onFailure?.(words)
  }
  const parts = new AsyncDisposableStack()
  const { askSecret, signal = new AbortController().signal } = options
  try {
    const init = { config, log, logger, onFailure, signal, clock: systemClock, ...(askSecret && { askSecret }) }
    const started = await start(init, parts)
    let stopping: Promise<void> | undefined
    const stop = () =>
      (stopping ??= parts.disposeAsync().catch((error: unknown) => {
        if (failure === undefined) throw error
      }))
    return { ...started, stop }
  } catch (error) {
    await parts.disposeAsync().catch((cause: unknown) => log.error('what was started did not stop cleanly', { cause }))
    throw failure ?? fileFault(error, config.profile) ?? error
  }
}

interface Start extends PaymentsInit {
  readonly logger: ComponentLogger
  readonly onFailure: (error: Error) => void
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Starts the parts of a node in order. `parts` stops them in reverse. */
async function start(asked: Start, parts: AsyncDisposableStack): Promise<Omit<RunningNode, 'stop'>> {
  const { profile } = asked.config
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  parts.defer(() => lock.release())
  const init = { ...asked, config: await withNewestNetwork(asked.config, asked.log) }
  const { config, clock } = init

  const payments = await openPayments(init)
  parts.defer(payments.stop)
  const stores = parts.use(await openStores(init))
  const { own, shared } = stores
  const guard = guardOf(config)
  const secretBox = await secretBoxOf(profile)
  const nodeEvents = parts.use(await startEvents({ ...init, documents: own.documents, guard, secretBox }))
  const { events, calls } = nodeEvents
  const store = calls.store(own)
  const market = parts.use(await startMarket({ ...init, store, shared, payments, guard, secretBox, events }))
  const { souk } = market

  const networkWatch = new NetworkWatch({ ...init, souk })
  const money = () => payments.money()
  const common = shared ?? store
  const { documents } = common
  const hosting = parts.use(await startHosting({ ...init, store: common, self: souk.status().peer, money, events }))
  const subscriptionEvents = new SubscriptionEvents(events)
  const subscriptions = openSubscriptions({ ...hosting, souk, documents, clock, subscriptionEvents })
  const refusal = () => own.refusal?.() ?? shared?.refusal?.()
  const doors = { ...init, hosting, subscriptions }
  const ingress = parts.use(await startIngress({ ...doors, souk: calls.caller(souk), refusal }))
  const sessions = new Sessions({
    profile: config.profile.name,
    documents: store.documents,
    clock,
    random: systemRandom
  })
  const admin = parts.use(
    await startAdminPart({
      ...doors,
      market,
      networkWatch,
      ingress: ingress.url,
      payments,
      sessions,
      nodeEvents,
      stores
    })
  )
  networkWatch.start()
  parts.defer(() => networkWatch.stop())
  watchMoney(parts, { clock, documents: store.documents, payments, events, log: asked.log })

  const setupCode = (await sessions.hasAny()) ? undefined : sessions.newCode().code
  const urls = { ingress: ingress.url, admin: admin.url }
  const info = nodeInfo(config, souk, { ...urls, demoKey: hosting.keys.demo?.key, setupCode })
  for (const port of portsOf(market, urls)) guard.addPort(port)
  parts.defer(() => forgetRunning(profile))
  await rememberRunning(config, info, market.p2pPort)
  return { info, souk }
}

/** Refuses upstreams at addresses of this node or of the services it depends on for money and storage. */
function guardOf({ chain, store }: NodeConfig): NodeGuard {
  const guard = new NodeGuard()
  // Names are blocked at once. Resolving their addresses runs in the background, because the node may be offline.
  for (const url of [chain.rpcUrl, store]) if (url !== undefined) void guard.addService(url)
  return guard
}

/** The node’s ports, listening and announced: an announced port may forward to a listening one. */
function* portsOf(
  { souk, p2pPort }: { readonly souk: Souk; readonly p2pPort: number },
  { ingress, admin }: { readonly ingress: string | undefined; readonly admin: string }
): Iterable<number> {
  for (const url of [ingress, admin]) if (url !== undefined) yield Number(new URL(url).port)
  yield p2pPort
  for (const address of souk.status().addresses) yield Number(/\/tcp\/(\d+)/.exec(address)?.[1] ?? p2pPort)
}

interface MoneyWatchInit {
  readonly clock: Clock
  readonly documents: Documents
  readonly payments: Payments
  readonly events: Events
  readonly log: Log
}

function watchMoney(parts: AsyncDisposableStack, { payments, log, ...init }: MoneyWatchInit): void {
  payments.onDispute((dispute) => void tellDispute(dispute, { events: init.events, log }))
  const money = payments.money()
  if (money === undefined) return
  const watch = new MoneyWatch({ ...init, money })
  watch.start()
  parts.defer(() => watch.stop())
}

async function secretBoxOf(profile: NodeConfig['profile']): Promise<SecretBox> {
  return createSecretBox(
    await secretOf(profile, 'upstreamKey', () => systemRandom.fill(new Uint8Array(SECRET_BOX_KEY_BYTES)))
  )
}
