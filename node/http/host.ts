import type { IncomingMessage } from 'node:http'

/**
 * The network that a request comes from: an IPv4 address, or the first 64 bits of an IPv6 address, as one home has 2⁶⁴ of those.
 * Behind a trusted proxy it is what the proxy says. Undefined where it tells clients apart from nobody: for programs of this machine, and for
 * a proxy that does not say for whom it speaks. Limits of each host do not apply then.
 */
export function clientHost(req: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string | undefined {
  if (!trustProxy) return isLocal(req.socket.remoteAddress) ? undefined : networkOf(req.socket.remoteAddress ?? '')
  const forwarded = forwardedFor(req)
  return forwarded === undefined ? undefined : networkOf(forwarded)
}

/** The address of a client, as `clientHost`; of programs of this machine as well. */
export function clientNetwork(req: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const forwarded = trustProxy ? forwardedFor(req) : undefined
  return networkOf(forwarded ?? req.socket.remoteAddress ?? '')
}

/** A proxy adds whom it speaks for at the end; what stands before it is the client's own word. */
function forwardedFor({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const last = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim()
  return last === '' ? undefined : last
}

/** Whether an address is of this machine alone. */
export function isLocal(address: string | undefined): boolean {
  return address === undefined || address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/** Of IPv6, the first 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}
