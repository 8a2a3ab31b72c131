import { asSoukError, type Atoms, KeyedMutex, limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/** The source of slices: a shared, durable amount, such as a balance or the rest of a daily cap. */
export interface SliceSource<T> {
  /**
   * Takes a slice of at least `needed`, and of `wanted` or the usual size if available. Durable when it resolves. May return nothing if
   * `needed` is 0.
   * @param last size of this process's last slice; 0 before the first
   * @throws SoukError for the caller if less than `needed` is available
   */
  take(owner: T, needed: Atoms, wanted: Atoms, last: Atoms): Promise<Atoms>
  /** Returns an unspent amount. If it rejects with `isChargeUnknown`, the amount may be lost. */
  giveBack(owner: T, amount: Atoms): Promise<void>
}

interface Slice<T> {
  readonly owner: T
  /** Taken, but neither reserved nor spent. */
  left: Atoms
  /** Size of the last slice. */
  size: Atoms
  /** Total that callers waiting for the next slice need. */
  awaited: Atoms
  dryUntil: number
  touched: boolean
}

/**
 * Spends from slices that were taken in advance, so that callers rarely wait for the source. A reservation takes from the current slice. A
 * new slice is taken in the background when half of it is gone, and an idle slice is returned. The source accounts for the slices of a
 * killed process.
 */
export class Slices<T extends { readonly id: string }> {
  readonly #clock: Clock
  readonly #source: SliceSource<T>
  readonly #slices = new Map<string, Slice<T>>()
  /** Serializes requests to the source, per owner. */
  readonly #turns = new KeyedMutex()
  #isSweeping = false

  constructor(clock: Clock, source: SliceSource<T>) {
    this.#clock = clock
    this.#source = source
  }

  /** Immediate if the slice has enough. @throws (or rejects with) the source’s error */
  reserve(owner: T, amount: Atoms): void | Promise<void> {
    const slice = this.#sliceOf(owner)
    if (slice.left < amount) return this.#await(slice, amount)
    slice.left -= amount
    if (slice.left * 2n < slice.size) this.#takeAhead(slice)
  }

  /** Returns a reserved but unspent amount to the slice. */
  release(owner: T, amount: Atoms): void {
    if (amount > 0n) this.#sliceOf(owner).left += amount
  }

  /** The source took the slice back. */
  forget({ id }: T): void {
    const slice = this.#slices.get(id)
    if (slice !== undefined) slice.left = 0n
  }

  /** The source took all slices back. */
  forgetAll(): void {
    for (const slice of this.#slices.values()) slice.left = 0n
  }

  atHand({ id }: T): Atoms {
    return this.#slices.get(id)?.left ?? 0n
  }

  /** Runs while no slice of this owner is taken or returned. */
  betweenTurns<R>({ id }: T, run: () => Promise<R>): Promise<R> {
    return this.#turns.run(id, run)
  }

  /** Returns the slice of one owner. */
  async giveBack({ id }: T): Promise<void> {
    const slice = this.#slices.get(id)
    if (slice !== undefined) await this.#giveBack(slice)
  }

  /** Returns all slices. Requires that nothing is reserved any more. */
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
        // Other callers may take from the slice while the source responds.
        while (slice.left < amount) {
          const { owner, left, awaited, size } = slice
          this.#put(slice, await this.#source.take(owner, amount - left, awaited - left, size))
        }
        slice.left -= amount
      } finally {
        slice.awaited -= amount
      }
    })
  }

  /** Runs in the background. If it fails, the next call that needs money reports the error. */
  #takeAhead(slice: Slice<T>): void {
    const now = this.#clock.elapsed()
    if (now < slice.dryUntil) return
    slice.dryUntil = Infinity
    this.#turns
      .run(slice.owner.id, async () => {
        const taken = slice.left * 2n < slice.size ? await this.#source.take(slice.owner, 0n, 0n, slice.size) : 0n
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
      if (amount === 0n) return
      try {
        await this.#source.giveBack(slice.owner, amount)
      } catch (error) {
        // It can be spent, or returned later. The slice may have been deleted meanwhile, as an empty one.
        if (!asSoukError(error).isChargeUnknown) this.#sliceOf(slice.owner).left += amount
        throw error
      }
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
