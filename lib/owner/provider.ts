import { isDeepStrictEqual } from 'node:util'
import { type ApiId, apiId, checkApiName } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { checkRateLimit } from '../base/gcra.ts'
import { given } from '../base/given.ts'
import { IN_FLIGHT_PER_API_MAX } from '../base/limits/admission.ts'
import { UPLOAD_BYTES_CEILING } from '../base/limits/call.ts'
import { CLOCK_SKEW_MS, DELEGATION_TTL_MS, MANIFEST_TTL_MS, SELF_REPORT_AGE_MS } from '../base/limits/directory.ts'
import { SUNSET_MS_MIN } from '../base/limits/plans.ts'
import { DAY_MS } from '../base/limits/time.ts'
import { parseUsdc } from '../base/money.ts'
import { Mutex } from '../base/mutex.ts'
import type { Adapter, ApiDescription } from '../interface/adapter.ts'
import type { PublishedApi } from '../interface/published-api.ts'
import {
  type Delegation,
  type Deprecation,
  type DeprecationNotice,
  LISTING_MOVES,
  type ListingState,
  type Manifest,
  type ManifestSigner,
  type SelfReport,
  type SignedManifest
} from '../interface/manifest.ts'
import type { Listing, ListingInit } from '../interface/souk.ts'
import type { Documents } from '../interface/store.ts'
import { checkListing } from './check-listing.ts'
import type { Announcer } from './announcer.ts'
import { offeredPlans } from './offered-plans.ts'
import { DEFAULT_TERMS, pricedSince, type ServingTerms } from './served-api.ts'
import type { ServedApis } from './served-apis.ts'
import { isHeld, tombstone } from './tombstone.ts'
import { sameReport } from './track-record.ts'

/** Holds the documents that describe the served APIs, for peers. */
export interface PublishedDescriptions {
  /** @throws SoukError `invalid_request` */
  publish(id: ApiId, description: ApiDescription): Promise<PublishedApi>
  forget(id: ApiId): void
}

export interface ProviderInit {
  readonly clock: Clock
  readonly documents: Documents
  readonly manifestSigner: ManifestSigner
  readonly apis: ServedApis
  readonly announcer: Announcer
  readonly descriptions: PublishedDescriptions
  /** Returns the self-report for a manifest. Default: none. */
  readonly report?: (api: ApiId) => SelfReport | undefined
}

/** Document collections: the last signed manifest of each own name, and the delegations given. */
const MANIFESTS = 'manifests'
const DELEGATIONS = 'delegations'

interface KeptManifest {
  readonly revision: number
  readonly state: ListingState
  /** base64 */
  readonly envelope: string
  readonly deprecation?: Deprecation
  readonly retiredAt?: number
  /** The listing was removed: callers no longer get `api_retired`. Its name stays reserved. */
  readonly isRemoved?: boolean
}

type LastManifest = KeptManifest & { readonly signed?: SignedManifest }

/** The provider's listings: signs manifests, changes states, and keeps them announced. */
export class Provider {
  readonly #init: ProviderInit
  /** Serialises changes, so that no revision is signed twice or from outdated data. */
  readonly #changes = new Mutex()

  constructor(init: ProviderInit) {
    this.#init = init
  }

