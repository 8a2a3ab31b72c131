import type { ApiId } from '../base/api-name.ts'
import { reasonOf } from '../base/component-log.ts'
import { SoukError } from '../base/errors.ts'
import { CLAIMANTS_PER_PEER_MAX } from '../base/limits/directory.ts'
import { formatUsdc } from '../base/money.ts'
import { type UnreachableStep, unreachableStep } from '../base/unreachable.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { askClaimants } from './ask-claimants.ts'
import type { LookUpInit, Seed } from './look-up.ts'
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
  const { isNamed, isAnswered } = await askClaimants(init, name, signal, isForCall, ask)
  signal.throwIfAborted()
  const asked = answers + steps.length
  const isSilent = asked > 0 && answers === 0
  // Peers that made no claim are not counted.
  const named = isNamed ? { asked, answered: answers } : { asked: 0, answered: 0 }
  const isCutOff = !isAnswered && init.hasOthers()
  const isConnected = init.isConnected()
  return { seeds, isSilent, trail: { ...named, refusals, hasOlder, steps, isCutOff, isConnected } }
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
