import type { Logger } from '@libp2p/interface'
import type { ApiId } from '../base/api-name.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import { sha256 } from '../base/bytes.ts'
import { SERVERS_MAX } from '../base/limits/directory.ts'
import { HELLO_MS } from '../base/limits/link.ts'
import { type UnreachableStep, unreachableStep } from '../base/unreachable.ts'
import { equals } from 'uint8arrays/equals'
import type { Directory, DirectoryRecord } from '../interface/directory.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { mayServe } from './directory/delegation.ts'
import { splitId } from './directory/keys.ts'
import { fetchManifests } from './manifest/manifest-exchange.ts'
import { notFound } from './not-found.ts'
import type { Pins } from './pins.ts'
import { ignore } from '../base/ignore.ts'

/** The record, and the servers. */
const DIRECTORY_QUERIES = 2

export interface LookUpInit {
  readonly directory: Directory
  readonly link: Link
  readonly clock: Clock
  readonly pins: Pins
  /** The APIs of a name in the catalogue: announced, but maybe gone. All copies in the directory may be lost at once. */
  readonly listed: (name: string) => Promise<readonly ApiId[]>
  /** Other nodes of the network are known. */
  readonly hasOthers: () => boolean
  /** Any peer is connected. */
  readonly isConnected: () => boolean
  /** Called after a query to a node: it responded, or was unreachable. */
  readonly onAsked: (peer: string, isThere: boolean) => void
  readonly log: Logger
}

/** A verified manifest and the peer it came from. */
export interface Seed {
  readonly peer: PeerAddress
  readonly signed: SignedManifest
}

export interface LookUpOptions {
  readonly signal: AbortSignal
  /** Results of resolving a bare name. */
  readonly seeds?: readonly Seed[]
  /** As in `ResolveOptions`. */
  readonly isForCall?: boolean | undefined
  /** Called when the directory finds a newer record after the lookup has ended. */
  readonly onHigher: () => void
}

export interface Found {
  readonly signed: SignedManifest
  /** Delegated nodes that claim to serve the API, those that just responded first. */
  readonly owners: readonly PeerAddress[]
  /** Delegated nodes that made no claim or were unreachable. They are tried when all others failed. */
  readonly spares: readonly PeerAddress[]
}

/**
 * Looks up one API: its record, the nodes that claim to serve it, and a manifest from a permitted node, all
 * concurrently. Ends with the first manifest as new as the record. Ends with the best one when everything was tried or
 * the signal aborts.
 * @throws SoukError `api_not_found`, `owner_unreachable`; the signal's reason
 */
export function lookUp(init: LookUpInit, id: ApiId, options: LookUpOptions): Promise<Found> {
  return new LookUp(init, id, options).run()
}

class LookUp {
  readonly #init: LookUpInit
  readonly #id: ApiId
  readonly #options: LookUpOptions
  readonly #name: string
  readonly #provider: string
  readonly #result = Promise.withResolvers<Found>()
  readonly #stop = new AbortController()
  readonly #hints = new Map<string, PeerAddress>()
  readonly #asked = new Set<string>()
  readonly #answered = new Map<string, PeerAddress>()
  /** Queried peers without a usable manifest. */
  readonly #empty = new Set<string>()
  readonly #unreachable = new Map<string, UnreachableStep>()
  readonly #refusals: string[] = []
  #hasOlder = false
  #record: DirectoryRecord | undefined
  #best: SignedManifest | undefined
  #recordIsKnown = false
  #triedSpares = false
  /** Queries of the directory to which no peer responded. */
  #unanswered = 0
  #running = 0
  #done = false

  constructor(init: LookUpInit, id: ApiId, options: LookUpOptions) {
    this.#init = init
    this.#id = id
    this.#options = options
    const { name, provider } = splitId(id)
    this.#name = name
    this.#provider = provider
  }

