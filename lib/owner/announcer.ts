import type { Logger } from '@libp2p/interface'
import type { ApiId } from '../base/api-name.ts'
import { sha256 } from '../base/bytes.ts'
import { type Clock, deadline, type Timer } from '../base/clock.ts'
import { onClockChange } from '../base/clock-changes.ts'
import { SILENT_LOG } from '../base/component-log.ts'
import {
  ANNOUNCE_MOVED_MS,
  ANNOUNCE_MS,
  ANNOUNCE_RETURNED_MS,
  ANNOUNCE_RETRY_MS,
  LOOKUP_MS,
  RECORD_REPUT_MS
} from '../base/limits/directory.ts'
import { JOIN_MS } from '../base/limits/link.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import type { Directory, Offer, Published } from '../interface/directory.ts'
import type { Delegation, SignedManifest } from '../interface/manifest.ts'

/** Broadcasts a listing, or its withdrawal, to the network. */
export interface EventPublisher {
  announce(offer: Offer, signed: SignedManifest): Promise<void>
  withdraw(id: ApiId, last: Pick<Offer, 'manifestHash' | 'revision'>): Promise<void>
}

export interface AnnouncerInit {
  readonly clock: Clock
  readonly directory: Directory
  /** Broadcasts to neighbours, who forward it. Default: only the directory is used. */
  readonly eventPublisher?: EventPublisher
  /** Resolves when peers can reach this node, or after a short time. Default: they can. */
  readonly reachable?: () => Promise<void>
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void
  /** Default: none. */
  readonly log?: Logger
}

interface Announced {
  readonly offer: Offer
  readonly signed: SignedManifest
  published?: Published
}

const isUnheard = ({ published }: Announced): boolean =>
  published === undefined || published.stored === 0 || (published.hintsLost ?? 0) > 0

/**
 * Keeps this node's APIs in the directory. It announces an API at once, and again before its record expires. It repeats an
 * announcement that the peers did not store as a whole, and one that reached no peer when there are any.
 */
export class Announcer {
  readonly #init: AnnouncerInit
  readonly #announced = new Map<ApiId, Announced>()
  #isRunning = false
  #renew: () => Promise<void> = () => Promise.resolve()
  #timer: Timer | undefined
  #clockWatch: Timer | undefined
  #settling: Timer | undefined
  #moved: Timer | undefined
  #telling: Promise<void> = Promise.resolve()
  #isAwaiting = false
  #stopped = new AbortController()
  #returnedAt = -Infinity

  constructor(init: AnnouncerInit) {
    this.#init = init
  }

