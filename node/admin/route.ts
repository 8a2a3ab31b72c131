import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Souk } from '../../lib/interface/index.ts'
import type { Metrics } from '../events/metrics.ts'
import type { Series } from '../events/series.ts'
import { type Method, type ParamsOf, type RouteDeclaration, type RouteRequest, statusOf } from '../http/route.ts'
import { whileConnected } from '../http/while-connected.ts'
import type { AgentService } from '../mcp/on-demand.ts'
import type { AdminInit } from './admin-init.ts'
import type { EventReaders } from './events/event-readers.ts'
import { parse } from './problems.ts'

export const ADMIN_PREFIX = '/admin/v1'

/** Dependencies of the handlers. */
export interface AdminContext extends AdminInit {
  /** Makes a call that the console and `souk tail` show. */
  readonly call: Souk['call']
  readonly agents: () => Promise<AgentService>
  readonly metrics: Metrics
  readonly readers: EventReaders
  readonly series: Series
  /** The OpenAPI document of this surface. */
  readonly openapi: () => object
}

/** A route of the admin API. Every route requires the token or a session, except where `guard.ts` says otherwise. */
export interface AdminRoute<
  M extends Method = Method,
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType
> extends RouteDeclaration<M, P, Q, B, R> {
  /** The member `body` is the body of a call. Its numbers keep their digits. */
  readonly hasCallBody?: boolean
  /** Default `ADMIN_BODY_BYTES_MAX`. */
  readonly bodyBytesMax?: number
  /** Resolves to the JSON of the response, or to `reply` if the handler wrote the response itself. */
  handler(
    context: AdminContext,
    request: RouteRequest<P, z.output<Q>, z.output<B>>
  ): z.output<R> | FastifyReply | Promise<z.output<R> | FastifyReply>
}

/** Declares a route and infers its types. */
export function route<
  const M extends Method,
  const P extends string,
  Q extends z.ZodType = z.ZodNever,
  B extends z.ZodType = z.ZodNever,
  R extends z.ZodType = z.ZodVoid
>(declaration: AdminRoute<M, P, Q, B, R>): AdminRoute<M, P, Q, B, R> {
  return declaration
}

export function addRoutes(app: FastifyInstance, routes: readonly AdminRoute[], context: AdminContext): void {
  for (const each of routes) {
    const { method, path, bodyBytesMax, hasCallBody = false, mediaType, response } = each
    app.route({
      method,
      url: ADMIN_PREFIX + path,
      config: { hasCallBody },
      ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
      async handler(request, reply) {
        const input = inputOf(each, request, reply)
        reply.code(statusOf(each))
        if (mediaType !== undefined) reply.type(mediaType)
        const result = await each.handler(context, input)
        return response === undefined ? reply.send() : result
      }
    })
  }
}

/** @throws SoukError `invalid_request` */
function inputOf({ query, body }: AdminRoute, request: FastifyRequest, reply: FastifyReply) {
  return {
    params: request.params as ParamsOf<string>,
    query: query === undefined ? undefined : parse(query, request.query),
    body: body === undefined ? undefined : parse(body, request.body),
    get signal() {
      return whileConnected(reply.raw)
    },
    request,
    reply
  }
}
