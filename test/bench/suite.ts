/** One number of a table; `better` says which way, `aim` where it should be. */
export interface Ratio {
  readonly name: string
  readonly value: number
  readonly better: 'lower' | 'higher'
  readonly aim?: number
  /** What is divided by what. */
  readonly of: string
}

export interface SuiteResult {
  readonly ratios: readonly Ratio[]
  /** Rows of equal length, the first with the headings; for people. */
  readonly table: ReadonlyArray<readonly string[]>
  /** What has to be known to read the table. */
  readonly notes: readonly string[]
  /** Everything measured, for programs. */
  readonly details: unknown
}

export interface SuiteContext {
  /** A fresh directory, removed after the run. */
  readonly directory: string
  /** Progress, for people. */
  say(line: string): void
}

/** A set of measurements that are taken together. Throws when anything failed: a benchmark with errors is none. */
export interface Suite {
  readonly name: string
  run(context: SuiteContext): Promise<SuiteResult>
}
