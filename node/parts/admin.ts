import type { ComponentLogger } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { checksummed, systemRandom, text, utf8 } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Hosting } from '../accounts/hosting.ts'
import type { DoctorView, StatusView } from '../admin/api.ts'
import { startAdmin } from '../admin/server.ts'
import type { Sessions } from '../admin/sessions/sessions.ts'
import { packageVersion } from '../config.ts'
import { examine } from '../doctor.ts'
import type { NodeEvents } from '../events/start-events.ts'
import type { Log } from '../log.ts'
import type { NodeConfig } from '../node-config.ts'
import type { Payments } from '../payments/payments.ts'
import type { NetworkWatch } from '../network/refresh-network.ts'
import { identityOf } from '../profile/identity.ts'
import { backUpProfile } from '../profile/profile-backup.ts'
import { ProgramFiles } from '../program-files.ts'
import { secretOf } from '../profile/profile.ts'
import { reachabilityView } from '../reachability-view.ts'
import { storeView } from '../store-view.ts'
import type { Stores } from '../stores.ts'
import type { SubscriptionParts } from '../subscriptions/open.ts'
import { walletService } from '../wallet/wallet-service.ts'
import type { Market } from './market.ts'
import { tellMovedPort, tellOpenAdmin } from './tell-ports.ts'

export interface AdminPartInit {
  readonly config: NodeConfig
  readonly log: Log
  readonly logger: ComponentLogger
  readonly clock: Clock
  readonly market: Market
  readonly networkWatch: Pick<NetworkWatch, 'restartNeeded'>
  readonly hosting: Hosting
  /** URL of the ingress. */
  readonly ingress: string | undefined
  readonly payments: Payments
  readonly sessions: Sessions
  readonly nodeEvents: NodeEvents
  readonly stores: Stores
  readonly subscriptions: SubscriptionParts
}

/** The admin API and the console. */
export interface AdminPart extends AsyncDisposable {
  readonly url: string
}

const SECRET_BYTES = 32

/** @throws SetupError `port_busy`, `start_failed` */
export async function startAdminPart(init: AdminPartInit): Promise<AdminPart> {
  const { config, log, logger, clock, market, hosting, payments, sessions, nodeEvents, stores, subscriptions } = init
  const { profile } = config
  const { souk, registrations } = market
  const { events, webhooks } = nodeEvents
  const { feed: calls, captures } = nodeEvents.calls
  const { keys, accounts, spending } = hosting
  // The address is known once the API listens, and is read only after that.
  const own = { url: '', startedAt: clock.elapsed(), program: new ProgramFiles() }
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
      walletService: walletService(config),
      subscriptions,
      clock,
      token: text(await secretOf(profile, 'adminToken', makeToken)),
      sessions,
      log,
      logger,
      status: () => statusOf(init, own),
      doctor: (signal) => diagnose(init, own, signal),
      backUp: (directory) => backUpProfile(profile, directory, (path) => stores.own.backUp(path)),
      money: payments.money()
    },
    { ...config.admin.port, host: config.admin.host }
  )
  own.url = admin.url
  tellMovedPort(log, 'admin API', config.admin.port, Number(new URL(admin.url).port))
  tellOpenAdmin(log, config.admin.host, admin.url)
  return { url: admin.url, [Symbol.asyncDispose]: () => admin.close() }
}

/** The admin API’s information about itself. */
interface Own {
  readonly url: string
  /** Monotonic time. */
  readonly startedAt: number
  readonly program: ProgramFiles
}

function statusOf(
  { config, market, networkWatch, ingress, payments, clock, stores }: AdminPartInit,
  own: Own
): StatusView {
  const { alone, peers, addresses, paymentScheme, reachability, ...rest } = market.souk.status()
  const money = payments.money()
  const payout = payments.payout.address
  return {
    version: packageVersion(),
    profile: config.profile.name,
    restart_needed: own.program.restartNeeded ?? networkWatch.restartNeeded ?? null,
    money: config.network.money,
    admin: own.url,
    ingress: ingress ?? null,
    p2p: addresses,
    reachability: reachabilityView(reachability),
    peers: peers.length,
    alone,
    till: paymentScheme,
    wallet: money === undefined ? null : checksummed(money.wallet),
    chain: money?.health.problem ?? (money === undefined ? null : 'connected'),
    payout: payout === undefined ? null : checksummed(payout),
    uptime_ms: Math.round(clock.elapsed() - own.startedAt),
    store: storeView(stores, config.profile),
    ...rest
  }
}

function diagnose(init: AdminPartInit, own: Own, signal: AbortSignal): Promise<DoctorView> {
  const { config, market, ingress, payments, clock, stores } = init
  const { profile } = config
  const { souk, registrations } = market
  return examine(
    {
      profile,
      network: config.network,
      souk,
      registrations,
      clock,
      identityOnDisk: async () => peerIdFromPrivateKey(await identityOf(profile)).toString(),
      p2p: souk.status().addresses,
      ingress,
      tls: config.ingress?.tls,
      admin: own.url,
      money: payments.money(),
      whyFree: payments.whyFree,
      payout: payments.payout.address,
      store: storeView(stores, profile),
      away: stores.shared?.refusal?.()
    },
    signal
  )
}

/** 256 random bits as header-safe text. */
function makeToken(): Uint8Array {
  return utf8(Buffer.from(systemRandom.fill(new Uint8Array(SECRET_BYTES))).toString('base64url'))
}
