export interface OperationSummary {
  readonly name: string
  /** First line of the description. */
  readonly summary?: string
}
