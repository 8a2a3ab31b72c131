import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { SoukError } from '../../lib/index.ts'
import { type Method, type ParamsOf, type RouteDeclaration, type RouteRequest, statusOf } from '../http/route.ts'
import { whileConnected } from '../http/while-connected.ts'
import type { OpenRequests } from './open-requests.ts'
import { accountOf, type Caller, managedAccountOf, readBody, type RequestParts } from './account-request.ts'
import { invalidText } from '../../protocols/invalid-text.ts'

/** A route of the ingress, as documents describe it. */
export interface IngressDeclaration<
  M extends Method = Method,
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType
> extends RouteDeclaration<M, P, Q, B, R> {
  /** Request headers that the route reads, by name. */
  readonly headers?: Readonly<Record<string, z.ZodType>>
  /** The route takes a key in `X-Consumer-Key`. */
  readonly needsKey?: boolean
  /** Schema of a JSON body that the handler reads itself. */
  readonly rawBody?: z.ZodType
}

type Auth = 'account' | 'manager' | undefined

/** A request whose key and input are valid. */
export interface IngressRequest<P extends string, Q, B, A extends Auth> extends RouteRequest<P, Q, B> {
  readonly caller: A extends string ? Caller : undefined
}

export interface IngressRoute<
  C,
  M extends Method = Method,
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  A extends Auth = Auth
> extends IngressDeclaration<M, P, Q, B, R> {
  /** Which keys the route accepts. If absent, the route is open, or its handler checks the key. */
  readonly auth?: A
  /** May refuse a request before its key and input are checked. */
  admit?(context: C, request: FastifyRequest): void
  /** Resolves to the JSON of the response, or to the reply if the handler wrote the response itself. */
  handler(
    context: C,
    request: IngressRequest<P, z.output<Q>, z.output<B>, A>
  ): z.output<R> | FastifyReply | Promise<z.output<R> | FastifyReply>
}

/** Declares routes whose handlers use `C`. TypeScript infers the other types from each declaration. */
export function routesWith<C>() {
  return <
    const M extends Method,
    const P extends string,
    Q extends z.ZodType = z.ZodNever,
    B extends z.ZodType = z.ZodNever,
    R extends z.ZodType = z.ZodVoid,
    A extends Auth = undefined
  >(
    declaration: IngressRoute<C, M, P, Q, B, R, A>
  ): IngressRoute<C, M, P, Q, B, R, A> => declaration
}

export function needsKey(route: IngressDeclaration & { readonly auth?: Auth }): boolean {
  return route.needsKey === true || route.auth !== undefined
}

/**
 * @param context - of the handlers; includes what checks keys and reads bodies, for routes that need it
 * @param open - limits requests to routes without a key. Default: unlimited
 */
export function addRoutes<C>(
  app: FastifyInstance,
  routes: ReadonlyArray<IngressRoute<C>>,
  context: C,
  open?: Pick<OpenRequests, 'enter'>
): void {
  for (const each of routes) {
    const { method, path, mediaType } = each
    app.route({
      method,
      url: path,
      async handler(request, reply) {
        if (needsKey(each)) reply.header('cache-control', 'no-store')
        else open?.enter(request, reply)
        each.admit?.(context, request)
        const input = await inputOf(each, context, request, reply)
        reply.code(statusOf(each))
        if (mediaType !== undefined) reply.type(mediaType)
        return each.handler(context, input)
      }
    })
  }
}

async function inputOf<C>(
  { auth, query, body }: IngressRoute<C>,
  context: C,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<IngressRequest<string, unknown, unknown, Auth>> {
  // The table of routes declares what a route needs, and the server provides it.
  const parts = context as unknown as RequestParts
  const callerOf = auth === 'manager' ? managedAccountOf : accountOf
  const caller = auth === undefined ? undefined : await callerOf(parts, request)
  return {
    params: request.params as ParamsOf<string>,
    query: query === undefined ? undefined : readQuery(query, request),
    body: body === undefined ? undefined : await readBody(parts, request, body),
    // Never read: a route without `auth` declares that it has no caller.
    caller: caller as Caller,
    get signal() {
      return whileConnected(reply.raw)
    },
    request,
    reply
  }
}

/** The first value of a repeated name counts. @throws SoukError `invalid_request` */
function readQuery(schema: z.ZodType, { raw }: FastifyRequest): unknown {
  const given: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(raw.url?.split('?')[1] ?? '')) given[name] ??= value
  const result = schema.safeParse(given, { error: invalidText })
  if (result.success) return result.data
  throw new SoukError('invalid_request', result.error.issues[0]?.message)
}
