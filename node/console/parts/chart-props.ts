export interface ChartProps {
  /** Milliseconds since the epoch, for each value. */
  readonly at: readonly number[]
  readonly lines: ReadonlyArray<{
    readonly name: string
    /** A token of colours. */
    readonly colour: string
    /** Null where there is none. */
    readonly values: ReadonlyArray<number | null>
  }>
  /** Behind each number of the axis. */
  readonly unit: string
}
