/** One task at a time of each key, in the order of asking. */
export class KeyedMutex {
  /** Resolves when the last that asked for the key has left. */
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves when it is one's turn, with what lets the next one in. */
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

  /** Runs a task in its turn, whatever became of those before it. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await task()
    } finally {
      leave()
    }
  }
}

/** One task at a time, in the order of asking. */
export class Mutex {
  readonly #turns = new KeyedMutex()

  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run('', task)
  }
}
