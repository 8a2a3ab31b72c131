import type { IncomingMessage } from 'node:http'
import { isLoopback } from './loopback.ts'

/**
 * The network of a client: an IPv4 address, or the first 64 bits of an IPv6 address, because one household has a whole /64. Behind a
 * trusted proxy, the proxy’s header decides. Undefined for local programs, and for a proxy that does not name its client. Limits per host
 * do not apply then.
 */
export function clientHost(req: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string | undefined {
  if (!trustProxy) return isLocal(req.socket.remoteAddress) ? undefined : networkOf(req.socket.remoteAddress ?? '')
  const forwarded = forwardedFor(req)
  return forwarded === undefined ? undefined : networkOf(forwarded)
}

/** Like `clientHost`, but also returns an address for local programs. */
export function clientNetwork(req: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const forwarded = trustProxy ? forwardedFor(req) : undefined
  return networkOf(forwarded ?? req.socket.remoteAddress ?? '')
}

/** Some proxies append the port of the client, which changes with each connection. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([\da-f:.]+)\](?::\d+)?)$/i

/** The proxy appends its client’s address. The client itself may have sent the earlier ones. */
function forwardedFor({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const last = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim()
  if (last === undefined || last === '') return undefined
  const [, ipv4, ipv6] = WITH_PORT.exec(last) ?? []
  return ipv4 ?? ipv6 ?? last
}

/** Whether an address is a loopback address. */
export function isLocal(address: string | undefined): boolean {
  return address === undefined || isLoopback(address)
}

/** For IPv6, the first 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}