  /** @throws SoukError `invalid_request` */
  async serve(init: ListingInit, adapter: Adapter): Promise<Listing> {
    checkListing(init)
    const name = checkApiName(init.name)
    // Without types, a function is easily given in place of an adapter.
    if (adapter?.description === undefined) {
      throw new SoukError('invalid_request', 'An API needs an adapter. `handler(…)` makes one of a function.')
    }
    if (init.price === undefined) {
      throw new SoukError('invalid_request', 'An API needs a price in USDC, such as "0.001". "0" is free.')
    }
    const terms = servingTerms(init)
    const { manifestSigner, descriptions } = this.#init
    const id = await this.#changes.run(async () => {
      const last = await this.#lastManifest(name)
      this.#checkNotHeld(name, last)
      const api = await descriptions.publish(apiId(name, manifestSigner.provider), await adapter.description)
      const wanted = this.#manifestFor(init, { protocol: adapter.protocol, api }, last)
      const kept = last?.signed
      const isUnchanged = kept !== undefined && sameTerms(kept.manifest, wanted) && this.#holdsLong(kept)
      const signed = isUnchanged ? kept : await this.#sign(wanted, last?.revision)
      const since = pricedSince(signed.manifest, this.#init.apis.get(signed.id))
      await this.#init.apis.set({ signed, adapter, terms, pricedSince: since })
      return signed.id
    })
    return this.#announce(id)
  }

  async move(name: string, state: ListingState, notice: DeprecationNotice = {}): Promise<Listing> {
    const { apis, manifestSigner } = this.#init
    const id = apiId(name, manifestSigner.provider)
    await this.#changes.run(async () => {
      const api = apis.get(id)
      if (api === undefined) throw new SoukError('api_not_found', `This node has no own API named "${name}".`)
      const { manifest } = api.signed
      if (manifest.state === state) return
      checkMove(manifest.state, state)
      if (state === 'retired') this.#checkSunset(manifest)
      const deprecation = state === 'deprecated' ? this.#deprecation(notice) : manifest.deprecation
      const wanted = { ...manifest, state, ...(deprecation === undefined ? {} : { deprecation }) }
      await apis.set({ ...api, signed: await this.#sign(wanted, manifest.revision) })
    })
    return this.#announce(id)
  }

  async remove(name: string): Promise<void> {
    const { apis, announcer, manifestSigner, descriptions } = this.#init
    const own = apiId(name, manifestSigner.provider)
    const api = apis.list().find(({ signed }) => signed.id === own || signed.id === name)
    if (api === undefined) throw new SoukError('api_not_found', `This node serves no API named "${name}".`)
    await this.#changes.run(async () => {
      await apis.delete(api.signed.id)
      descriptions.forget(api.signed.id)
      if (api.signed.manifest.state === 'retired') await this.#forgetTombstone(api.signed.manifest.name)
    })
    await announcer.withdraw(api.signed.id)
  }

  /** Restores retired listings of earlier processes while their names are reserved. */
  async restore(): Promise<void> {
    const { clock, documents, apis } = this.#init
    for (const { key: name } of await documents.list(MANIFESTS)) {
      const last = await this.#lastManifest(name)
      if (last?.state !== 'retired' || last.retiredAt === undefined || last.isRemoved === true) continue
      if (last.signed !== undefined && isHeld(last.retiredAt, clock.now())) await apis.set(tombstone(last.signed))
    }
  }

  /** Serves another provider's API. The caller has verified the manifest and this node's delegation. */
  async serveReplica(signed: SignedManifest, delegations: readonly Delegation[], adapter: Adapter): Promise<Listing> {
    const { apis, announcer, descriptions } = this.#init
    if (signed.manifest.protocol !== adapter.protocol) {
      throw new SoukError('invalid_request', `${signed.id} is a ${signed.manifest.protocol} API.`)
    }
    // Its documents are served if they are the provider's: readers request them by the root in the manifest.
    await descriptions.publish(signed.id, await adapter.description)
    const since = pricedSince(signed.manifest, apis.get(signed.id))
    await apis.set({ signed, adapter, terms: DEFAULT_TERMS, pricedSince: since })
    await announcer.announce(signed, delegations)
    return this.#listing(signed.id)
  }

  listings(): Listing[] {
    return this.#init.apis.list().map(({ signed }) => this.#listing(signed.id))
  }

  async delegate(peer: string): Promise<Delegation> {
    const { clock, documents, manifestSigner, apis, announcer } = this.#init
    const delegation = await manifestSigner.delegate(peer, clock.now() + DELEGATION_TTL_MS)
    await documents.put(DELEGATIONS, peer, toDocument(delegation))
    const delegations = await this.delegations()
    const own = apis.list().filter(({ signed }) => signed.manifest.provider === manifestSigner.provider)
    await Promise.all(own.map(({ signed }) => announcer.announce(signed, delegations)))
    return delegation
  }

  /** Unexpired delegations. */
  async delegations(): Promise<Delegation[]> {
    const { clock, documents } = this.#init
    const all = await documents.list(DELEGATIONS)
    return all.map(({ value }) => fromDocument(value)).filter(({ expiresAt }) => expiresAt > clock.now())
  }

  /** Signs own manifests again well before they expire, and where the self-report has changed. */
  async renew(): Promise<void> {
    const { apis, manifestSigner } = this.#init
    for (const { id } of apis.list().map(({ signed }) => signed)) {
      const isRenewed = await this.#changes.run(async () => {
        const api = apis.get(id)
        const isOwn = api?.signed.manifest.provider === manifestSigner.provider
        if (api === undefined || !isOwn) return false
        const { manifest } = api.signed
        if (manifest.state === 'retired' && (await this.#isOver(manifest.name))) {
          await apis.delete(id)
          return false
        }
        if (this.#holdsLong(api.signed) && !this.#hasNewReport(api.signed)) return false
        await apis.set({ ...api, signed: await this.#sign(manifest, manifest.revision) })
        return true
      })
      if (isRenewed) await this.#announce(id)
    }
  }

  #manifestFor(
    init: ListingInit,
    { protocol, api }: Pick<Manifest, 'protocol' | 'api'>,
    last: LastManifest | undefined
  ): Manifest {
    const { manifestSigner, clock } = this.#init
    const { state, deprecation } = last ?? {}
    // Serving a retired name again, after its reservation ended, starts a new listing.
    const isNew = state === undefined || state === 'retired'
    return {
      name: init.name,
      provider: manifestSigner.provider,
      protocol,
      description: init.description ?? '',
      tags: init.tags ?? [],
      price: parseUsdc(init.price),
      ...eventTerms(init),
      currency: 'USDC',
      ...(init.payout === undefined ? {} : { payout: init.payout }),
      idempotent: init.idempotent ?? false,
      ...(init.rateLimit === undefined ? {} : { rateLimit: init.rateLimit }),
      api,
      ...offeredPlans(init, (isNew ? undefined : last?.signed?.manifest) ?? {}, clock.now()),
      ...(isNew || deprecation === undefined ? {} : { deprecation }),
      state: isNew ? 'published' : state,
      revision: 0,
      issuedAt: 0,
      expiresAt: 0
    }
  }

  async #sign({ selfReport: _, ...wanted }: Manifest, lastRevision = 0): Promise<SignedManifest> {
    const { clock, manifestSigner, documents } = this.#init
    const revision = lastRevision + 1
    const report = this.#init.report?.(apiId(wanted.name, wanted.provider))
    // After the report, which may not end later.
    const issuedAt = clock.now()
    const reported = report === undefined ? wanted : { ...wanted, selfReport: report }
    const signed = await manifestSigner.sign({ ...reported, revision, issuedAt, expiresAt: issuedAt + MANIFEST_TTL_MS })
    // Stored before it is published, so that a revision is never used twice.
    const { name, state, deprecation } = wanted
    const before = state === 'retired' ? await this.#lastManifest(name) : undefined
    const kept: KeptManifest = {
      revision,
      state,
      envelope: toBase64(signed.envelope),
      ...(deprecation === undefined ? {} : { deprecation }),
      ...(state === 'retired' ? { retiredAt: before?.retiredAt ?? issuedAt } : {})
    }
    await documents.put(MANIFESTS, name, JSON.stringify(kept))
    return signed
  }

  #deprecation(notice: DeprecationNotice): Deprecation {
    const at = this.#init.clock.now()
    return { at, sunsetAt: at + SUNSET_MS_MIN, ...notice }
  }

  /** @throws SoukError `invalid_request` */
  #checkSunset({ deprecation }: Manifest): void {
    const leftMs = (deprecation?.sunsetAt ?? 0) - this.#init.clock.now()
    if (leftMs <= 0) return
    const days = Math.ceil(leftMs / DAY_MS)
    const detail = `The deprecation notice has not ended. The listing can be retired in ${days} ${days === 1 ? 'day' : 'days'}.`
    throw new SoukError('invalid_request', detail)
  }

  /** @throws SoukError `api_retired` */
  #checkNotHeld(name: string, last: LastManifest | undefined): void {
    if (last?.state !== 'retired' || last.retiredAt === undefined) return
    if (!isHeld(last.retiredAt, this.#init.clock.now())) return
    throw new SoukError('api_retired', `"${name}" was retired. Its name stays reserved for 180 days.`)
  }

  async #isOver(name: string): Promise<boolean> {
    const last = await this.#lastManifest(name)
    return last?.retiredAt !== undefined && !isHeld(last.retiredAt, this.#init.clock.now())
  }

  async #forgetTombstone(name: string): Promise<void> {
    const { documents } = this.#init
    const json = await documents.get(MANIFESTS, name)
    if (json === undefined) return
    const kept: KeptManifest = { ...(JSON.parse(json) as KeptManifest), isRemoved: true }
    await documents.put(MANIFESTS, name, JSON.stringify(kept))
  }

  /** The last manifest signed under a name. `signed` is missing where it has expired, or another key signed it. */
  async #lastManifest(name: string): Promise<LastManifest | undefined> {
    const { documents, manifestSigner } = this.#init
    const json = await documents.get(MANIFESTS, name)
    if (json === undefined) return undefined
    const kept = JSON.parse(json) as KeptManifest
    try {
      const signed = await manifestSigner.verify(Buffer.from(kept.envelope, 'base64'))
      return signed.manifest.provider === manifestSigner.provider ? { ...kept, signed } : kept
    } catch {
      return kept
    }
  }

  /** False also for one that was signed by a clock that has been set back since: others refuse it. */
  #holdsLong({ manifest: { issuedAt, expiresAt } }: SignedManifest): boolean {
    const now = this.#init.clock.now()
    return expiresAt - now > MANIFEST_TTL_MS / 2 && issuedAt <= now + CLOCK_SKEW_MS
  }

  #hasNewReport({ id, manifest }: SignedManifest): boolean {
    if (this.#init.clock.now() - manifest.issuedAt < SELF_REPORT_AGE_MS) return false
    return !sameReport(this.#init.report?.(id), manifest.selfReport)
  }

  async #announce(id: ApiId): Promise<Listing> {
    const { apis, announcer } = this.#init
    const signed = apis.get(id)?.signed
    if (signed !== undefined) await announcer.announce(signed, await this.delegations())
    return this.#listing(id)
  }

  #listing(id: ApiId): Listing {
    const { apis, announcer, manifestSigner } = this.#init
    const api = apis.get(id)
    if (api === undefined) throw new SoukError('api_not_found')
    const { provider, state } = api.signed.manifest
    return {
      signed: api.signed,
      own: provider === manifestSigner.provider,
      state,
      published: announcer.published(id),
      inFlight: apis.inFlightOf(api)
    }
  }
}

