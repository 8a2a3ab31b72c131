import type { Logger, PeerInfo, PrivateKey } from '@libp2p/interface'
import type { KadDHT, QueryEvent, ValueEvent } from '@libp2p/kad-dht'
import type { CID } from 'multiformats/cid'
import { equals } from 'uint8arrays/equals'
import type { ApiId } from '../../base/api-name.ts'
import { boundedMap } from '../../base/bounded-map.ts'
import { type Clock, deadline } from '../../base/clock.ts'
import { inMs, reasonOf, SILENT_LOG } from '../../base/component-log.ts'
import { SoukError } from '../../base/errors.ts'
import {
  ADDRESSES_PER_PEER_MAX,
  ANNOUNCEMENTS_AT_ONCE,
  DHT_SILENCE_MS_MIN,
  DIRECTORY_WALKS_MAX,
  LOOKUP_MS,
  PROVIDERS_AT_FIRST_MAX,
  RECORD_REPUT_MS,
  RESOLUTIONS_MAX
} from '../../base/limits/directory.ts'
import { draw, type Random, systemRandom } from '../../base/random.ts'
import { Slots } from '../../base/slots.ts'
import { within } from '../../base/within.ts'
import type { Directory, Offer, Published, QueryHooks, RecordHooks } from '../../interface/directory.ts'
import type { PeerAddress } from '../../interface/link.ts'
import { hasPeers, isAlone } from './dht-peers.ts'
import { apiCid, catalogueCid, nameCid, RECORD_NAMESPACE, recordKey, splitId, tagCid } from './keys.ts'
import { verifyRecord, type VerifiedRecord } from './record.ts'
import { createRecordAuthor, type RecordAuthor } from './record-author.ts'
import { eachOf } from './each-of.ts'
import { ignore } from '../../base/ignore.ts'
import { withPauses } from './with-pauses.ts'

export interface KadDirectoryInit {
  /** The service created by `soukDht`. Its rules also validate this node's own records. */
  readonly dht: KadDHT
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Signs records of this node's own provider. Default: the node's own key. */
  readonly providerKey?: PrivateKey
  readonly clock: Clock
  /** Default: the system's. */
  readonly random?: Random
  /** Default: none. */
  readonly log?: Logger
}

/** The directory on a Kademlia DHT. Records are DHT values; hints are provider records. */
export function createKadDirectory(init: KadDirectoryInit): Directory {
  return new KadDirectory(init)
}

interface FindOptions extends RecordHooks {
  readonly signal: AbortSignal
  /** Waits for the highest sequence number instead of the first record. */
  readonly isThorough?: boolean
}

class KadDirectory implements Directory {
  readonly #dht: KadDHT
  readonly #clock: Clock
  readonly #random: Random
  readonly #author: RecordAuthor
  readonly #log: Logger
  /** Announced APIs and their hints. `#announcedAt` has the time of each hint's last announcement. */
  readonly #offers = new Map<ApiId, readonly CID[]>()
  readonly #own = new Map<ApiId, Uint8Array>()
  /** Limits concurrent queries. */
  readonly #walks = new Slots(DIRECTORY_WALKS_MAX)
  readonly #announcedAt = boundedMap<string, number>(RESOLUTIONS_MAX)

  constructor({ dht, privateKey, providerKey, clock, random = systemRandom, log = SILENT_LOG }: KadDirectoryInit) {
    this.#dht = dht
    this.#clock = clock
    this.#random = random
    this.#log = log
    this.#author = createRecordAuthor({ privateKey, clock, ...(providerKey === undefined ? {} : { providerKey }) })
  }

