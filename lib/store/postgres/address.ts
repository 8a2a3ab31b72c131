import { SoukError } from '../../base/errors.ts'

/** Parameters with an effect. */
const EFFECTIVE = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'options',
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'host',
  'port',
  'user',
  'password',
  'ssl',
  'uselibpqcompat',
  'fallback_application_name',
  'client_encoding'
]
/** Parameters of libpq that providers add to their addresses. Without an effect, and without harm. */
const HARMLESS = [
  'connect_timeout',
  'channel_binding',
  'gssencmode',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'target_session_attrs',
  'tcp_user_timeout'
]
const KNOWN: ReadonlySet<string> = new Set([...EFFECTIVE, ...HARMLESS])
const SSL_MODES: ReadonlySet<string> = new Set(
  'disable allow prefer require verify-ca verify-full no-verify'.split(' ')
)
const PORT_MAX = 65_535

/**
 * Refuses parameters that `pg` ignores without a word. With a mistyped `sslmode`, the password and the data would cross the network
 * unencrypted. With an impossible port, a timer of `pg` would end the process.
 * @throws SoukError `internal_error`
 */
export function checkAddress(url: string): void {
  const query = /^postgres(?:ql)?:[^?#]*\?([^#]*)/.exec(url)?.[1] ?? ''
  for (const [name, value] of new URLSearchParams(query)) {
    const fault = faultOf(name, value)
    if (fault === undefined) continue
    // A question mark in the password makes the rest of it look like a parameter.
    const said = query.includes('@') ? 'parameters that Souk does not know. In a password write %3F for ?' : fault
    throw new SoukError('internal_error', `The address of the database has ${said}.`)
  }
}

function faultOf(name: string, value: string): string | undefined {
  if (!KNOWN.has(name))
    return `a parameter that Souk does not know: ${name}. Examples of known ones: ${EFFECTIVE.slice(0, 7).join(', ')}`
  if (name === 'sslmode' && !SSL_MODES.has(value)) return `an unknown sslmode. It can be ${[...SSL_MODES].join(', ')}`
  const isPort = /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) <= PORT_MAX
  if (name === 'port' && !isPort) return `a port that is not a number from 1 to ${PORT_MAX}`
  return undefined
}
