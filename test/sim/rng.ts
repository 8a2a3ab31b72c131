import type { Random } from '../../lib/base/random.ts'

/** All randomness of a simulation, from one seed, so that a seed always gives the same run. (sfc32, seeded by splitmix32) */
export class Rng implements Random {
  readonly #state = new Uint32Array(4)

  constructor(seed: number) {
    let at = seed >>> 0
    for (let i = 0; i < 3; i++) {
      at = (at + 0x9e3779b9) >>> 0
      let mixed = Math.imul(at ^ (at >>> 16), 0x21f0aaad)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
      this.#state[i] = mixed ^ (mixed >>> 15)
    }
    this.#state[3] = 1
    for (let i = 0; i < 12; i++) this.word()
  }

  /** A separate generator, so that draws of one part do not affect another. */
  fork(): Rng {
    return new Rng(this.word())
  }

  word(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#state
    const word = (a + b + d) >>> 0
    this.#state[3] = d + 1
    this.#state[0] = b ^ (b >>> 9)
    this.#state[1] = c + (c << 3)
    this.#state[2] = ((c << 21) | (c >>> 11)) + word
    return word
  }

  /** In [0, 1). */
  fraction(): number {
    return this.word() / 2 ** 32
  }

  chance(probability: number): boolean {
    return probability > 0 && this.fraction() < probability
  }

  /** An integer from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T
  }

  fill(target: Uint8Array): Uint8Array {
    for (let i = 0; i < target.length; i++) target[i] = this.word()
    return target
  }
}
