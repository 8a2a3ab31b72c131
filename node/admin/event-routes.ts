import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { limits, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { isWanted, isWish, type SoukEvent } from '../events/event-types.ts'
import type { CallLine } from '../events/watch-calls.ts'
import type { AdminInit } from './admin-init.ts'

/** Who reads along. A reader who does not keep up is let go: what happens here waits for nobody. */
export class EventReaders {
  readonly #open = new Set<ServerResponse>()

  add(res: ServerResponse, clock: Clock): void {
    if (this.#open.size >= limits.EVENT_READERS_MAX) throw new SoukError('overloaded', 'Too many are reading along.')
    this.#open.add(res)
    const beat = () => {
      if (res.destroyed || res.writableEnded) return
      res.write(':\n\n')
      timer = clock.after(limits.EVENTS_HEARTBEAT_MS, beat)
    }
    let timer = clock.after(limits.EVENTS_HEARTBEAT_MS, beat)
    res.once('close', () => {
      timer.cancel()
      this.#open.delete(res)
    })
  }

  /** Ends all of them, as the node is about to. */
  close(): void {
    for (const res of this.#open) res.end()
  }
}

/**
 * `GET /events`: what happens here as server-sent events, those named by `types` (`listing.*`, with commas) or all; with `calls=1` also each
 * call as it ends, and with `recent=1` first those that ended last. `Last-Event-ID` gets what was missed, as far as it is still known.
 */
export function eventRoutes(app: FastifyInstance, { events, calls, clock }: AdminInit, readers: EventReaders): void {
  app.get('/events', (request, reply) => {
    const query = new URLSearchParams(request.raw.url?.split('?')[1] ?? '')
    const types = (query.get('types') ?? '').split(',').filter((name) => name !== '')
    const unknown = types.find((name) => !isWish(name))
    if (unknown !== undefined) throw new SoukError('invalid_request', `There is no event "${unknown.slice(0, 80)}".`)
    const res = reply.raw
    readers.add(res, clock)
    reply.hijack()
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    // Its reader knows by this that nothing is missed from now on.
    res.write(':\n\n')
    const write = (text: string) => {
      // The node stops: it was ended, and what it still has to read is on its way.
      if (res.writableEnded) return
      if (res.writableLength > limits.ADMIN_BODY_BYTES_MAX) res.destroy()
      else res.write(text)
    }
    const tell = (event: SoukEvent) => {
      if (isWanted(event.type, types))
        write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    const tellCall = (call: CallLine) => write(`event: call\ndata: ${JSON.stringify({ type: 'call', ...call })}\n\n`)
    for (const event of missed(events.feed.last(), request.headers['last-event-id'])) tell(event)
    const ends = [events.feed.listen(tell)]
    if (query.get('calls') === '1') {
      if (query.get('recent') === '1') calls.last().forEach(tellCall)
      ends.push(calls.listen(tellCall))
    }
    res.once('close', () => ends.forEach((end) => end()))
  })
}

function missed(last: readonly SoukEvent[], id: string | string[] | undefined): readonly SoukEvent[] {
  const at = last.findIndex((event) => event.id === id)
  return at === -1 ? [] : last.slice(at + 1)
}
