/**
 * Why a node could not be set up or started on this machine. Told to the person at the terminal, never to a peer or a
 * consumer, so it has codes of its own beside the table of problems: they become exit codes, not HTTP statuses.
 */
export type SetupErrorCode =
  | 'config_invalid'
  | 'network_missing'
  | 'passphrase_wrong'
  | 'permissions_too_open'
  | 'port_busy'
  | 'profile_broken'
  | 'profile_exists'
  | 'profile_in_use'
  | 'start_failed'
  | 'store_failed'
  | 'wallet_broken'
  | 'wallet_exists'
  | 'wallet_missing'

export class SetupError extends Error {
  override readonly name = 'SetupError'
  readonly code: SetupErrorCode
  /** What to do about it: a command or an option, shown behind `Try:`. */
  readonly hint: string | undefined

  constructor(code: SetupErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}
