import { type Atoms, KeyedMutex, limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/** Where slices come from: something shared and durable, such as what is left of a balance or of a day's cap. */
export interface SliceSource<T> {
  /**
   * Takes a slice: at least `needed`, and `wanted` or a usual slice where there is as much. Durable when it resolves. Asked for
   * 0 it may come back with nothing.
   * @throws SoukError what the caller hears where there is less than `needed`
   */
  take(owner: T, needed: Atoms, wanted: Atoms): Promise<Atoms>
  /** What was not spent. Lost where it rejects. */
  giveBack(owner: T, amount: Atoms): Promise<void>
}

interface Slice<T> {
  readonly owner: T
  /** Taken, and neither reserved nor spent. */
  left: Atoms
  /** Of the last one. */
  size: Atoms
  /** What those who wait for the next one need together. */
  awaited: Atoms
  dryUntil: number
  touched: boolean
}

/**
 * Spends from slices that were taken ahead, so that hardly anybody waits for the source: reserving is taking from what is at
 * hand, a new slice is fetched behind when half of it is gone, and what lies idle is given back. What a killed process had at
 * hand is the source's to know of.
 */
export class Slices<T extends { readonly id: string }> {
  readonly #clock: Clock
  readonly #source: SliceSource<T>
  readonly #slices = new Map<string, Slice<T>>()
  /** Of each owner, one thing after the other is asked of the source. */
  readonly #turns = new KeyedMutex()
  #isSweeping = false

  constructor(clock: Clock, source: SliceSource<T>) {
    this.#clock = clock
    this.#source = source
  }

  /** At once where there is enough at hand. @throws (rejects with) what the source refuses with */
  reserve(owner: T, amount: Atoms): void | Promise<void> {
    const slice = this.#sliceOf(owner)
    if (slice.left < amount) return this.#await(slice, amount)
    slice.left -= amount
    if (slice.left * 2n < slice.size) this.#takeAhead(slice)
  }

  /** Of what was reserved and is not spent. */
  release(owner: T, amount: Atoms): void {
    if (amount > 0n) this.#sliceOf(owner).left += amount
  }

  /** The source says that it is no longer ours. */
  forget({ id }: T): void {
    const slice = this.#slices.get(id)
    if (slice !== undefined) slice.left = 0n
  }

  /** Of none of them. */
  forgetAll(): void {
    for (const slice of this.#slices.values()) slice.left = 0n
  }

  atHand({ id }: T): Atoms {
    return this.#slices.get(id)?.left ?? 0n
  }

  /** Gives back what one owner has at hand. */
  async giveBack({ id }: T): Promise<void> {
    const slice = this.#slices.get(id)
    if (slice !== undefined) await this.#giveBack(slice)
  }

  /** Gives back everything at hand. Nothing may be reserved any more. */
  async stop(): Promise<void> {
    await Promise.allSettled([...this.#slices.values()].map((slice) => this.#giveBack(slice)))
    this.#slices.clear()
  }

  #sliceOf(owner: T): Slice<T> {
    const known = this.#slices.get(owner.id)
    if (known !== undefined) {
      known.touched = true
      return known
    }
    const slice = { owner, left: 0n, size: 0n, awaited: 0n, dryUntil: -Infinity, touched: true }
    this.#slices.set(owner.id, slice)
    this.#sweepLater()
    return slice
  }

  async #await(slice: Slice<T>, amount: Atoms): Promise<void> {
    slice.awaited += amount
    await this.#turns.run(slice.owner.id, async () => {
      try {
        // Others may take from what is at hand while the source is asked.
        while (slice.left < amount) {
          this.#put(slice, await this.#source.take(slice.owner, amount - slice.left, slice.awaited - slice.left))
        }
        slice.left -= amount
      } finally {
        slice.awaited -= amount
      }
    })
  }

  /** Behind the calls; where it fails, the call that needs it says why. */
  #takeAhead(slice: Slice<T>): void {
    const now = this.#clock.elapsed()
    if (now < slice.dryUntil) return
    slice.dryUntil = Infinity
    this.#turns
      .run(slice.owner.id, async () => {
        const taken = slice.left * 2n < slice.size ? await this.#source.take(slice.owner, 0n, 0n) : 0n
        this.#put(slice, taken)
        slice.dryUntil = taken === 0n ? this.#clock.elapsed() + limits.SLICE_PAUSE_MS : -Infinity
      })
      .catch(() => {
        slice.dryUntil = this.#clock.elapsed() + limits.SLICE_PAUSE_MS
      })
  }

  #put(slice: Slice<T>, taken: Atoms): void {
    slice.left += taken
    if (taken > 0n) slice.size = taken
  }

  #giveBack(slice: Slice<T>): Promise<void> {
    return this.#turns.run(slice.owner.id, async () => {
      const amount = slice.left
      slice.left = 0n
      if (amount > 0n) await this.#source.giveBack(slice.owner, amount)
    })
  }

  #sweepLater(): void {
    if (this.#isSweeping) return
    this.#isSweeping = true
    this.#clock.after(limits.SLICE_IDLE_MS, () => {
      this.#isSweeping = false
      for (const [id, slice] of this.#slices) {
        if (slice.touched) slice.touched = false
        else if (slice.left > 0n) this.#giveBack(slice).catch(() => {})
        else if (slice.awaited === 0n && slice.dryUntil !== Infinity) this.#slices.delete(id)
      }
      if (this.#slices.size > 0) this.#sweepLater()
    })
  }
}
