import type { IncomingMessage } from 'node:http'

/** Valid Host headers: a name or an address, and a port. Excludes all characters that end a quoted string, a shell word or a tag. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * The base URL that the client used, without a trailing `/`: `https://api.example`. Only the sender sees it, so the proxy’s header needs no
 * trust. An invalid host is not echoed.
 */
export function publicUrl({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  const isTls = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https'
  const host = headers.host ?? ''
  return `${isTls ? 'https' : 'http'}://${HOST.test(host) ? host : 'localhost'}`
}
