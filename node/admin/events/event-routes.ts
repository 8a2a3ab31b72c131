import { limits, SoukError } from '../../../lib/index.ts'
import { isWanted, isWish, type SoukEvent } from '../../events/event-types.ts'
import { callLine, type EndedCall } from '../../events/watch-calls.ts'
import { route } from '../route.ts'
import { eventsSchema, tailItemSchema } from './webhook-api.ts'

/** Events of this node. `Last-Event-ID` returns missed events that are still in memory. */
export const eventRoutes = [
  route({
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events. `types` selects types (`listing.*,key.revoked`); the default is all. `calls=1` adds each call when it ends, ' +
      '`recent=1` also the most recent calls. `Last-Event-ID` returns missed events.',
    query: eventsSchema,
    response: tailItemSchema,
    mediaType: 'text/event-stream; charset=utf-8',
    handler({ events, calls, clock, readers }, { query, request, reply }) {
      const types = (query.types ?? '').split(',').filter((name) => name !== '')
      const unknown = types.find((name) => !isWish(name))
      if (unknown !== undefined)
        throw new SoukError(
          'invalid_request',
          `Unknown event type "${unknown.slice(0, 80)}". Use a type such as key.revoked, or a group such as listing.*.`
        )
      const res = reply.raw
      readers.add(res, clock)
      reply.hijack()
      res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
      // This comment line tells the client that it misses no event from now on.
      res.write(':\n\n')
      const write = (text: string) => {
        // `close` of the readers ended the response because the node stops. Data already written still arrives.
        if (res.writableEnded) return
        if (res.writableLength > limits.ADMIN_BODY_BYTES_MAX) res.destroy()
        else res.write(text)
      }
      const tell = (event: SoukEvent) => {
        if (isWanted(event.type, types))
          write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      }
      const tellCall = (call: EndedCall) =>
        write(`event: call\ndata: ${JSON.stringify({ type: 'call', ...callLine(call) })}\n\n`)
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
