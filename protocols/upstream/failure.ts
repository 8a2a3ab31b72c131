import { CONNECTION_LOST, type ErrorCode, SoukError, isSoukError } from '../../lib/base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../../lib/base/limits/admission.ts'

/** Codes of Node, OpenSSL and undici that help the reader; others are not shown. Some of OpenSSL have a slash: `SSL/TLS_ALERT_…`. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|ERR_OSSL_)[A-Z0-9_/]*$/
/** What helps against the codes of certificates. The first that matches counts; an error of a short chain may also come from an unknown authority. */
const ADVICE: ReadonlyArray<readonly [code: RegExp, text: string]> = [
  [
    /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    " Its certificate is not valid now, or the clock of the provider's machine is wrong."
  ],
  [
    /^UNABLE_TO_(?:GET_ISSUER|VERIFY)/,
    ' Either it does not send its intermediate certificates, or an authority that Node.js does not know signed them. ' +
      'The provider can name that authority, or the missing certificates, as `ca_file` of `tls` in --auth-file.'
  ],
  [/SELF_SIGNED/, ' To trust its certificate, the provider names the authority as `ca_file` of `tls` in --auth-file.']
]

const TEXTS: Readonly<Record<string, readonly [code: ErrorCode, text: (where: string) => string]>> = {
  ECONNREFUSED: ['upstream_unreachable', (where) => `${where} refuses connections.`],
  ENOTFOUND: ['upstream_unreachable', (where) => `The host name of ${inside(where)} is not known.`],
  EAI_AGAIN: ['upstream_unreachable', (where) => `The host name of ${inside(where)} cannot be looked up now.`],
  EHOSTUNREACH: ['upstream_unreachable', (where) => `There is no route to ${inside(where)}.`],
  ENETUNREACH: ['upstream_unreachable', (where) => `There is no route to ${inside(where)}.`],
  ETIMEDOUT: ['upstream_unreachable', (where) => `${where} does not accept connections.`],
  UND_ERR_CONNECT_TIMEOUT: ['upstream_unreachable', (where) => `${where} does not accept connections in time.`],
  UND_ERR_DESTROYED: ['call_interrupted', () => 'The API was closed at its owner during the call.'],
  UND_ERR_CLOSED: ['call_interrupted', () => 'The API was closed at its owner during the call.'],
  UND_ERR_HEADERS_OVERFLOW: ['upstream_invalid_response', (where) => `${where} sent more headers than are allowed.`],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: [
    'upstream_invalid_response',
    // undici reports invalid headers after a Content-Length with this code too.
    (where) => `${where} sent another length than it announced, or headers that are not valid HTTP.`
  ]
}

/** The words of undici's `SocketError` for responses that it cannot read; its code is that of a lost connection. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'bad response': 'sent the interim response "100 Continue" without being asked for it, which this node cannot read.',
  'bad upgrade': 'switched to another protocol without being asked for it.'
}

/** This process, or the machine, has no file left to open. The API is not at fault. */
const NO_FILES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])

/** "The API", within a sentence. */
const inside = (where: string): string => where.replace(/^The /, 'the ')

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/**
 * Converts any error on the way to the upstream to a SoukError, with the original only as its cause.
 * @param wasSent whether the request was on its way, so that the upstream may have received it
 */
export function failureOf(error: unknown, where: string, wasSent = false): SoukError {
  if (isSoukError(error)) return error
  const code = codeOf(error)
  const options = { cause: error, source: 'upstream' } as const
  if (NO_FILES.has(code)) {
    const detail = `This node cannot open another connection to ${inside(where)} now. Try again later.`
    return new SoukError('overloaded', detail, { cause: error, notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
  }
  const known = TEXTS[code]
  if (known !== undefined) return new SoukError(known[0], known[1](where), options)
  if (TLS.test(code)) {
    const advice = ADVICE.find(([codes]) => codes.test(code))?.[1] ?? ''
    const detail = `TLS with ${inside(where)} failed (${code}).${advice}`
    // Unlike a lost connection, it does not pass by itself.
    return new SoukError('upstream_unreachable', detail, { ...options, members: { reason: 'tls' } })
  }
  const unreadable = code === 'UND_ERR_SOCKET' && error instanceof Error ? UNREADABLE[error.message] : undefined
  if (unreadable !== undefined) return new SoukError('upstream_invalid_response', `${where} ${unreadable}`, options)
  // undici's parser errors have a code only if llhttp gave a known one.
  if (error instanceof Error && error.name === 'HTTPParserError') {
    return new SoukError('upstream_invalid_response', `${where} does not respond in HTTP.`, options)
  }
  const lost = `The connection to ${inside(where)} was lost.`
  return wasSent
    ? new SoukError('upstream_unreachable', `${lost} It may have received the request.`, {
        ...options,
        members: { reason: CONNECTION_LOST }
      })
    : new SoukError('upstream_unreachable', lost, options)
}

/** The error of a call whose own signal aborted. */
export function interruption(signal: AbortSignal): SoukError {
  const reason: unknown = signal.reason
  return isSoukError(reason) ? reason : new SoukError('call_interrupted', undefined, { cause: reason })
}

/** The cause of an error for a redirect to another origin. Only the provider may see the address. */
export class RedirectedAway extends Error {
  override readonly name = 'RedirectedAway'
  readonly to: string

  constructor(to: string) {
    super(`redirects to ${to}`)
    this.to = to
  }
}
