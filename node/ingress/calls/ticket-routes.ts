import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { routesWith } from '../route.ts'
import type { CallRoute } from './call-route.ts'
import { checkKey } from './serve-call.ts'
import type { Tickets } from './tickets.ts'

export interface TicketContext {
  readonly tickets: Tickets
  readonly calls: Pick<CallRoute, 'keys' | 'unauthenticated'>
}

const route = routesWith<TicketContext>()

export const ticketRoutes = [
  route({
    method: 'POST',
    path: '/v1/tickets',
    summary:
      'Makes a ticket that stands for the key in the URL of one event stream: `new EventSource("/api/demo/api/ticker?ticket=…")`. ' +
      `It works once, within ${limits.TICKET_MS / 1000} seconds.`,
    needsKey: true,
    status: 201,
    response: z.strictObject({ ticket: z.string(), expires_in_ms: z.int() }),
    async handler({ tickets, calls }, { request: { raw } }) {
      const key = raw.headers['x-consumer-key']
      const holder = await checkKey(calls.keys, key).catch((error: unknown) => {
        calls.unauthenticated.count(raw)
        throw error
      })
      return { ticket: tickets.issue(String(key), holder.account ?? holder.id), expires_in_ms: limits.TICKET_MS }
    }
  })
] as const
