import type { ApiId } from '../base/api-name.ts'
import { reasonOf } from '../base/component-log.ts'
import { SoukError } from '../base/errors.ts'
import {
  CLAIMANTS_AT_ONCE,
  CLAIMANTS_MAX,
  CLAIMANTS_MS,
  CLAIMANTS_MS_MIN,
  CLAIMANTS_PER_PEER_MAX
} from '../base/limits/directory.ts'
import type { Timer } from '../base/clock.ts'
import { formatUsdc } from '../base/money.ts'
import { Slots } from '../base/slots.ts'
import { type UnreachableStep, unreachableStep } from '../base/unreachable.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import { within } from '../base/within.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { ignore } from '../base/ignore.ts'
import { splitId } from './directory/keys.ts'
import { type LookUpInit, openChannel, type Seed } from './look-up.ts'
import { fetchManifests } from './manifest/manifest-exchange.ts'
import { notFound } from './not-found.ts'

interface Claim {
  readonly id: ApiId
  readonly seeds: readonly Seed[]
}

/**
 * Resolves a bare name to the API of its only claimant. It waits for further claimants before it accepts the first.
 * Otherwise the fastest claimant would get the callers of the rightful one.
 * @throws SoukError `api_not_found`, `name_conflict`, `owner_unreachable`; the signal's reason
 */
export async function resolveName(
  init: LookUpInit,
  name: string,
  signal: AbortSignal,
  isForCall = false
): Promise<Claim> {
  const { seeds, isSilent, trail } = await hear(init, name, signal, isForCall)
  const claims = new Map<ApiId, Seed[]>()
  for (const seed of seeds) claims.set(seed.signed.id, [...(claims.get(seed.signed.id) ?? []), seed])
  const all = [...claims].map(([id, seeds]) => ({ id, seeds }))
  const live = all.filter(({ seeds }) => seeds.some(({ signed }) => signed.manifest.state !== 'retired'))
  const candidates = live.length > 0 ? live : all
  const [only] = candidates
  if (only === undefined) {
    if (isSilent) {
      throw notFound('owner_unreachable', `"${name}" was published, but no node that serves it responded`, trail)
    }
    throw notFound('api_not_found', `No API is named "${name}"`, trail)
  }
  return candidates.length === 1 ? only : decide(init, name, candidates, signal)
}

/** Queries every peer that claims to know an API of this name. */
async function hear(init: LookUpInit, name: string, signal: AbortSignal, isForCall: boolean) {
  const { link, clock, pins, onAsked, log } = init
  const seeds: Seed[] = []
  const refusals: string[] = []
  const steps: UnreachableStep[] = []
  let hasOlder = false
  let answers = 0
  /** Resolves to true where the peer knows an API of this name. */
  const ask = async (peer: PeerAddress): Promise<boolean> => {
    const fetched = await fetchManifests(peer, { name }, { link, clock, signal }).catch((error: unknown) => {
      if (log.enabled) log('%s: %s did not respond: %s', name, peer.id, reasonOf(error))
      steps.push(unreachableStep(error) ?? 'manifest')
      if (!signal.aborted) onAsked(peer.id, false)
    })
    if (fetched === undefined) return false
    log.trace('%s: %s sent %d manifests', name, peer.id, fetched.manifests.length)
    answers++
    onAsked(peer.id, true)
    refusals.push(...fetched.refusals)
    for (const signed of fetched.manifests.slice(0, CLAIMANTS_PER_PEER_MAX)) {
      if (await pins.allows(signed)) seeds.push({ peer, signed })
      else hasOlder = true
    }
    return seeds.some((seed) => seed.peer === peer)
  }
  const { isNamed, isAnswered } = await askAll(init, name, signal, isForCall, ask)
  if (seeds.length === 0) await askListed(init, name, ask)
  signal.throwIfAborted()
  const asked = answers + steps.length
  const isSilent = asked > 0 && answers === 0
  // Peers that made no claim are not counted.
  const named = isNamed ? { asked, answered: answers } : { asked: 0, answered: 0 }
  const isCutOff = !isAnswered && init.hasOthers()
  return { seeds, isSilent, trail: { ...named, refusals, hasOlder, steps, isCutOff } }
}

