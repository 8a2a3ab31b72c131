import type { IncomingMessage } from 'node:http'
import { limits, SoukError } from '../../../lib/index.ts'
import type { Clock, Random, Timer } from '../../../lib/interface/index.ts'

const PARAMETER = 'ticket'
const TICKET_BYTES = 32

export interface TicketsInit {
  readonly clock: Clock
  readonly random: Random
}

interface Ticket {
  readonly key: string
  readonly holder: string
  readonly timer: Timer
}

/**
 * One-use tickets that stand for a key in the URL of one event stream. A browser's `EventSource` sends no headers, and a key in a
 * URL would get into histories and logs.
 */
export class Tickets {
  readonly #init: TicketsInit
  readonly #issued = new Map<string, Ticket>()
  /** Unused tickets by payer: an account, or a key without one. */
  readonly #unused = new Map<string, number>()

  constructor(init: TicketsInit) {
    this.#init = init
  }

  /**
   * @param holder account of the key, or the key's id: all keys of an account share its tickets
   * @throws SoukError `overloaded`, `rate_limited`
   */
  issue(key: string, holder: string): string {
    const { clock, random } = this.#init
    const own = this.#unused.get(holder) ?? 0
    if (own >= limits.TICKETS_PER_HOLDER_MAX) {
      const detail = `At most ${limits.TICKETS_PER_HOLDER_MAX} tickets may be unused. Use them, or wait until they expire.`
      throw new SoukError('rate_limited', detail, { retryAfterMs: limits.TICKET_MS })
    }
    if (this.#issued.size >= limits.TICKETS_MAX) {
      throw new SoukError('overloaded', 'Too many tickets are unused.', { retryAfterMs: limits.TICKET_MS })
    }
    const ticket = Buffer.from(random.fill(new Uint8Array(TICKET_BYTES))).toString('base64url')
    this.#unused.set(holder, own + 1)
    const timer = clock.after(limits.TICKET_MS, () => this.#end(ticket))
    this.#issued.set(ticket, { key, holder, timer })
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
    const key = this.#issued.get(ticket)?.key
    if (key === undefined) {
      throw new SoukError('key_invalid', 'The ticket was used or has expired. Get another at POST /v1/tickets.')
    }
    this.#end(ticket)
    headers['x-consumer-key'] = key
    const left = pairs.filter((pair) => pair !== given)
    req.url = url.slice(0, mark) + (left.length === 0 ? '' : `?${left.join('&')}`)
  }

  #end(name: string): void {
    const ticket = this.#issued.get(name)
    if (ticket === undefined) return
    ticket.timer.cancel()
    this.#issued.delete(name)
    const left = (this.#unused.get(ticket.holder) ?? 1) - 1
    if (left > 0) this.#unused.set(ticket.holder, left)
    else this.#unused.delete(ticket.holder)
  }
}
