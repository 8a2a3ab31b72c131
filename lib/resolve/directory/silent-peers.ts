import type { Clock } from '../../base/clock.ts'
import {
  DHT_ANSWER_MS,
  DHT_ANSWER_MS_MAX,
  DHT_ANSWER_ROUND_TRIPS,
  DHT_SILENCE_MS_MAX,
  DHT_SILENCE_MS_MIN,
  DHT_SILENT_PEERS_MAX,
  DHT_SILENT_PEERS_MS
} from '../../base/limits/directory.ts'
import { boundedMap } from '../../base/bounded-map.ts'

/** Weight of one response time in the average. */
const WEIGHT = 1 / 8

/** Which peers of the DHT did not respond lately, and how long the others take. */
export class SilentPeers {
  readonly #clock: Clock
  readonly #since = boundedMap<string, number>(DHT_SILENT_PEERS_MAX)
  #usualMs = DHT_SILENCE_MS_MIN
  #roundTripMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time after which a peer counts as silent: twice the usual one, which grows with the distance of peers and the load here. */
  get silenceMs(): number {
    return Math.min(DHT_SILENCE_MS_MAX, Math.max(DHT_SILENCE_MS_MIN, 2 * this.#usualMs))
  }

  /** Time after which a request is given up: a few of the usual round trips. */
  get answerMs(): number {
    const ms = DHT_ANSWER_ROUND_TRIPS * (this.#roundTripMs ?? 0)
    return Math.min(DHT_ANSWER_MS_MAX, Math.max(DHT_ANSWER_MS, ms))
  }

  /**
   * @param ms since the request began
   * @param roundTripMs since it was sent, to a connected peer
   */
  responded(peer: string, ms: number, roundTripMs: number): void {
    this.#usualMs += (ms - this.#usualMs) * WEIGHT
    const before = this.#roundTripMs ?? roundTripMs
    this.#roundTripMs = before + (roundTripMs - before) * WEIGHT
    this.#since.delete(peer)
  }

  missed(peer: string): void {
    this.#since.set(peer, this.#clock.elapsed())
  }

  has(peer: string): boolean {
    const since = this.#since.get(peer)
    return since !== undefined && this.#clock.elapsed() - since < DHT_SILENT_PEERS_MS
  }
}
