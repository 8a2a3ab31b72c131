import { resolve } from 'node:path'
import { asSoukError, type Atoms, limits, parseUsdc } from '../lib/index.ts'
import type { Address, ChainParameters } from '../lib/interface/index.ts'
import { addressIn } from './address-in.ts'
import { chainParameters } from './chain-parameters.ts'
import { checkScope } from './keys/scope.ts'
import type { Network } from './networks.ts'
import type { ProfileLocation } from './profile/profile.ts'
import type { Settings, PaymentSchemeName } from './settings.ts'
import { SetupError } from './setup-error.ts'

/** An explicitly requested port is used as it is. A default port moves up when it is taken. */
export interface PortPreference {
  readonly port: number
  readonly exact: boolean
}

/** The validated configuration of a node, made by `loadConfig` or by an embedder. */
export interface NodeConfig {
  readonly profile: ProfileLocation
  readonly network: Network
  /** Where newer revisions of the network file are fetched at each start. */
  readonly networkUrl?: string | undefined
  /** The chain that holds the network’s money. */
  readonly chain: ChainParameters
  readonly p2p: {
    /** IP address to listen on. Absent: loopback on `dev`, all interfaces (IPv4 and IPv6) on other networks. */
    readonly host?: string
    readonly port: PortPreference
    /** Multiaddrs to announce instead of the listening ones. */
    readonly announce: readonly string[]
    /** Multiaddrs with peer ids, in addition to the network’s own. */
    readonly bootstrap: readonly string[]
    /** Relays for nodes that cannot be dialled, strangers too. Default: except on networks with real money. */
    readonly relay?: boolean
    /** Finds peers on the LAN. Default: on networks with private addresses, unless the node listens on loopback only. */
    readonly mdns?: boolean
    /** Asks the router to forward the port. Default: on public networks, where the node listens on all interfaces and announces nothing else. */
    readonly portMapping?: boolean
  }
  /** Absent if the node has no HTTP ingress. */
  readonly ingress?: {
    readonly host: string
    readonly port: PortPreference
    /** Paths of PEM files. */
    readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined
    readonly trustProxy: boolean
    readonly corsOrigins: readonly string[]
    /** Forwards calls without a key that an x402 client pays for. Default true. */
    readonly x402?: boolean | undefined
  }
  readonly admin: {
    /** Default 127.0.0.1. Wider addresses are for containers that publish the port on loopback. */
    readonly host?: string
    readonly port: PortPreference
  }
  readonly payments: PaymentConfig
  /** PostgreSQL database through which several ingress nodes share keys and accounts. A secret. Absent: the node’s own store. */
  readonly store?: string | undefined
  /** Unauthenticated callers may open prepaid accounts at the ingress. Default false. */
  readonly accounts?: boolean | undefined
  /** Account holders may create keys. Default true; false also disables `accounts`. */
  readonly selfService?: boolean | undefined
  /** APIs that the public demo key may call: `name@provider` or names. Default: none, and no demo key. */
  readonly demoKey?: readonly string[] | undefined
  /** Manifests of own APIs include their measured reliability. Default true. */
  readonly selfReport?: boolean | undefined
  /** Probes APIs that were called or shown here. Default false. */
  readonly probe?: boolean | undefined
  /** `souk up` ends the process when its event loop hangs this long. 0: never. Embedders have no watchdog. */
  readonly watchdogMs?: number
  /** Days to keep detailed records; `Infinity` keeps them for ever. Default: the library’s. */
  readonly keepDays?: number | undefined
  /** Components to log, as in `DEBUG`. Default: none. */
  readonly log?: string | undefined
}

/** How a node pays and gets paid. */
export interface PaymentConfig {
  /** `metered` counts calls and moves no money, whatever their price. */
  readonly paymentScheme: PaymentSchemeName
  /** File with the wallet’s passphrase. Absent: the terminal asks for it. */
  readonly passphraseFile?: string | undefined
  /** Payout address of this provider; may be a cold address. */
  readonly payout?: Address | undefined
  /** Maximum that the node signs for in one day (UTC), over all keys. Absent: the library’s default. */
  readonly dailyMax?: Atoms | undefined
  /** Claims earnings before the node stops. */
  readonly settleOnStop: boolean
  /** False: no call is served before its deposit is mined. Default true. */
  readonly credit?: boolean | undefined
}

