import type { Clock } from '../../lib/base/clock.ts'
import type { World } from './world.ts'

/**
 * One process, from its start to kill -9. It lives on what the world tells it: after its death no timer of it fires and
 * nothing that it asked for is answered, so nothing of it goes on.
 */
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

  /** `skewMs`: how far its wall clock is off. */
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

  /** An answer from outside, after a while. The dead are never answered; what was asked may have been done all the same. */
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
