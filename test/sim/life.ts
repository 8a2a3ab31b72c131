import type { Clock } from '../../lib/base/clock.ts'
import type { World } from './world.ts'

/** One process, from its start to kill -9. After its death, no timer of it fires and no request of it gets a response. */
export class Life {
  readonly #world: World
  readonly #onDeath: Array<() => void> = []
  #isDead = false

  constructor(world: World) {
    this.#world = world
  }

  get isDead(): boolean {
    return this.#isDead
  }

  kill(): void {
    if (this.#isDead) return
    this.#isDead = true
    for (const task of this.#onDeath) task()
  }

  onDeath(task: () => void): void {
    this.#onDeath.push(task)
  }

  /** @param skewMs the error of its wall clock */
  clock(skewMs: number): Clock {
    const world = this.#world
    const alive = (task: () => void) => () => {
      if (!this.#isDead) task()
    }
    return {
      now: () => world.date + skewMs,
      elapsed: () => world.now,
      after: (delayMs, task) => world.after(delayMs, alive(task)),
      soon: (task) => void world.after(0, alive(task))
    }
  }

  /** A delayed response from outside. A dead process gets none, but its request may have been executed. */
  answer<T>(delayMs: number, answer: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      void this.#world.after(delayMs, () => {
        if (this.#isDead) return
        try {
          resolve(answer())
        } catch (error) {
          reject(error)
        }
      })
    })
  }
}