const DEFAULTS = { p2pPort: 4402, ingressPort: 8402, adminPort: 3000, host: '127.0.0.1' }

/** @throws SetupError `config_invalid` */
export function compose(profile: ProfileLocation, network: Network, asked: Settings, saved: Settings): NodeConfig {
  const all: Settings = { ...saved, ...asked }
  const port = (key: 'p2pPort' | 'ingressPort' | 'adminPort'): PortPreference => ({
    port: all[key] ?? DEFAULTS[key],
    exact: asked[key] !== undefined
  })
  const config: NodeConfig = {
    profile,
    network,
    chain: chainParameters(network, all),
    p2p: {
      port: port('p2pPort'),
      announce: all.announce ?? [],
      bootstrap: all.bootstrap ?? [],
      ...(all.p2pHost === undefined ? {} : { host: all.p2pHost }),
      ...(all.relay === undefined ? {} : { relay: all.relay }),
      ...(all.mdns === undefined ? {} : { mdns: all.mdns }),
      ...(all.portMapping === undefined ? {} : { portMapping: all.portMapping })
    },
    // Never read from the profile: opening the admin API to a network must be requested at each start.
    admin: { host: asked.adminHost ?? DEFAULTS.host, port: port('adminPort') },
    payments: composePayments(all),
    watchdogMs: all.watchdog === undefined ? limits.WATCHDOG_MS : checkWatchdog(all.watchdog) * 1_000,
    networkUrl: all.networkUrl,
    store: all.store,
    accounts: all.accounts,
    selfService: all.selfService,
    selfReport: all.selfReport,
    probe: all.probe,
    keepDays: all.keepDays === undefined ? undefined : checkKeepDays(all.keepDays),
    log: all.log,
    demoKey: all.demoKey === undefined || all.demoKey.length === 0 ? undefined : checkDemo(all.demoKey)
  }
  return all.ingress === false ? config : { ...config, ingress: composeIngress(all, port('ingressPort')) }
}

/** @throws SetupError `config_invalid` */
function checkDemo(apis: readonly string[]): readonly string[] {
  try {
    return checkScope(apis)
  } catch (error) {
    throw new SetupError('config_invalid', `--demo-key: ${asSoukError(error).message}`)
  }
}

/** @throws SetupError `config_invalid` */
function checkKeepDays(days: number | 'forever'): number {
  if (days === 'forever') return Infinity
  const [least, most] = [limits.KEEP_DAYS_MIN, limits.KEEP_DAYS_MAX]
  if (days >= least && days <= most) return days
  throw new SetupError('config_invalid', `--keep-days is not valid: give ${least} to ${most} days, or forever.`)
}

/** @throws SetupError `config_invalid` */
function checkWatchdog(seconds: number): number {
  const most = limits.WATCHDOG_S_MAX
  if (seconds <= most) return seconds
  throw new SetupError(
    'config_invalid',
    `--watchdog is not valid: give whole seconds, at most ${most}, or 0 for no watchdog.`
  )
}

function composePayments({ till, passphraseFile, payout, dailyCap, settleOnStop, credit }: Settings): PaymentConfig {
  return {
    paymentScheme: till ?? 'channel',
    settleOnStop: settleOnStop ?? false,
    passphraseFile: passphraseFile === undefined ? undefined : resolve(passphraseFile),
    payout: payout === undefined ? undefined : addressIn('payout', payout),
    dailyMax: dailyCap === undefined ? undefined : parseUsdc(dailyCap),
    credit
  }
}

function composeIngress(all: Settings, port: PortPreference): NonNullable<NodeConfig['ingress']> {
  if ((all.tlsCert === undefined) !== (all.tlsKey === undefined)) {
    throw new SetupError('config_invalid', 'A TLS certificate needs its key, and a key its certificate.', {
      hint: 'souk up --tls-cert cert.pem --tls-key key.pem'
    })
  }
  return {
    host: all.ingressHost ?? DEFAULTS.host,
    port,
    trustProxy: all.trustProxy ?? false,
    corsOrigins: all.corsOrigin ?? [],
    x402: all.x402,
    tls:
      all.tlsCert === undefined || all.tlsKey === undefined
        ? undefined
        : { certFile: resolve(all.tlsCert), keyFile: resolve(all.tlsKey) }
  }
}