  async run(): Promise<Found> {
    const { signal, seeds = [] } = this.#options
    const onAbort = () => this.#finish()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#hintConnected()
    for (const { peer, signed } of seeds) {
      this.#hints.set(peer.id, peer)
      this.#asked.add(peer.id)
      this.#track(this.#take(peer, signed))
    }
    if (isWhole(seeds, this.#provider)) {
      this.#recordIsKnown = true
    } else {
      this.#track(this.#readRecord())
      this.#track(this.#readServers())
    }
    this.#askAllowed()
    if (signal.aborted) this.#finish()
    try {
      return await this.#result.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#stop.abort()
    }
  }

  /** Counts a step as running until it ends, successfully or not. */
  #track(step: Promise<void>): void {
    this.#running++
    void step.catch(ignore).then(() => {
      this.#running--
      this.#proceed()
    })
  }

  async #readRecord(): Promise<void> {
    const { directory } = this.#init
    try {
      const onHigher = (record: DirectoryRecord) => this.#onHigher(record)
      const onUnanswered = this.#onUnanswered
      this.#raise(await directory.record(this.#id, this.#options.signal, { onHigher, onUnanswered }))
    } finally {
      this.#recordIsKnown = true
      this.#hintConnected()
      this.#askAllowed()
    }
  }

  readonly #onUnanswered = () => {
    this.#unanswered++
  }

  #onHigher(record: DirectoryRecord): void {
    if (this.#done) {
      this.#options.onHigher()
      return
    }
    this.#raise(record)
    this.#askAllowed()
  }

  #raise(record: DirectoryRecord | undefined): void {
    if ((record?.seq ?? 0n) > (this.#record?.seq ?? 0n)) this.#record = record
  }

  async #readServers(): Promise<void> {
    const { directory, link } = this.#init
    const onUnanswered = this.#onUnanswered
    for await (const peer of directory.servers(this.#id, this.#stop.signal, { onUnanswered })) {
      if (peer.id === link.self) continue
      // Anybody may claim to serve it. Claims never displace permitted nodes.
      if (this.#hints.size >= SERVERS_MAX && !this.#mayServe(peer.id)) continue
      this.#hints.set(peer.id, peer)
      this.#askAllowed()
    }
  }

  /** Queries connected nodes that are permitted, even if the directory does not name them yet. */
  #hintConnected(): void {
    for (const peer of this.#init.link.peers()) {
      if (this.#mayServe(peer.id) && !this.#hints.has(peer.id)) this.#hints.set(peer.id, peer)
    }
  }

  #mayServe(peer: string): boolean {
    return mayServe(peer, this.#provider, this.#record?.delegations ?? [], this.#init.clock.now())
  }

  #askAllowed(): void {
    for (const peer of this.#hints.values()) if (this.#mayServe(peer.id)) this.#ask(peer)
  }

  #ask(peer: PeerAddress): void {
    if (this.#done || this.#asked.has(peer.id) || this.#asked.size >= SERVERS_MAX) return
    this.#asked.add(peer.id)
    if (this.#options.isForCall === true && this.#asked.size === 1) openChannel(this.#init, peer)
    this.#track(this.#fetch(peer))
  }

  async #fetch(peer: PeerAddress): Promise<void> {
    const { link, clock, onAsked, log } = this.#init
    try {
      // Continues after the lookup has ended, because the node's liveness helps the next choice.
      const request = { name: this.#name, provider: this.#provider }
      const { manifests, refusals } = await fetchManifests(peer, request, { link, clock, signal: this.#options.signal })
      this.#refusals.push(...refusals)
      onAsked(peer.id, true)
      log.trace('%s: %s sent %d manifests, %d refused', this.#id, peer.id, manifests.length, refusals.length)
      for (const signed of manifests) await this.#take(peer, signed)
      if (manifests.length === 0) this.#empty.add(peer.id)
    } catch (error) {
      if (log.enabled) log('%s: %s did not respond: %s', this.#id, peer.id, reasonOf(error))
      this.#unreachable.set(peer.id, unreachableStep(error) ?? 'manifest')
      if (!this.#options.signal.aborted) onAsked(peer.id, false)
    }
  }

  async #take(peer: PeerAddress, signed: SignedManifest): Promise<void> {
    if (!(await this.#init.pins.allows(signed))) {
      this.#empty.add(peer.id)
      this.#hasOlder = true
      return
    }
    this.#answered.set(peer.id, peer)
    if (this.#best === undefined || isNewer(signed, this.#best)) this.#best = signed
  }

  #proceed(): void {
    if (this.#done) return
    if (this.#recordIsKnown && this.#isCurrent()) {
      this.#finish()
    } else if (this.#running === 0) {
      if (!this.#askSpares()) this.#finish()
    }
  }

  /**
   * True where the manifest is as new as the record and a permitted node serves it. Without a record, the provider's
   * manifest is enough.
   */
  #isCurrent(): boolean {
    if (this.#best === undefined || ![...this.#answered.keys()].some((peer) => this.#mayServe(peer))) return false
    if (this.#record === undefined) return true
    const { manifest, envelope } = this.#best
    const { revision, issuedAt, manifestHash } = this.#record
    if (manifest.revision !== revision) return manifest.revision > revision
    return equals(sha256(envelope), manifestHash) || manifest.issuedAt >= issuedAt
  }

  /** No announced node has the API, so the nodes named in the record or the catalogue are queried by id. */
  #askSpares(): boolean {
    if (this.#triedSpares || this.#best !== undefined) return false
    this.#triedSpares = true
    const before = this.#running
    if (this.#record === undefined) this.#track(this.#askListed())
    else this.#askNamed()
    return this.#running > before
  }

  async #askListed(): Promise<void> {
    if ((await this.#init.listed(this.#name)).includes(this.#id)) this.#askNamed()
  }

  #askNamed(): void {
    for (const peer of this.#named()) this.#ask({ id: peer, addresses: [] })
  }

  /** Nodes that the record permits, without this node. */
  #named(): string[] {
    const named = [...(this.#record?.delegations ?? []).map(({ peer }) => peer), this.#provider]
    return [...new Set(named)].filter((peer) => peer !== this.#init.link.self && this.#mayServe(peer))
  }

  #finish(): void {
    if (this.#done) return
    this.#done = true
    const best = this.#best
    if (best === undefined) {
      this.#result.reject(this.#failure())
      return
    }
    const announced = [...this.#answered.values(), ...this.#hints.values()].filter(({ id }) => this.#mayServe(id))
    const owners = [...new Map(announced.map((peer) => [peer.id, peer])).values()]
    const isSpare = ({ id }: PeerAddress) => this.#empty.has(id) || this.#unreachable.has(id)
    const others = this.#named().filter((id) => !owners.some((owner) => owner.id === id))
    this.#result.resolve(
      this.#init.pins.raise(best).then(() => ({
        signed: best,
        owners: owners.filter((owner) => !isSpare(owner)),
        spares: [...owners.filter(isSpare), ...others.map((id) => ({ id, addresses: [] }))]
      }))
    )
  }

  #failure(): unknown {
    const { signal } = this.#options
    const asked = this.#asked.size
    const isPending = asked > this.#empty.size
    const trail = {
      // A record alone means that at least one node exists.
      asked: this.#record === undefined ? asked : Math.max(1, asked),
      answered: this.#empty.size,
      refusals: this.#refusals,
      hasOlder: this.#hasOlder,
      steps: [...this.#unreachable.values()],
      isCutOff: this.#unanswered === DIRECTORY_QUERIES && this.#init.hasOthers(),
      isConnected: this.#init.isConnected()
    }
    if (isPending || (this.#record !== undefined && asked === 0)) {
      return notFound('owner_unreachable', `${this.#id} exists, but no node that serves it responded`, trail)
    }
    return signal.aborted ? signal.reason : notFound('api_not_found', `The API ${this.#id} was not found`, trail)
  }
}

/** Opens the channel that a call needs next. A failure shows again in that call. */
export function openChannel({ link, clock }: Pick<LookUpInit, 'link' | 'clock'>, peer: PeerAddress): void {
  const limit = deadline(clock, HELLO_MS, () => new Error('the channel did not open in time'))
  void link
    .connect(peer, limit.signal)
    .catch(ignore)
    .finally(() => limit.clear())
}

/**
 * Every serving node also claims the bare name. If only the provider's own node claims it, the directory has nothing to
 * add.
 */
function isWhole(seeds: readonly Seed[], provider: string): boolean {
  return seeds.length === 1 && seeds[0]?.peer.id === provider
}

function isNewer({ manifest: a }: SignedManifest, { manifest: b }: SignedManifest): boolean {
  return a.revision === b.revision ? a.issuedAt > b.issuedAt : a.revision > b.revision
}
