/** Exit codes, after sysexits.h. */
export const EXIT = {
  ok: 0,
  /** The command was valid, but failed. */
  failed: 1,
  usage: 64,
  /** EX_UNAVAILABLE: no node is running, or it does not respond. */
  unavailable: 69,
  /** EX_SOFTWARE: an internal error. */
  internal: 70,
  /** EX_IOERR: a write to disk failed. Free space, then start the node again. */
  storage: 74,
  /** EX_TEMPFAIL: the event loop hung, and the watchdog ended the process. Start it again. */
  hung: 75,
  /** EX_NOPERM */
  notPermitted: 77,
  /** EX_CONFIG: wrong version of Node.js, or an invalid configuration. */
  config: 78
} as const

const BY_CODE: Readonly<Record<string, number>> = {
  usage: EXIT.usage,
  network_invalid: EXIT.config,
  network_missing: EXIT.usage,
  node_not_running: EXIT.unavailable,
  node_silent: EXIT.unavailable,
  internal_error: EXIT.internal,
  admin_token_invalid: EXIT.notPermitted,
  ingress_not_allowed: EXIT.notPermitted,
  key_not_permitted: EXIT.notPermitted,
  permissions_too_open: EXIT.notPermitted,
  config_invalid: EXIT.config,
  passphrase_wrong: EXIT.notPermitted,
  profile_broken: EXIT.config,
  profile_exists: EXIT.failed,
  store_failed: EXIT.storage,
  wallet_broken: EXIT.config
}

/** Exit code for an error code of the table, of setup, or of the command line. */
export function exitCodeOf(code: string): number {
  return BY_CODE[code] ?? EXIT.failed
}