  ready(signal: AbortSignal): Promise<void> {
    return hasPeers(this.#dht, signal)
  }

  async publish(offer: Offer, signal: AbortSignal): Promise<Published> {
    signal.throwIfAborted()
    const current = this.#author.owns(offer) ? undefined : await this.#find(offer.id, { signal, isThorough: true })
    const bytes = await this.#author.write(offer, current)
    const hints = [nameCid(splitId(offer.id).name), catalogueCid(), ...offer.tags.map(tagCid)]
    this.#offers.set(offer.id, hints)
    const announcing = this.#announce(apiCid(offer.id), hints, signal)
    const published = await this.#put(offer, bytes, signal)
    const hintsLost = await announcing
    signal.throwIfAborted()
    return hintsLost === 0 ? published : { ...published, hintsLost }
  }

  async withdraw(id: ApiId, signal: AbortSignal): Promise<void> {
    const hints = this.#offers.get(id) ?? []
    this.#offers.delete(id)
    this.#own.delete(id)
    const kept = new Set([...this.#offers.values()].flat().map(String))
    for (const cid of [apiCid(id), ...hints].filter((cid) => !kept.has(cid.toString()))) {
      this.#announcedAt.delete(cid.toString())
      await this.#dht.cancelReprovide(cid, { signal })
    }
  }

  async record(id: ApiId, signal: AbortSignal, hooks: RecordHooks = {}) {
    return (await this.#find(id, { ...hooks, signal }))?.record
  }

  servers(id: ApiId, signal: AbortSignal, hooks?: QueryHooks): AsyncIterable<PeerAddress> {
    return this.#providers(apiCid(id), signal, hooks)
  }

  claimants(name: string, signal: AbortSignal, hooks?: QueryHooks): AsyncIterable<PeerAddress> {
    return this.#providers(nameCid(name), signal, hooks)
  }

  tagged(tag: string, signal: AbortSignal): AsyncIterable<PeerAddress> {
    return this.#providers(tagCid(tag), signal)
  }

  catalogues(signal: AbortSignal): AsyncIterable<PeerAddress> {
    return this.#providers(catalogueCid(), signal)
  }

  /** kad-dht drops the announcement of a node without addresses, and peers keep the addresses of an earlier one. */
  moved(): void {
    this.#announcedAt.clear()
  }

  get #isAlone(): boolean {
    return isAlone(this.#dht)
  }

  /**
   * Puts a record. If every peer rejects it, puts it again above the network's sequence number: this clock may have
   * gone back.
   */
  async #put(offer: Offer, bytes: Uint8Array, signal: AbortSignal): Promise<Published> {
    const published = await this.#putBytes(offer.id, bytes, signal)
    if (published.stored > 0 || this.#isAlone) return published
    const current = await this.#find(offer.id, { signal, isThorough: true })
    if (current === undefined || equals(current.bytes, bytes)) return published
    return this.#putBytes(offer.id, await this.#author.write(offer, current), signal)
  }

  /** `put` does not throw when peers reject the record, so acceptances are counted. */
  async #putBytes(id: ApiId, bytes: Uint8Array, signal: AbortSignal): Promise<Published> {
    let asked = 0
    let stored = 0
    try {
      // kad-dht does not validate its own puts. Validating them here protects this node against rollbacks too.
      await this.#dht.validators[RECORD_NAMESPACE]?.(recordKey(id), bytes)
    } catch (error) {
      this.#log('%s: this node refuses its own record: %s', id, reasonOf(error))
      return { asked, stored }
    }
    this.#own.set(id, bytes)
    if (this.#isAlone) return { asked, stored }
    const onProgress = ({ type }: { type: string }) => {
      if (type === 'kad-dht:query:final-peer') asked++
    }
    await this.#drain('put', id, this.#dht.put(recordKey(id), bytes, { signal, onProgress }), signal, (event) => {
      if (event.name !== 'PEER_RESPONSE' || event.messageName !== 'PUT_VALUE') return
      if (event.record !== undefined && equals(event.record.value, bytes)) stored++
    })
    return { asked, stored }
  }

  /** Announces the API at once. Recently announced hints are skipped. Resolves to the number that reached no peer. */
  async #announce(api: CID, hints: readonly CID[], signal: AbortSignal): Promise<number> {
    if (this.#isAlone) return 0
    let lost = 0
    const due = hints.filter((cid) => {
      const at = this.#announcedAt.get(cid.toString())
      return at === undefined || this.#clock.elapsed() - at > RECORD_REPUT_MS / 2
    })
    await eachOf([api, ...due], ANNOUNCEMENTS_AT_ONCE, async (cid) => {
      let heard = 0
      await this.#drain('provide', cid, this.#dht.provide(cid, { signal }), signal, (event) => {
        if (event.name === 'PEER_RESPONSE' && event.messageName === 'ADD_PROVIDER') heard++
      })
      if (heard > 0) this.#announcedAt.set(cid.toString(), this.#clock.elapsed())
      else lost++
    })
    return lost
  }

