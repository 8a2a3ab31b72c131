import type { IncomingMessage } from 'node:http'
import { limits, SoukError } from '../../../lib/index.ts'
import type { Clock, Random } from '../../../lib/interface/index.ts'

const PARAMETER = 'ticket'
const TICKET_BYTES = 32

export interface TicketsInit {
  readonly clock: Clock
  readonly random: Random
}

/**
 * One-use tickets that stand for a key in the URL of one event stream. A browser's `EventSource` sends no headers, and a key in a
 * URL would get into histories and logs.
 */
export class Tickets {
  readonly #init: TicketsInit
  readonly #keys = new Map<string, string>()

  constructor(init: TicketsInit) {
    this.#init = init
  }

  /** @throws SoukError `overloaded` */
  issue(key: string): string {
    const { clock, random } = this.#init
    if (this.#keys.size >= limits.TICKETS_MAX) {
      throw new SoukError('overloaded', 'Too many tickets are unused.', { retryAfterMs: limits.TICKET_MS })
    }
    const ticket = Buffer.from(random.fill(new Uint8Array(TICKET_BYTES))).toString('base64url')
    this.#keys.set(ticket, key)
    clock.after(limits.TICKET_MS, () => this.#keys.delete(ticket))
    return ticket
  }

  /**
   * Replaces the ticket in the URL of an event stream with its key. Other requests stay as they are.
   * @throws SoukError `key_invalid` for a ticket that was used or has expired
   */
  redeem(req: IncomingMessage): void {
    const { method, url = '', headers } = req
    const mark = url.indexOf('?')
    const isStream = method === 'GET' && /\btext\/event-stream\b/i.test(headers.accept ?? '')
    if (mark === -1 || !isStream || headers['x-consumer-key'] !== undefined) return
    const pairs = url.slice(mark + 1).split('&')
    const given = pairs.find((pair) => pair.startsWith(`${PARAMETER}=`))
    if (given === undefined) return
    const ticket = given.slice(PARAMETER.length + 1)
    const key = this.#keys.get(ticket)
    if (key === undefined) {
      throw new SoukError('key_invalid', 'The ticket was used or has expired. Get another at POST /v1/tickets.')
    }
    this.#keys.delete(ticket)
    headers['x-consumer-key'] = key
    const left = pairs.filter((pair) => pair !== given)
    req.url = url.slice(0, mark) + (left.length === 0 ? '' : `?${left.join('&')}`)
  }
}
