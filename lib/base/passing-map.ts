/**
 * A map for values that pass through it, like running calls. It releases a deleted value at once.
 *
 * A `Map` does not: V8 replaces its table after some deletions, and the old table keeps its values and refers to the next table. Once one
 * table is in the old generation, all later tables and their values move there too, and wait for a collection of the whole heap.
 */
export class PassingMap<K, V> {
  readonly #boxes = new Map<K, Box<V>>()

  get size(): number {
    return this.#boxes.size
  }

  get(key: K): V | undefined {
    return this.#boxes.get(key)?.value
  }

  set(key: K, value: V): void {
    const box = this.#boxes.get(key)
    if (box === undefined) this.#boxes.set(key, { value })
    else box.value = value
  }

  delete(key: K): void {
    const box = this.#boxes.get(key)
    if (box === undefined) return
    box.value = undefined
    this.#boxes.delete(key)
  }

  keys(): MapIterator<K> {
    return this.#boxes.keys()
  }
}

interface Box<V> {
  value: V | undefined
}
