/** Runs one task at a time per key, in order of arrival. */
export class KeyedMutex {
  /** Promise per key that resolves when the last task in the queue has left. */
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves when the caller's turn comes. The returned function lets the next task start. */
  async enter(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    await before
    return () => {
      if (this.#last.get(key) === promise) this.#last.delete(key)
      resolve()
    }
  }

  /** Runs a task in its turn, even if earlier tasks failed. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await task()
    } finally {
      leave()
    }
  }
}

/** Runs one task at a time, in order of arrival. */
export class Mutex {
  readonly #turns = new KeyedMutex()

  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run('', task)
  }
}
