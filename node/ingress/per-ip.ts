import type { IncomingMessage } from 'node:http'
import { limits, type RateLimit, RateLimiter, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { clientNetwork } from '../http/host.ts'

export interface PerIpInit {
  readonly clock: Clock
  /** Events allowed per host and `windowMs`. Up to `max` may come at once; the allowance then refills evenly. */
  readonly max: number
  readonly windowMs: number
  /** Trust the proxy’s header for the client’s address. */
  readonly trustProxy: boolean
}

/** Limits actions of unauthenticated hosts. */
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
    if (!isWithin)
      throw new SoukError('rate_limited', 'Too many such requests from your address. Wait and try again.', {
        notAccepted: true,
        retryAfterMs
      })
  }

  /** Takes back the last count. */
  giveBack(req: IncomingMessage): void {
    const host = clientNetwork(req, this.#trustProxy)
    this.#rates.giveBack(host, this.#limit, host)
  }
}
