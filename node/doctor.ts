import { asSoukError, deadline, limits, reachabilityText, SoukError } from '../lib/index.ts'
import type { Address, Clock, Reachability, Souk } from '../lib/interface/index.ts'
import type { DoctorCheck, DoctorView, StoreView } from './admin/api.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import type { Network } from './networks.ts'
import { connectionShares, openFilesMax } from './open-files.ts'
import { moneyChecks } from './payments/money-checks.ts'
import type { Money } from './payments/money.ts'
import { checkPrivate, isMissing } from './profile/private-file.ts'
import { forProfile } from './profile/for-profile.ts'
import { DEFAULT_PROFILE, PROFILE_FILES, type ProfileLocation, profileFile } from './profile/profile.ts'
import { checkCertificate, type CertificateFiles } from './ingress/certificate.ts'
import { overCatalogue } from './registrations/over-catalogue.ts'
import type { RegistrationStatus } from './registrations/registration.ts'
import type { Registrations } from './registrations/registrations.ts'
import { SetupError } from './setup-error.ts'

const NODE_MAJOR_MIN = 24
const GIB = 2 ** 30

export interface DoctorInit {
  readonly profile: ProfileLocation
  readonly network: Network
  readonly souk: Souk
  readonly registrations: Registrations
  readonly clock: Clock
  /** Peer id of the key file, read again each time. */
  readonly identityOnDisk: () => Promise<string>
  /** Listening addresses: multiaddrs and URLs. */
  readonly p2p: readonly string[]
  readonly ingress: string | undefined
  /** Files of the certificate of the ingress, if it has one. */
  readonly tls: CertificateFiles | undefined
  readonly admin: string
  readonly money: Money | undefined
  readonly whyFree: string | undefined
  readonly payout: Address | undefined
  readonly store: StoreView
  /** Why the shared database is unreachable. */
  readonly away: Error | undefined
}

/** Checks a node for common problems and suggests fixes. */
export async function examine(init: DoctorInit, signal: AbortSignal): Promise<DoctorView> {
  const asked = await Promise.all([
    nodeVersion(),
    files(init),
    identity(init),
    ports(init),
    ...(init.tls === undefined ? [] : [checkCertificate(init.tls, init.clock.now())]),
    peers(init),
    reachability(init.souk.status().reachability, init.network),
    clock(init),
    ...moneyChecks(init),
    ...init.registrations.list().flatMap((status) => [listing(status), upstream(init, status, signal)])
  ])
  const { name } = init.profile
  const own = name === DEFAULT_PROFILE ? undefined : name
  const found = [...asked, ...openFiles(), disk(init), ...database(init), ...catalogue(init)]
  const checks = found.map((check) =>
    check.hint === undefined ? check : { ...check, hint: forProfile(check.hint, own) }
  )
  return { ok: checks.every(({ result }) => result !== 'fail'), checks }
}

function nodeVersion(): Finding {
  const isEnough = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN
  return isEnough
    ? ok('node', `Node.js ${process.version}`)
    : fail('node', `Node.js ${process.version} is too old.`, `install Node.js ${NODE_MAJOR_MIN} or newer`)
}

async function files({ profile }: DoctorInit): Promise<DoctorCheck> {
  for (const path of [profile.directory, ...PROFILE_FILES.map((file) => profileFile(profile, file))]) {
    try {
      await checkPrivate(path)
    } catch (error) {
      if (isMissing(error)) continue
      if (error instanceof SetupError) return fail('files', error.message, error.hint ?? `look at ${path}`)
      return fail('files', `${path} cannot be inspected.`, 'run souk doctor as the user who owns the profile')
    }
  }
  return ok('files', `${profile.directory} is private`)
}

async function identity({ souk, profile, identityOnDisk }: DoctorInit): Promise<DoctorCheck> {
  const { peer } = souk.status()
  const onDisk = await identityOnDisk().catch(() => undefined)
  if (onDisk === peer) return ok('identity', peer)
  const path = profileFile(profile, 'identity')
  return onDisk === undefined
    ? fail('identity', `${path} cannot be read.`, 'restore it from a backup before this node stops')
    : fail('identity', `${path} holds the key of another node, ${onDisk}.`, 'restore the right one, then restart')
}

async function ports({ p2p, ingress, admin, clock }: DoctorInit): Promise<DoctorCheck> {
  if (p2p.length === 0) return fail('ports', 'The node listens for no peers.', 'restart it with souk up')
  if (ingress !== undefined) {
    const limit = deadline(clock, limits.DOCTOR_CHECK_MS, () => new SoukError('upstream_timeout'))
    try {
      await fetch(`${ingress}/livez`, { signal: limit.signal })
    } catch {
      // A TLS certificate may not match this address. Any TLS response shows that the server is up.
      if (ingress.startsWith('http:'))
        return fail('ports', `Nothing responds on ${ingress}.`, 'restart it with souk up')
    } finally {
      limit.clear()
    }
  }
  return ok('ports', [...p2p, ...(ingress === undefined ? [] : [ingress]), admin].join(', '))
}

function peers({ souk }: DoctorInit): Finding {
  const { alone, peers } = souk.status()
  return alone
    ? warn(
        'peers',
        'No peer is connected, so consumers cannot find your APIs.',
        'souk up --bootstrap <multiaddr of a peer>'
      )
    : ok('peers', `${peers.length} connected`)
}

