import type { IncomingMessage } from 'node:http'
import { limits, type RateLimit, RateLimiter, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

export interface PerIpInit {
  readonly clock: Clock
  /** Of one host in `windowMs`: at once, and then evenly. */
  readonly max: number
  readonly windowMs: number
  /** The proxy in front of this node says who the client is. */
  readonly trustProxy: boolean
}

/** Counts what hosts do that have no key yet. */
export class PerIp {
  readonly #limit: RateLimit
  readonly #rates: RateLimiter
  readonly #trustProxy: boolean

  constructor({ clock, max, windowMs, trustProxy }: PerIpInit) {
    this.#limit = { calls: max, perMs: windowMs }
    this.#rates = new RateLimiter(clock, limits.HOSTS_COUNTED_MAX)
    this.#trustProxy = trustProxy
  }

  /** @throws SoukError `rate_limited` */
  count(req: IncomingMessage): void {
    const host = networkOf(hostOf(req, this.#trustProxy))
    const { isWithin, resetMs: retryAfterMs } = this.#rates.take(host, this.#limit, host)
    if (!isWithin) throw new SoukError('rate_limited', 'Too many of these from your address.', { retryAfterMs })
  }
}

/** A proxy adds whom it speaks for at the end; what stands before it is the client's own word. */
function hostOf(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? req.headers['x-forwarded-for'] : undefined
  const last =
    String(forwarded ?? '')
      .split(',')
      .at(-1)
      ?.trim() ?? ''
  return last === '' ? (req.socket.remoteAddress ?? '') : last
}

/** Of IPv6, the network: one home has 2⁶⁴ addresses. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}
