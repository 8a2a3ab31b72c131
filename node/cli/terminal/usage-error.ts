/** The command line is not valid. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}
