import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isProviderId } from '../../lib/index.ts'
import { CALL_METHODS, CALL_PATHS } from './call-routes.ts'
import { EventStreams } from './calls/event-streams.ts'
import type { CallRoute } from './calls/call-route.ts'
import { serveCall } from './calls/serve-call.ts'
import type { Tickets } from './calls/tickets.ts'
import { sendProblem } from './problem.ts'
import type { RequestContext } from './request-context.ts'
import type { Scopes } from '../names/scopes.ts'

export type ContextOf = (request: FastifyRequest, reply: FastifyReply) => RequestContext

type ScopeNames = Pick<Scopes, 'providerOf'> | undefined

function isResolved(scope: string, scopes: ScopeNames): boolean {
  return scope === 'demo' || isProviderId(scope) || scopes === undefined
}

/** Resolves a scope to a provider id where it names one. Returns undefined after sending an error response. */
async function scopeOf(context: RequestContext, scope: string, scopes: ScopeNames): Promise<string | undefined> {
  if (isResolved(scope, scopes)) return scope
  try {
    return (await scopes?.providerOf(scope)) ?? scope
  } catch (error) {
    sendProblem(context, error)
    return undefined
  }
}

/** Counts against the host, as an invalid key does. */
function refuseTicket({ unauthenticated }: CallRoute, context: RequestContext, error: unknown): void {
  try {
    unauthenticated.count(context.req)
    sendProblem(context, error)
  } catch (limited) {
    sendProblem(context, limited)
  }
}

function sendMethods({ res, headers }: RequestContext): void {
  res.writeHead(204, [...headers, 'Allow', CALL_METHODS.join(', ')]).end()
}

function notReached(): never {
  throw new Error('a call ends in its first hook')
}

/** Serves calls, which read their own bodies and write their own responses. */
export function addCallRoutes(
  app: FastifyInstance,
  {
    route,
    streams,
    tickets,
    contextOf,
    scopes
  }: { route: CallRoute; streams: EventStreams; tickets: Tickets; contextOf: ContextOf; scopes: ScopeNames }
): void {
  const serve = async (context: RequestContext, scope: string, name: string): Promise<void> => {
    const found = await scopeOf(context, scope, scopes)
    if (found === undefined) return
    if (EventStreams.mayServe(context.req) && (await streams.serve(context, found, name))) return
    await serveCall(route, context, found, name)
  }
  for (const url of CALL_PATHS) {
    app.route<{ Params: { scope: string; name: string } }>({
      method: [...CALL_METHODS],
      url,
      // A call runs in the first hook and never continues: Fastify has neither a body to parse nor a response to send.
      handler: notReached,
      onRequest(request, reply) {
        const context = contextOf(request, reply)
        const { name } = request.params
        // The methods of the ingress, not those of the API: its provider would have to be paid for the question.
        if (request.method === 'OPTIONS') return sendMethods(context)
        try {
          tickets.redeem(context.req)
        } catch (error) {
          refuseTicket(route, context, error)
          return
        }
        const { scope } = request.params
        // Most scopes need no lookup.
        const isPlain = !EventStreams.mayServe(context.req) && isResolved(scope, scopes)
        const serving = isPlain ? serveCall(route, context, scope, name) : serve(context, scope, name)
        serving.catch((error: unknown) => {
          context.log.error('a response could not be sent', { request_id: context.requestIdText, cause: error })
          context.res.destroy()
        })
      }
    })
  }
}
