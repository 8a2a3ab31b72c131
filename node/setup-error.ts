/**
 * Why a node could not be set up or started on this machine. Only the operator sees these errors, never a peer or a consumer. Their codes
 * become exit codes, not HTTP statuses.
 */
export type SetupErrorCode =
  | 'config_invalid'
  | 'network_invalid'
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
  /** A command or an option that helps, shown after `Try:`. */
  readonly hint: string | undefined

  constructor(code: SetupErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}