  /**
   * Runs a query until its end or the signal's abort. Errors are logged; the events show its progress. Resolves to the
   * number of responses.
   */
  async #drain(
    kind: 'get' | 'put' | 'provide',
    what: ApiId | CID,
    query: AsyncIterable<QueryEvent>,
    signal: AbortSignal,
    take: (event: QueryEvent) => void
  ): Promise<number> {
    const startedAt = this.#clock.elapsed()
    let answers = 0
    const run = async () => {
      for await (const event of query) {
        if (event.name === 'PEER_RESPONSE') answers++
        take(event)
      }
    }
    try {
      await within(run(), signal)
    } catch (error) {
      if (this.#log.enabled) this.#log('DHT %s %s ended early: %s', kind, what, reasonOf(error))
    } finally {
      this.#queried(kind, what, answers, startedAt)
    }
    return answers
  }

  /**
   * Values are used as they arrive. kad-dht returns the best one only after correcting outdated peers, and throws when
   * one of them refuses.
   */
  async #find(
    id: ApiId,
    { signal, onHigher, onUnanswered = ignore, isThorough = false }: FindOptions
  ): Promise<VerifiedRecord | undefined> {
    signal.throwIfAborted()
    const first = Promise.withResolvers<VerifiedRecord | undefined>()
    const query = deadline(this.#clock, LOOKUP_MS, () => new SoukError('lookup_timeout'))
    let best: VerifiedRecord | undefined
    const take = async (bytes: Uint8Array) => {
      if (best !== undefined && equals(best.bytes, bytes)) return
      const found = await verifyRecord(bytes, { now: this.#clock.now(), id }).catch(ignore)
      if (found === undefined || found.record.seq <= (best?.record.seq ?? 0n)) return
      const isFirst = best === undefined
      best = found
      if (!isFirst) onHigher?.(found.record)
      else if (!isThorough) first.resolve(found)
    }
    const ended = this.#values(id, query.signal, take)
      .then((answers) => {
        if (answers === 0) onUnanswered()
        first.resolve(best)
      })
      .finally(() => query.clear())
    try {
      const found = await within(first.promise, signal)
      if (onHigher === undefined) query.abort(new Error('the first record is enough'))
      return found
    } catch (error) {
      query.abort(new Error('the lookup was cancelled'))
      throw error
    } finally {
      ended.catch(ignore)
    }
  }

  /** Passes each value of a key to `take`. Resolves to the number of responses when there are no more. */
  async #values(id: ApiId, signal: AbortSignal, take: (bytes: Uint8Array) => Promise<void>): Promise<number> {
    if (this.#isAlone) {
      const own = this.#own.get(id)
      if (own !== undefined) await take(own)
      return 0
    }
    const taking: Array<Promise<void>> = []
    const onProgress = ({ type, detail }: { type: string; detail: unknown }) => {
      if (type === 'kad-dht:query:value') taking.push(take((detail as ValueEvent).value))
    }
    const leave = await this.#walks.enter(signal).catch(ignore)
    if (leave === undefined) return 0
    try {
      return await this.#drain('get', id, this.#dht.get(recordKey(id), { signal, onProgress }), signal, ignore)
    } finally {
      leave()
      await Promise.all(taking)
    }
  }

  /**
   * Yields some peers of each response at once, and the others while no response comes. So one peer that names many
   * displaces none that others name.
   */
  async *#providers(cid: CID, signal: AbortSignal, hooks: QueryHooks = {}): AsyncGenerator<PeerAddress> {
    const { onUnanswered = ignore } = hooks
    const seen = new Set<string>()
    const later = new Map<string, PeerAddress>()
    if (signal.aborted || this.#isAlone) {
      onUnanswered()
      return
    }
    const startedAt = this.#clock.elapsed()
    let leave = ignore
    let answers = 0
    try {
      leave = await this.#walks.enter(signal)
      const events = this.#dht.findProviders(cid, { signal })
      for await (const event of withPauses(events, DHT_SILENCE_MS_MIN, this.#clock)) {
        // Events of other kinds name some of these peers again.
        if (event !== undefined && event.name !== 'PEER_RESPONSE') continue
        if (event !== undefined) answers++
        const named = event === undefined ? [...later.values()] : event.providers.map(addressOf)
        const fresh = named.filter(({ id }) => !seen.has(id))
        for (const peer of fresh) later.set(peer.id, peer)
        // Chosen at random, because all honest responses name the same ones.
        for (const peer of draw(this.#random, fresh, PROVIDERS_AT_FIRST_MAX)) {
          seen.add(peer.id)
          later.delete(peer.id)
          yield peer
        }
      }
    } catch (error) {
      if (this.#log.enabled) this.#log('DHT providers %s ended early: %s', cid, reasonOf(error))
    } finally {
      if (answers === 0) onUnanswered()
      this.#queried('providers', cid, answers, startedAt)
      leave()
    }
    yield* later.values()
  }

  #queried(kind: string, what: ApiId | CID, answers: number, startedAt: number): void {
    if (!this.#log.enabled) return
    const ms = inMs(this.#clock.elapsed() - startedAt)
    this.#log('DHT %s %s: %d peers responded (%s)', kind, what.toString(), answers, ms)
  }
}

const addressOf = ({ id, multiaddrs }: PeerInfo): PeerAddress => ({
  id: id.toString(),
  addresses: multiaddrs.slice(0, ADDRESSES_PER_PEER_MAX).map(String)
})