/** Only a seller has to be reached. On a private network, its own machine may be enough. */
export function reachability(reach: Reachability, network: Pick<Network, 'privateAddresses'>): Finding {
  // The clock is a check of its own.
  const { text, hint } = reachabilityText({ ...reach, clockAheadMs: 0 })
  const isFine =
    reach.state === 'direct' || reach.state === 'relayed' || (reach.state === 'private' && network.privateAddresses)
  return isFine || hint === undefined ? ok('reachability', text) : warn('reachability', text, hint)
}

/**
 * Detects a clock that differs from those of peers, that is behind its own records, or that differs from the chain’s. A play chain
 * keeps no real time, so it is not compared.
 */
async function clock({ clock, souk, registrations, money, network }: DoctorInit): Promise<DoctorCheck> {
  const now = clock.now()
  const wrong = reachabilityText(souk.status().reachability).clock
  if (wrong !== undefined) return fail('clock', `The ${wrong}.`, SET_CLOCK)
  const newest = Math.max(0, ...registrations.list().map(({ registration }) => registration.registeredAt))
  if (newest > now + limits.CLOCK_SKEW_MS) {
    return fail('clock', 'The clock is behind: a registration has a later date.', SET_CLOCK)
  }
  const isReal = !network.isPlay
  const block = isReal ? await money?.chain.block('latest').catch(() => undefined) : undefined
  return againstChain(now, block?.at)
}

const SET_CLOCK = 'set the clock of this machine, for example with NTP'

/** @param chainAt time of the last block; undefined if unknown */
export function againstChain(now: number, chainAt: number | undefined): DoctorCheck {
  const text = new Date(now).toISOString()
  if (chainAt === undefined) return ok('clock', text)
  const ahead = now - chainAt
  const seconds = Math.round(Math.abs(ahead) / 1000)
  if (Math.abs(ahead) <= limits.CLOCK_SKEW_MS) return ok('clock', `${text}, ${seconds} s from the chain's last block`)
  return ahead < 0
    ? fail('clock', `The clock is ${seconds} s behind the chain.`, SET_CLOCK)
    : warn(
        'clock',
        `The clock is ${seconds} s ahead of the chain's last block. The clock is wrong, or the endpoint is behind.`,
        'set up NTP; or souk up --chain-rpc <url of an endpoint>'
      )
}

/** No check where the system does not tell the limit. */
export function openFiles(files = openFilesMax()): DoctorCheck[] {
  if (files === undefined) return []
  const wanted = 2 * limits.HTTP_CONNECTIONS_MAX
  if (files >= wanted) return [ok('open files', String(files))]
  const { http, peers } = connectionShares(files)
  const message = `This process may open ${files} files, so the node accepts ${http} connections of consumers and ${peers} of peers.`
  return [warn('open files', message, `ulimit -n ${wanted} before souk up, or LimitNOFILE=${wanted} in its service`)]
}

export function disk({ profile, store }: Pick<DoctorInit, 'profile' | 'store'>): DoctorCheck {
  const free = store.free_bytes
  if (free === null) return warn('disk', 'The free disk space is unknown.', `df ${profile.directory}`)
  const text = `${(free / GIB).toFixed(1)} GiB free`
  const hint = `make room on the disk of ${profile.directory}`
  if (free < limits.STORE_FREE_BYTES_MIN) return fail('disk', `${text}: this node accepts no calls.`, hint)
  return free < limits.DISK_FREE_BYTES_MIN ? warn('disk', text, hint) : ok('disk', text)
}

function catalogue({ registrations }: DoctorInit): DoctorCheck[] {
  const own = registrations.list().filter(({ registration }) => registration.kind === 'own').length
  return overCatalogue(own).map((text) => warn('catalogue', text, 'register the others on another node'))
}

function database({ store, away }: DoctorInit): DoctorCheck[] {
  if (store.shared === null) return []
  if (away === undefined) return [ok('database', 'connected')]
  return [fail('database', away.message, 'look at the PostgreSQL server of --store')]
}

function listing({ registration, listing, problem, warnings }: RegistrationStatus): Finding {
  const name = `listing ${registration.name}`
  if (problem !== undefined || listing === undefined) {
    return fail(name, problem ?? 'The API is not served.', `souk api show ${registration.name}`)
  }
  const { published } = listing
  if (published !== undefined && published.asked > 0 && published.stored === 0) {
    return warn(name, `None of ${published.asked} peers accepted the listing.`, 'souk peers')
  }
  const [warning] = warnings
  if (warning === undefined) return ok(name, listing.state)
  const more = warnings.length === 1 ? '' : ` (and ${warnings.length - 1} more)`
  return warn(name, `${warning}${more}`, `souk api show ${registration.name}`)
}

async function upstream(
  init: DoctorInit,
  { registration }: RegistrationStatus,
  signal: AbortSignal
): Promise<DoctorCheck> {
  const name = `upstream ${registration.name}`
  const late = () => new SoukError('upstream_timeout')
  const limit = deadline(init.clock, limits.DOCTOR_CHECK_MS, late, signal)
  try {
    await init.registrations.check(registration, limit.signal)
    return ok(name, registration.upstream.endpoint)
  } catch (error) {
    return fail(name, asSoukError(error).message, `look at ${registration.upstream.endpoint}`)
  } finally {
    limit.clear()
  }
}
