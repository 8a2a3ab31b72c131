/** A concurrency limiter: a fixed number of slots. Further callers wait in order of arrival. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#free = most
  }

  /** Resolves when a slot is free. The returned function frees it. @throws the signal's reason when it aborts before */
  enter(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(this.#leaving())
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(onTurn)
        reject(signal.reason)
      }
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort)
        resolve(this.#leaving())
      }
      this.#waiting.add(onTurn)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** May be called several times; only the first call counts. */
  #leaving(): () => void {
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      const [next] = this.#waiting
      if (next === undefined) {
        this.#free++
        return
      }
      this.#waiting.delete(next)
      next()
    }
  }
}
