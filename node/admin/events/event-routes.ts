import { limits, SoukError } from '../../../lib/index.ts'
import { isWanted, isWish, type SoukEvent } from '../../events/event-types.ts'
import type { CallLine } from '../../events/watch-calls.ts'
import { route } from '../route.ts'
import { eventsSchema, tailItemSchema } from './webhook-api.ts'

/** What happens here, as server-sent events. `Last-Event-ID` gets what was missed, as far as it is still known. */
export const eventRoutes = [
  route({
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: those that `types` names (`listing.*,key.revoked`) or all. `calls=1` adds each call as it ends, `recent=1` ' +
      'those that ended last. `Last-Event-ID` gets what was missed.',
    query: eventsSchema,
    response: tailItemSchema,
    mediaType: 'text/event-stream; charset=utf-8',
    handler({ events, calls, clock, readers }, { query, request, reply }) {
      const types = (query.types ?? '').split(',').filter((name) => name !== '')
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
      if (query.calls === '1') {
        if (query.recent === '1') calls.last().forEach(tellCall)
        ends.push(calls.listen(tellCall))
      }
      res.once('close', () => ends.forEach((end) => end()))
      return reply
    }
  })
] as const

function missed(last: readonly SoukEvent[], id: string | string[] | undefined): readonly SoukEvent[] {
  const at = last.findIndex((event) => event.id === id)
  return at === -1 ? [] : last.slice(at + 1)
}
