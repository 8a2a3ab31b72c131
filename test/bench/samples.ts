import { median } from './statistics.ts'
import { measure, type Measurement, type Subject } from './subject.ts'

/** A measurement: a subject's name, and the number of calls in flight. */
export type Key<Name extends string = string> = `${Name}@${number}`

/** Enough that the median is robust against disturbances in two rounds. */
export const ROUNDS = 5
/** A window contains several garbage collections. */
export const MEASURE_MS = 3_000
const WARM_UP_MS = 100
const FIRST_SLICE_MS = 500
const FIRST_SLICES_MAX = 12

/**
 * The measurements of a run, by round. A ratio is the median of the rounds' ratios, so that a temporary slowdown affects both
 * sides.
 */
export class Samples<Name extends string> {
  readonly #byKey = new Map<Key<Name>, Measurement[]>()

  async take(name: Name, subject: Subject, concurrency: number): Promise<void> {
    const key: Key<Name> = `${name}@${concurrency}`
    const sample = await measure(subject, { concurrency, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS })
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), sample])
  }

  typical(key: Key<Name>, of: keyof Measurement): number {
    return median(this.#values(key, of))
  }

  ratio(ours: Key<Name>, peer: Key<Name>, of: keyof Measurement): number {
    const peers = this.#values(peer, of)
    return median(this.#values(ours, of).map((value, round) => value / (peers[round] ?? Number.NaN)))
  }

  /** The data for programs. */
  details() {
    const medians = [...this.#byKey.keys()].map((key) => [
      key,
      {
        calls_per_second: this.typical(key, 'perSecond'),
        p50_us: this.typical(key, 'p50Us'),
        p99_us: this.typical(key, 'p99Us'),
        server_cpu_us: this.typical(key, 'serverCpuUs'),
        server_user_us: this.typical(key, 'serverUserUs'),
        server_system_us: this.typical(key, 'serverSystemUs'),
        caller_cpu_us: this.typical(key, 'callerCpuUs'),
        gc_share: this.typical(key, 'gcShare'),
        heap_bytes: this.typical(key, 'heapBytes')
      }
    ])
    return { medians: Object.fromEntries(medians), rounds: ROUNDS, measure_ms: MEASURE_MS }
  }

  #values(key: Key<Name>, of: keyof Measurement): number[] {
    return (this.#byKey.get(key) ?? []).map((sample) => sample[of])
  }
}

/** Runs calls until a subject has had this many. With fewer, V8 is still compiling, which measured three times slower. */
export async function warmUp(subject: Subject, concurrencies: readonly number[], callsMin: number): Promise<void> {
  let calls = 0
  for (let slice = 0; slice < FIRST_SLICES_MAX && calls < callsMin; slice++) {
    const concurrency = concurrencies[slice % concurrencies.length] ?? 1
    calls += (await measure(subject, { concurrency, warmUpMs: 0, measureMs: FIRST_SLICE_MS })).calls
  }
}
