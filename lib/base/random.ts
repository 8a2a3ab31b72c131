import { randomFillSync } from 'node:crypto'

/** The randomness interface, so that the simulator can run production code from a seed. */
export interface Random {
  /** Fills `target` with random bytes and returns it. */
  fill(target: Uint8Array): Uint8Array
}

/** Cryptographically strong. The default everywhere. */
export const systemRandom: Random = { fill: (target) => randomFillSync(target) }

/** A number in [0, 1) from 48 random bits. */
export function fraction(random: Random): number {
  const bytes = random.fill(new Uint8Array(6))
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 48
}

/** Takes `count` of the items at random, or all where there are fewer, and removes them from the list. */
export function draw<T>(random: Random, from: T[], count: number): T[] {
  const drawn: T[] = []
  while (drawn.length < count && from.length > 0)
    drawn.push(...from.splice(Math.floor(fraction(random) * from.length), 1))
  return drawn
}