/**
 * Asks the claimants as the directory names them. Ends when all have responded, or some time after the first one with an
 * API of this name: of the others, and of the directory's peers, some may be offline.
 * @returns whether the directory names any, and whether it responded
 */
async function askAll(
  { directory, link, clock }: LookUpInit,
  name: string,
  signal: AbortSignal,
  isForCall: boolean,
  ask: (peer: PeerAddress) => Promise<boolean>
): Promise<{ readonly isNamed: boolean; readonly isAnswered: boolean }> {
  const startedAt = clock.elapsed()
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  const slots = new Slots(CLAIMANTS_AT_ONCE)
  const asking: Array<Promise<void>> = []
  let patience: Timer | undefined
  const askInTurn = async (peer: PeerAddress) => {
    const leave = await slots.enter(either)
    const asked = ask(peer)
    // A silent claimant holds up the next ones for a moment only.
    void waitAtMost(clock, CLAIMANTS_MS_MIN, asked).then(leave, leave)
    const hasIt = await asked
    const waitMs = Math.min(CLAIMANTS_MS, Math.max(CLAIMANTS_MS_MIN, clock.elapsed() - startedAt))
    if (hasIt) patience ??= clock.after(waitMs, () => enough.abort())
  }
  let isAnswered = true
  const onUnanswered = () => {
    isAnswered = false
  }
  for await (const peer of directory.claimants(name, either, { onUnanswered })) {
    if (isForCall && peer.id !== link.self && asking.length === 0) openChannel({ link, clock }, peer)
    if (peer.id !== link.self) asking.push(askInTurn(peer).catch(ignore))
    if (asking.length >= CLAIMANTS_MAX) break
  }
  const isNamed = asking.length > 0
  // Peers that just connected may know names that the directory does not have yet.
  const others = isNamed ? [] : link.peers().slice(0, CLAIMANTS_AT_ONCE)
  asking.push(...others.map((peer) => askInTurn(peer).catch(ignore)))
  await within(Promise.all(asking), either).catch(ignore)
  patience?.cancel()
  return { isNamed, isAnswered }
}

/** Asks the providers that the catalogue names. */
async function askListed(
  { listed, link }: LookUpInit,
  name: string,
  ask: (peer: PeerAddress) => Promise<boolean>
): Promise<void> {
  const providers = (await listed(name)).map((id) => splitId(id).provider).filter((id) => id !== link.self)
  await Promise.all(providers.map((id) => ask({ id, addresses: [] })))
}

/** A manifest alone may be replayed. A live record shows that its provider still serves it. */
async function decide(init: LookUpInit, name: string, claims: readonly Claim[], signal: AbortSignal): Promise<Claim> {
  const records = await Promise.all(claims.map(({ id }) => init.directory.record(id, signal).catch(() => undefined)))
  signal.throwIfAborted()
  const proven = claims.filter((_, index) => records[index] !== undefined)
  const [only] = proven
  if (proven.length === 1 && only !== undefined) return only
  const rivals = proven.length > 0 ? proven : claims
  const candidates = rivals.flatMap(({ seeds }) => seeds.slice(0, 1).map(({ signed }) => describe(signed)))
  throw conflict(name, candidates)
}

export function conflict(name: string, candidates: ReadonlyArray<{ readonly id: ApiId }>): SoukError {
  return new SoukError('name_conflict', `Several providers use the name "${name}". Choose one with name@provider.`, {
    members: { candidates }
  })
}

export const describe = ({ id, manifest }: SignedManifest) => ({
  id,
  protocol: manifest.protocol,
  price: formatUsdc(manifest.price),
  description: manifest.description
})
