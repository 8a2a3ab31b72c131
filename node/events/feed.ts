/** Publishes items to its listeners, and keeps the last few for listeners that reconnect. */
export class Feed<T> {
  readonly #listeners = new Set<(item: T) => void>()
  readonly #last: T[] = []
  readonly #keptMax: number

  /** @param keptMax - number of items to keep for reconnecting listeners */
  constructor(keptMax: number) {
    this.#keptMax = keptMax
  }

  tell(item: T): void {
    this.#last.push(item)
    if (this.#last.length > this.#keptMax) this.#last.shift()
    for (const listener of this.#listeners) listener(item)
  }

  /** Oldest first. */
  last(): readonly T[] {
    return this.#last
  }

  listen(listener: (item: T) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
