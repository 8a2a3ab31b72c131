import { sqlStateOf } from './sql-state.ts'

type Words = ReadonlyArray<readonly [RegExp, string]>

/** By SQLSTATE. */
const BY_STATE: Words = [
  [/^28P01/, 'it refuses the user or the password'],
  [/^28/, 'its rules (pg_hba.conf) do not let this user connect from here. They may require TLS (sslmode=require)'],
  [/^3D/, 'it has no such database'],
  [/^3F/, 'it has no schema of the name in search_path'],
  [/^42501/, 'it does not let this user create its tables, or read and write them'],
  [/^42704/, 'it does not know a setting in the options of its address'],
  [/^55000/, 'it lets nobody connect to this database']
]

/** By the codes of Node.js and OpenSSL, for a connection with TLS. */
const BY_CODE: Words = [
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, 'its certificate is for another host name'],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)/, 'its certificate is not valid at this time'],
  [
    /SELF_SIGNED|^UNABLE_TO_|^CERT_/,
    'its certificate is not from a known authority. Name the file with the certificate of that authority: sslrootcert=<file>'
  ],
  [/^(?:ERR_SSL|ERR_TLS|EPROTO)/, 'the TLS connection fails'],
  [/^ERR_INVALID_URL/, 'its address is not a URL']
]

/** By the text of errors of `pg` that have no code. */
const BY_TEXT: Words = [
  [/^The server does not support SSL/, 'it does not support TLS, which its address asks for (sslmode)'],
  [/establishing an SSL connection/, 'the TLS connection fails']
]

/**
 * Why the server rejects every connection until somebody changes its settings or its address. In words without host, user and
 * password. Undefined for other errors.
 */
export function rejectionOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const state = sqlStateOf(error)
  if (state !== undefined) return said(BY_STATE, state)
  if ('syscall' in error && error.syscall === 'open') return 'a file that its address names cannot be read'
  return said(BY_CODE, 'code' in error ? String(error.code) : '') ?? said(BY_TEXT, error.message)
}

function said(words: Words, text: string): string | undefined {
  return words.find(([pattern]) => pattern.test(text))?.[1]
}
