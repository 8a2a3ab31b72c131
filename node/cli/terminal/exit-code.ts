/** Exit codes, after sysexits.h. */
export const EXIT = {
  ok: 0,
  /** The command was understood and tried, and did not succeed. */
  failed: 1,
  usage: 64,
  /** EX_UNAVAILABLE: no node is running, or it gives no response. */
  unavailable: 69,
  /** EX_SOFTWARE: a fault of ours. */
  internal: 70,
  /** EX_IOERR: the disk, or what lies on it, took a write no more. Starting again helps once there is room. */
  storage: 74,
  /** EX_TEMPFAIL: the event loop hung, and the watchdog ended the process. Starting it again helps. */
  hung: 75,
  /** EX_NOPERM */
  notPermitted: 77,
  /** EX_CONFIG: wrong version of Node.js, or a configuration that cannot work. */
  config: 78
} as const

const BY_CODE: Readonly<Record<string, number>> = {
  usage: EXIT.usage,
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

/** For an error's code: ours of the table, of setup, or of the command line. */
export function exitCodeOf(code: string): number {
  return BY_CODE[code] ?? EXIT.failed
}