/** @throws SoukError `invalid_request` */
function checkMove(from: ListingState, to: ListingState): void {
  const moves: readonly ListingState[] = LISTING_MOVES[from]
  if (moves.includes(to)) return
  const allowed = moves.length === 0 ? 'nothing' : moves.join(' or ')
  throw new SoukError('invalid_request', `A listing that is ${from} can become ${allowed}, not ${to}.`)
}

/** @throws SoukError `invalid_request` */
function eventTerms({ pricePerEvent, eventsIncluded = 0 }: ListingInit): Pick<Manifest, 'events'> {
  const price = pricePerEvent === undefined ? 0n : parseUsdc(pricePerEvent)
  return price === 0n ? {} : { events: { price, included: eventsIncluded } }
}

function servingTerms(init: ListingInit): ServingTerms {
  const { requestBytesMax, forwardsPaths, inFlightPerConsumer, failuresPerConsumer } = {
    ...DEFAULT_TERMS,
    ...given(init)
  }
  if (!Number.isInteger(requestBytesMax) || requestBytesMax < 1 || requestBytesMax > UPLOAD_BYTES_CEILING) {
    throw new SoukError('invalid_request', `The limit of request bodies must be 1 to ${UPLOAD_BYTES_CEILING} bytes.`)
  }
  const isCount = Number.isInteger(inFlightPerConsumer) && inFlightPerConsumer >= 1
  if (!isCount || inFlightPerConsumer > IN_FLIGHT_PER_API_MAX) {
    throw new SoukError('invalid_request', `The concurrent calls of a consumer must be 1 to ${IN_FLIGHT_PER_API_MAX}.`)
  }
  checkRateLimit(failuresPerConsumer)
  return { requestBytesMax, forwardsPaths, inFlightPerConsumer, failuresPerConsumer }
}

/** True where all terms for consumers are equal. Dates, revision and self-report may differ. */
function sameTerms(a: Manifest, b: Manifest): boolean {
  const terms = ({ selfReport: _, ...manifest }: Manifest) => ({ ...manifest, revision: 0, issuedAt: 0, expiresAt: 0 })
  return isDeepStrictEqual(terms(a), terms(b))
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

function toDocument({ envelope, ...rest }: Delegation): string {
  return JSON.stringify({ ...rest, envelope: toBase64(envelope) })
}

function fromDocument(json: string): Delegation {
  const kept = JSON.parse(json) as Omit<Delegation, 'envelope'> & { envelope: string }
  return { ...kept, envelope: Buffer.from(kept.envelope, 'base64') }
}