  /** @param renew - signs and announces the listings whose signature is no longer valid. Runs before announcements are repeated. */
  start(renew: () => Promise<void>): void {
    const { clock } = this.#init
    this.#isRunning = true
    this.#renew = renew
    // With a wrong clock, peers refused everything. After a sleep, records have expired.
    this.#clockWatch ??= onClockChange(clock, () => void this.#repeat(() => true))
    this.#timer = clock.after(RECORD_REPUT_MS, () => {
      void this.#repeat(() => true).finally(() => this.#isRunning && this.start(renew))
    })
  }

  async #repeat(which: (announced: Announced) => boolean): Promise<void> {
    // Listings that cannot be renewed, because the disk is full, are announced as they are.
    await this.#renew().catch(this.#init.onError)
    await this.#announceAll(which)
  }

  stop(): void {
    this.#isRunning = false
    this.#stopped.abort()
    this.#stopped = new AbortController()
    this.#clockWatch?.cancel()
    this.#clockWatch = undefined
    this.#timer?.cancel()
    this.#settling?.cancel()
    this.#moved?.cancel()
    this.#announced.clear()
  }

  published(id: ApiId): Published | undefined {
    return this.#announced.get(id)?.published
  }

  /** Waits for the directory for at most `LOOKUP_MS`. The announcement continues in the background. */
  async announce(signed: SignedManifest, delegations: readonly Delegation[]): Promise<void> {
    const { id, manifest, envelope } = signed
    const { provider } = manifest
    const offer = {
      id,
      manifestHash: sha256(envelope),
      revision: manifest.revision,
      tags: manifest.tags,
      delegations: delegations.filter((delegation) => delegation.provider === provider)
    }
    const announced: Announced = { offer, signed }
    this.#announced.set(id, announced)
    const { clock } = this.#init
    await new Promise<void>((resolve) => {
      const timer = clock.after(LOOKUP_MS, resolve)
      void this.#reachable()
        .then(() => this.#publish(announced))
        .finally(() => {
          timer.cancel()
          resolve()
        })
    })
  }

  async withdraw(id: ApiId): Promise<void> {
    const last = this.#announced.get(id)?.offer
    this.#announced.delete(id)
    const { directory, eventPublisher, onError } = this.#init
    if (last !== undefined) await eventPublisher?.withdraw(id, last).catch(onError)
    await this.#limited((signal) => directory.withdraw(id, signal))
  }

  /** Peers reach this node elsewhere now. The changes of a short time are announced together. */
  addressesChanged(): void {
    this.#moved?.cancel()
    this.#moved = this.#init.clock.after(ANNOUNCE_MOVED_MS, () => {
      this.#init.directory.moved?.()
      // A node that has lost its relays has no address until it has others.
      void this.#reachable().then(() => this.#announceAll(() => true))
    })
  }

  /** A peer that left came back. It may have lost the records that it stored, so all are announced again. */
  peerReturned(): void {
    const { clock } = this.#init
    if (clock.elapsed() - this.#returnedAt < ANNOUNCE_RETURNED_MS) return
    this.#returnedAt = clock.elapsed()
    this.addressesChanged()
  }

  /** Resolves when the running announcements have ended, or after `JOIN_MS`. */
  async settled(): Promise<void> {
    await waitAtMost(this.#init.clock, JOIN_MS, this.#telling)
  }

  /** Repeats announcements that reached no peer. */
  peerJoined(): void {
    if (this.#settling === undefined && this.#hasUnheard()) this.#tellUnheard(ANNOUNCE_RETRY_MS)
  }

  /** Announces as soon as the directory has peers. Repeats with doubling pauses while no peer accepts. */
  #tellUnheard(retryMs: number): void {
    this.#retryIn(retryMs)
    this.#telling = this.#limited(async (signal) => {
      await this.#init.directory.ready(signal)
      await this.#reachable()
      // Peers may have refused it because this clock was wrong for a moment, which no check of the clock noticed.
      await this.#repeat(isUnheard)
    })
  }

  /** The directory has no peers, so there is nobody to try again with yet. It may get to know connected peers later. */
  #awaitPeers(): void {
    if (this.#isAwaiting) return
    const { signal } = this.#stopped
    this.#isAwaiting = true
    void this.#init.directory.ready(signal).then(() => {
      this.#isAwaiting = false
      if (!signal.aborted) this.peerJoined()
    })
  }

  #retryIn(ms: number): void {
    this.#settling ??= this.#init.clock.after(ms, () => {
      this.#settling = undefined
      if (this.#hasUnheard() && ms < RECORD_REPUT_MS) this.#tellUnheard(2 * ms)
    })
  }

  #reachable(): Promise<void> {
    return this.#init.reachable?.() ?? Promise.resolve()
  }

  #hasUnheard(): boolean {
    return [...this.#announced.values()].some(isUnheard)
  }

  async #announceAll(which: (announced: Announced) => boolean): Promise<void> {
    // One after the other, so that a provider of many APIs does not flood its peers.
    for (const announced of this.#announced.values()) if (which(announced)) await this.#publish(announced)
  }

  async #publish(announced: Announced): Promise<void> {
    const { directory, eventPublisher, onError, log = SILENT_LOG } = this.#init
    await this.#limited(async (signal) => {
      const { offer, signed } = announced
      void eventPublisher?.announce(offer, signed).catch(onError)
      announced.published = await directory.publish(offer, signal)
      const { asked, stored, hintsLost = 0 } = announced.published
      log(
        '%s revision %d: %d of %d peers stored the record, %d hints lost',
        offer.id,
        offer.revision,
        stored,
        asked,
        hintsLost
      )
    })
    if (!this.#hasUnheard()) return
    if (announced.published?.asked === 0) this.#awaitPeers()
    else this.#retryIn(ANNOUNCE_RETRY_MS)
  }

  async #limited(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, onError } = this.#init
    const limit = deadline(clock, ANNOUNCE_MS, () => new Error('the announcement timed out'))
    try {
      await task(limit.signal)
    } catch (error) {
      onError(error)
    } finally {
      limit.clear()
    }
  }
}
