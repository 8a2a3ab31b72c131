/** Items that may be removed before the array is copied. */
const REMOVED_MAX = 1_024

/**
 * A queue whose `shift` takes constant time. That of an array moves all other items once the array is large, so a queue of 65,000 small
 * chunks would block the process for seconds.
 */
export class Fifo<T> implements Iterable<T> {
  #items: Array<T | undefined>
  #at = 0

  constructor(items: readonly T[] = []) {
    this.#items = [...items]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** The oldest item, which stays. */
  first(): T | undefined {
    return this.#items[this.#at]
  }

  /** Removes the oldest item. */
  shift(): T | undefined {
    if (this.#at === this.#items.length) return undefined
    const item = this.#items[this.#at]
    this.#items[this.#at++] = undefined
    if (this.#at >= REMOVED_MAX && this.#at * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#at)
      this.#at = 0
    }
    return item
  }

  clear(): void {
    this.#items = []
    this.#at = 0
  }

  /** Oldest first. */
  *[Symbol.iterator](): Iterator<T> {
    for (let i = this.#at; i < this.#items.length; i++) yield this.#items[i] as T
  }
}
