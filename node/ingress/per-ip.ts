import type { IncomingMessage } from 'node:http'
import { limits, type RateLimit, RateLimiter, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { clientNetwork } from '../http/host.ts'

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
    const host = clientNetwork(req, this.#trustProxy)
    const { isWithin, resetMs: retryAfterMs } = this.#rates.take(host, this.#limit, host)
    if (!isWithin) throw new SoukError('rate_limited', 'Too many of these from your address.', { retryAfterMs })
  }

  /** What was counted last is not to count after all. */
  giveBack(req: IncomingMessage): void {
    const host = clientNetwork(req, this.#trustProxy)
    this.#rates.giveBack(host, this.#limit, host)
  }
}
