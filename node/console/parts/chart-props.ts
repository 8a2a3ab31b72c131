export interface ChartProps {
  /** Time of each value in milliseconds since the epoch. */
  readonly at: readonly number[]
  readonly lines: ReadonlyArray<{
    readonly name: string
    /** A colour of `tokens.css`. */
    readonly colour: string
    /** Null for a gap. */
    readonly values: ReadonlyArray<number | null>
  }>
  /** Unit after each number of the axis. */
  readonly unit: string
}
