import type { PeerId, PeerInfo } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import type { QueryEvent } from '@libp2p/kad-dht'
import { pEvent } from 'p-event'
import { compare } from 'uint8arrays/compare'
import { xor } from 'uint8arrays/xor'
import { latin1, sha256 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import {
  DHT_ANSWER_MS,
  DHT_ANSWER_MS_MAX,
  DHT_ASKED_AT_ONCE,
  DHT_ASKED_AT_ONCE_MAX,
  DHT_MISSES_PER_RANK,
  RECORD_COPIES
} from '../../base/limits/directory.ts'
import { within } from '../../base/within.ts'
import { ignore } from '../../base/ignore.ts'
import { SilentPeers } from './silent-peers.ts'

/** Asks one peer, as in kad-dht. */
export type AskPeer = (context: {
  readonly key: Uint8Array
  readonly peer: PeerInfo
  readonly peerKadId: Uint8Array
  readonly path: { readonly index: number; readonly queued: number; readonly running: number; readonly total: number }
  readonly numPaths: number
  readonly signal: AbortSignal
}) => AsyncIterable<QueryEvent>

/** The parts of kad-dht and libp2p that queries use. */
export interface DhtQueriesInit {
  readonly self: PeerId
  /** It dispatches `peer:add`. */
  readonly routingTable: EventTarget & {
    readonly size: number
    closestPeers(key: Uint8Array, options: { readonly count: number }): PeerId[]
    queueRoutingTableUpdate(peer: PeerId): void
    remove(peer: PeerId): Promise<void>
  }
  readonly connectionManager: Pick<ConnectionManager, 'isDialable' | 'getConnections'>
  readonly clock: Clock
}

/**
 * Queries of the DHT. kad-dht's own wait for a silent peer until its time is over, so a few dead peers use up the time of a
 * lookup. These ask others meanwhile, and still use a late response.
 */
export class DhtQueries {
  readonly #init: DhtQueriesInit
  readonly #silent: SilentPeers

  constructor(init: DhtQueriesInit) {
    this.#init = init
    this.#silent = new SilentPeers(init.clock)
  }

  /**
   * Asks the peers nearest to a key, then the nearer ones that they name, until the nearest have responded. Waits for the
   * first peer of the table.
   * @throws the signal's reason
   */
  run(key: Uint8Array, ask: AskPeer, signal?: AbortSignal): AsyncGenerator<QueryEvent> {
    return new DhtQuery(this.#init, this.#silent, key, ask).run(signal)
  }
}

interface Candidate {
  readonly key: string
  readonly peer: PeerInfo
  readonly kadId: Uint8Array
  readonly distance: Uint8Array
  /** Peers that named it. */
  readonly namers: Set<string>
}

/** The most peers that must respond, and the most that are taken from this node's own table. */
const WIDTH_MAX = 2 * RECORD_COPIES
/** Stands for this node as the namer of the peers of its own table. */
const OWN_TABLE = ''

class DhtQuery {
  readonly #init: DhtQueriesInit
  readonly #silent: SilentPeers
  readonly #key: Uint8Array
  readonly #target: Uint8Array
  readonly #ask: AskPeer
  readonly #stop = new AbortController()
  readonly #seen = new Map<string, Candidate>()
  readonly #waiting = new Set<Candidate>()
  /** Distances of the peers that responded, ascending. */
  readonly #nearest: Uint8Array[] = []
  /** Silent peers by the peer that named them, and all of them. */
  readonly #misses = new Map<string, number>()
  #silentCount = 0
  readonly #events: QueryEvent[] = []
  #news = Promise.withResolvers<void>()
  /** Peers that were asked and may still respond, and those of them that are not silent. */
  #asked = 0
  #prompt = 0
  /** Peers taken from this node's own table. */
  #own = 0

  constructor(init: DhtQueriesInit, silent: SilentPeers, key: Uint8Array, ask: AskPeer) {
    this.#init = init
    this.#silent = silent
    this.#key = key
    this.#target = sha256(key)
    this.#ask = ask
  }

  async *run(signal: AbortSignal | undefined): AsyncGenerator<QueryEvent> {
    const { routingTable } = this.#init
    try {
      if (routingTable.size === 0) await pEvent(routingTable, 'peer:add', signal === undefined ? {} : { signal })
      this.#takeOwn()
      for (;;) {
        this.#askNext()
        for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
          signal?.throwIfAborted()
          yield event
        }
        if (this.#prompt === 0 && this.#next() === undefined) {
          if (this.#nearest.length < RECORD_COPIES && this.#takeOwn()) continue
          if (this.#asked === 0) return
        }
        await within(this.#news.promise, signal)
        this.#news = Promise.withResolvers()
      }
    } finally {
      this.#stop.abort(new Error('the query has ended'))
    }
  }

  /** Takes the nearest peers of this node's own table, the next time the next nearest. @returns whether there were any more */
  #takeOwn(): boolean {
    const { routingTable } = this.#init
    const before = this.#own
    this.#own = Math.min(routingTable.size, WIDTH_MAX, before + RECORD_COPIES)
    for (const id of routingTable.closestPeers(this.#target, { count: this.#own }))
      if (!this.#seen.has(keyOf(id))) this.#waiting.add(this.#candidate({ id, multiaddrs: [] }, OWN_TABLE))
    return this.#own > before
  }

  #askNext(): void {
    while (this.#prompt < DHT_ASKED_AT_ONCE && this.#asked < DHT_ASKED_AT_ONCE_MAX) {
      const next = this.#next()
      if (next === undefined) return
      this.#waiting.delete(next)
      void this.#askOne(next)
    }
  }

  /** The nearest candidate of the lowest rank. */
  #next(): Candidate | undefined {
    let best: { readonly candidate: Candidate; readonly rank: number } | undefined
    for (const candidate of this.#waiting) {
      if (!this.#isNear(candidate, this.#width)) continue
      const rank = this.#rank(candidate)
      const order = best === undefined ? -1 : rank - best.rank || compare(candidate.distance, best.candidate.distance)
      if (order < 0) best = { candidate, rank }
    }
    return best?.candidate
  }

  /** Silent peers come last. Before them come those of peers that named silent ones: a hostile peer names many. */
  #rank({ key, namers }: Candidate): number {
    if (this.#silent.has(key)) return Infinity
    const misses = [...namers].map((namer) => this.#misses.get(namer) ?? 0)
    return Math.floor(Math.min(...misses) / DHT_MISSES_PER_RANK)
  }

  async #askOne(candidate: Candidate): Promise<void> {
    const { clock, routingTable, connectionManager } = this.#init
    const { key, peer, kadId } = candidate
    const startedAt = clock.elapsed()
    let isPrompt = true
    const fallSilent = () => {
      if (!isPrompt) return
      isPrompt = false
      this.#prompt--
      this.#silent.missed(key)
      this.#countMiss(candidate, 1)
      this.#news.resolve()
    }
    const silence = clock.after(this.#silent.silenceMs, fallSilent)
    const patience = this.#patience()
    let sentAt = startedAt
    let hasResponded = false
    this.#asked++
    this.#prompt++
    try {
      const path = { index: 0, queued: this.#waiting.size, running: this.#asked, total: this.#seen.size }
      const context = { key: this.#key, peer, peerKadId: kadId, path, numPaths: 1, signal: patience.signal }
      for await (const event of this.#ask(context)) {
        if (event.name === 'SEND_QUERY') {
          sentAt = clock.elapsed()
          patience.onSent()
        } else if (event.name === 'PEER_RESPONSE') {
          hasResponded = true
          silence.cancel()
          this.#silent.responded(key, clock.elapsed() - startedAt, clock.elapsed() - sentAt)
          if (!isPrompt) this.#countMiss(candidate, -1)
          routingTable.queueRoutingTableUpdate(peer.id)
          await this.#follow(candidate, event.closer)
        }
        this.#events.push(event)
        this.#news.resolve()
      }
    } catch {
      // kad-dht reports the failure of a request by an event.
    }
    silence.cancel()
    patience.end()
    if (!hasResponded && !this.#stop.signal.aborted) {
      fallSilent()
      // kad-dht keeps dead peers until their bucket is full, and names them to others.
      if (connectionManager.getConnections(peer.id).length === 0) routingTable.remove(peer.id).catch(ignore)
    }
    if (isPrompt) this.#prompt--
    this.#asked--
    this.#news.resolve()
  }

  /**
   * How long a request may take. Dialling a dead peer looks the same as a slow network, and so does the silence of a connected one
   * while no other peer has responded.
   */
  #patience(): { readonly signal: AbortSignal; onSent(): void; end(): void } {
    const { clock } = this.#init
    const tooLate = new AbortController()
    let since = clock.elapsed()
    let isSent = false
    const check = () => {
      const limitMs = isSent && this.#nearest.length === 0 ? DHT_ANSWER_MS_MAX : this.#silent.answerMs
      const leftMs = since + limitMs - clock.elapsed()
      // Others may respond meanwhile.
      if (leftMs > 0) timer = clock.after(Math.min(leftMs, DHT_ANSWER_MS), check)
      else tooLate.abort(new Error('the peer did not respond in time'))
    }
    let timer = clock.after(DHT_ANSWER_MS, check)
    return {
      signal: AbortSignal.any([this.#stop.signal, tooLate.signal]),
      onSent() {
        since = clock.elapsed()
        isSent = true
      },
      end: () => timer.cancel()
    }
  }

  /** Remembers the peers that this one named. */
  async #follow(from: Candidate, named: readonly PeerInfo[]): Promise<void> {
    const at = this.#nearest.findIndex((distance) => compare(from.distance, distance) < 0)
    this.#nearest.splice(at < 0 ? this.#nearest.length : at, 0, from.distance)
    for (const peer of named.slice(0, RECORD_COPIES)) {
      const known = this.#seen.get(keyOf(peer.id))
      known?.namers.add(from.key)
      if (known !== undefined || peer.id.equals(this.#init.self)) continue
      const candidate = this.#candidate(peer, from.key)
      if (!this.#isNear(candidate, WIDTH_MAX)) continue
      if (await this.#init.connectionManager.isDialable(peer.multiaddrs)) this.#waiting.add(candidate)
    }
  }

  #countMiss({ namers }: Candidate, count: 1 | -1): void {
    this.#silentCount += count
    for (const namer of namers) {
      // A third of this node's own peers may be dead, and the others are still the best known.
      if (namer !== OWN_TABLE) this.#misses.set(namer, (this.#misses.get(namer) ?? 0) + count)
    }
  }

  #candidate(peer: PeerInfo, namer: string): Candidate {
    const key = keyOf(peer.id)
    const kadId = sha256(peer.id.toMultihash().bytes)
    const candidate = { key, peer, kadId, distance: xor(kadId, this.#target), namers: new Set([namer]) }
    this.#seen.set(key, candidate)
    return candidate
  }

  /** How many of the nearest peers must respond: more where some are silent, because these may have held the only copies. */
  get #width(): number {
    return Math.min(WIDTH_MAX, RECORD_COPIES + this.#silentCount)
  }

  /** Fewer than `width` nearer peers have responded. */
  #isNear({ distance }: Candidate, width: number): boolean {
    const farthest = this.#nearest[width - 1]
    return farthest === undefined || compare(distance, farthest) < 0
  }
}

const keyOf = (peer: PeerId): string => latin1(peer.toMultihash().bytes)
