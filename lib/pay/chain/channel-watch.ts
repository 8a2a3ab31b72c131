import { isDeepStrictEqual } from 'node:util'
import type { Clock, Timer } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { WATCH_POLL_MS, WATCHED_AT_ONCE } from '../../base/limits/chain.ts'
import type { Chain, ChannelState } from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelSnapshot, ChannelWatch } from '../../interface/redeem.ts'

export interface ChannelWatchInit {
  readonly chain: Chain
  readonly clock: Clock
  /** The channels to read. Called before each poll. */
  readonly channels: () => Iterable<ChannelId>
  readonly onError: (error: SoukError) => void
}

interface Seen {
  readonly snapshot: ChannelSnapshot
  /** Time of the request, on the monotonic clock. */
  readonly askedAt: number
  /** Block time in milliseconds since the epoch. An endpoint that fell behind responds at once, but with old state. */
  readonly chainAt: number
}

export function createChannelWatch(init: ChannelWatchInit): ChannelWatch {
  return new PollingWatch(init)
}

class PollingWatch implements ChannelWatch {
  readonly #init: ChannelWatchInit
  /** In the order of the last read; the oldest first. */
  readonly #seen = new Map<ChannelId, Seen>()
  readonly #listeners = new Set<(ids: readonly ChannelId[]) => void>()
  #isRunning = false
  #timer: Timer | undefined

  constructor(init: ChannelWatchInit) {
    this.#init = init
  }

  snapshot(id: ChannelId): ChannelSnapshot | undefined {
    return this.#seen.get(id)?.snapshot
  }

  age(id: ChannelId): number {
    const seen = this.#seen.get(id)
    if (seen === undefined) return Infinity
    const { clock } = this.#init
    return Math.max(clock.elapsed() - seen.askedAt, clock.now() - seen.chainAt)
  }

  async refresh(ids: readonly ChannelId[]): Promise<void> {
    for (let i = 0; i < ids.length; i += WATCHED_AT_ONCE) await this.#look(ids.slice(i, i + WATCHED_AT_ONCE))
  }

  onLook(listener: (ids: readonly ChannelId[]) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async start(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    await this.#poll()
  }

  stop(): void {
    this.#isRunning = false
    this.#timer?.cancel()
  }

  async #poll(): Promise<void> {
    try {
      await this.#look(this.#due())
    } catch (error) {
      this.#init.onError(asSoukError(error))
    }
    if (this.#isRunning) this.#timer = this.#init.clock.after(WATCH_POLL_MS, () => void this.#poll())
  }

  #due(): ChannelId[] {
    const wanted = new Set(this.#init.channels())
    for (const id of this.#seen.keys()) if (!wanted.has(id)) this.#seen.delete(id)
    const unseen = [...wanted].filter((id) => !this.#seen.has(id))
    return [...unseen, ...this.#seen.keys()].slice(0, WATCHED_AT_ONCE)
  }

  async #look(ids: readonly ChannelId[]): Promise<void> {
    const { clock } = this.#init
    const askedAt = clock.elapsed()
    if (ids.length > 0) {
      const { block, channels } = await this.#init.chain.channels(ids, 'latest')
      const late = await this.#late(ids.filter((id, i) => !this.#isSettled(id, channels[i])))
      for (const [i, id] of ids.entries()) {
        const latest = channels[i]
        if (latest === undefined || (this.#seen.get(id)?.askedAt ?? 0) > askedAt) continue
        this.#seen.delete(id)
        const { safe, finalized } = late.get(id) ?? { safe: latest, finalized: latest }
        this.#seen.set(id, { snapshot: { latest, safe, finalized }, askedAt, chainAt: block.at })
      }
    }
    for (const listener of this.#listeners) listener(ids)
  }

  /** The state at the head equals the last finalized state, so it needs no further read. This holds for most channels. */
  #isSettled(id: ChannelId, latest: ChannelState | undefined): boolean {
    return isDeepStrictEqual(this.#seen.get(id)?.snapshot.finalized, latest)
  }

  async #late(ids: readonly ChannelId[]): Promise<Map<ChannelId, Omit<ChannelSnapshot, 'latest'>>> {
    if (ids.length === 0) return new Map()
    const { chain } = this.#init
    const [safe, finalized] = await Promise.all([chain.channels(ids, 'safe'), chain.channels(ids, 'finalized')])
    const snapshots = ids.map((id, i) => {
      const [atSafe, atFinalized] = [safe.channels[i], finalized.channels[i]]
      if (atSafe === undefined || atFinalized === undefined) throw unanswered()
      return [id, { safe: atSafe, finalized: atFinalized }] as const
    })
    return new Map(snapshots)
  }
}

const unanswered = () =>
  new SoukError('settlement_unavailable', 'The chain endpoint did not return all channels. Try again later.')
