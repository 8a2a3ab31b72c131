/** The command line is valid, but nothing here has the id in it. */
export class UnknownId extends Error {
  override readonly name = 'UnknownId'
  readonly code = 'invalid_request'
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
