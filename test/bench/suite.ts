/** One figure of a table. `better` is the good direction, `aim` the target. */
export interface Ratio {
  readonly name: string
  readonly value: number
  readonly better: 'lower' | 'higher'
  readonly aim?: number
  /** Numerator and denominator. */
  readonly of: string
  /** The wait for the disk in the numerator. Ratios at concurrency 1 only. */
  readonly diskUs?: number
}

/** The part of a result for people. */
export interface SuiteReport {
  readonly ratios: readonly Ratio[]
  /** Rows of equal length for people; the first has the headings. */
  readonly table: ReadonlyArray<readonly string[]>
  /** Explanations of the table. */
  readonly notes: readonly string[]
}

export interface SuiteResult extends SuiteReport {
  /** All measurements, for programs. */
  readonly details: unknown
}

export interface SuiteContext {
  /** A new directory, removed after the run. */
  readonly directory: string
  /** Prints progress for people. */
  say(line: string): void
}

/** A set of measurements taken together. Throws on any failure, because a benchmark with errors is invalid. */
export interface Suite {
  readonly name: string
  run(context: SuiteContext): Promise<SuiteResult>
}
