/** Runs one task at a time per key. Callers that arrive while it runs share its result. */
export class SingleFlight<K, T> {
  readonly #running = new Map<K, Promise<T>>()

  get size(): number {
    return this.#running.size
  }

  get(key: K): Promise<T> | undefined {
    return this.#running.get(key)
  }

  run(key: K, task: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const started = task().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** Resolves when the tasks that run now have ended, with success or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }
}
