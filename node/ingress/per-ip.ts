import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { limits, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

export interface PerIpInit {
  readonly clock: Clock
  /** Of one host in `windowMs`. */
  readonly max: number
  readonly windowMs: number
  /** The proxy in front of this node says who the client is. */
  readonly trustProxy: boolean
}

interface Window {
  readonly startedAt: number
  count: number
}

/** Counts what hosts do that have no key yet. */
export class PerIp {
  readonly #init: PerIpInit
  readonly #windows = new LRUCache<string, Window>({ max: limits.HOSTS_COUNTED_MAX })

  constructor(init: PerIpInit) {
    this.#init = init
  }

  /** @throws SoukError `rate_limited` */
  count(req: IncomingMessage): void {
    const { clock, max, windowMs, trustProxy } = this.#init
    const host = networkOf(hostOf(req, trustProxy))
    const now = clock.elapsed()
    const known = this.#windows.get(host)
    const window = known !== undefined && now - known.startedAt < windowMs ? known : { startedAt: now, count: 0 }
    if (window.count >= max) {
      const retryAfterMs = window.startedAt + windowMs - now
      throw new SoukError('rate_limited', 'Too many of these from your address.', { retryAfterMs })
    }
    window.count++
    this.#windows.set(host, window)
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
