import type { IncomingMessage } from 'node:http'

/** What a Host header can be: a name, an address, and a port. Nothing that would end a quoted string, a shell word or a tag. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * Where this ingress was reached, without a `/` at the end: `https://api.example`. It is told to nobody but whoever sent it, so that a
 * proxy's word needs no trust; what is no host is not repeated.
 */
export function publicUrl({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  const isTls = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https'
  const host = headers.host ?? ''
  return `${isTls ? 'https' : 'http'}://${HOST.test(host) ? host : 'localhost'}`
}
