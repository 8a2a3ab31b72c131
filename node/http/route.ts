import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** Parameters in a path: `{ id: string }` for `/keys/:id`. */
export type ParamsOf<P extends string> = string extends P
  ? Readonly<Record<string, string>>
  : { readonly [Name in ParamNames<P>]: string }

/**
 * The declaration of one HTTP route. The server, the input validation, the reference page, the OpenAPI document and the typed clients all
 * derive from it. `ZodNever` marks a part that the route does not take.
 */
export interface RouteDeclaration<
  M extends Method = Method,
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType
> {
  readonly method: M
  /** In Fastify’s syntax, below the prefix of the surface: `/keys/:id`. */
  readonly path: P
  readonly summary: string
  readonly query?: Q
  readonly body?: B
  /** Body of a successful response. Absent: no body. */
  readonly response?: R
  /** Status of a successful response. Default: 200, or 204 without a body. */
  readonly status?: number
  /** Other successful responses, by status. */
  readonly otherResponses?: Readonly<Record<number, z.ZodType>>
  /** Media type of a successful response. Default `application/json`. */
  readonly mediaType?: string
}

/** A request after validation, as handlers get it. */
export interface RouteRequest<P extends string, Q, B> {
  readonly params: ParamsOf<P>
  readonly query: Q
  readonly body: B
  /** Aborts if the client disconnects before its response is complete. */
  readonly signal: AbortSignal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export function statusOf({ status, response }: RouteDeclaration): number {
  return status ?? (response === undefined ? 204 : 200)
}

/** The input of a route and its response. */
interface Exchange {
  readonly params: object
  readonly query: unknown
  readonly body: unknown
  readonly response: unknown
}

type ExchangeOf<D> =
  D extends RouteDeclaration<Method, infer P, infer Q, infer B, infer R>
    ? {
        readonly params: ParamsOf<P>
        readonly query: z.input<Q>
        readonly body: z.input<B>
        readonly response: z.output<R>
      }
    : never

/** The routes of a surface as typed clients see them, by `METHOD /path`. */
export type SurfaceOf<D extends RouteDeclaration> = {
  readonly [Each in D as `${Each['method']} ${Each['path']}`]: ExchangeOf<Each>
}

type Surface<S> = { readonly [Route in keyof S]: Exchange }

/** A part of a request: optional if none of its members is required, absent if the route takes none. */
type Part<Name extends string, T> = [T] extends [never]
  ? unknown
  : [object] extends [T]
    ? { readonly [N in Name]?: T }
    : undefined extends T
      ? { readonly [N in Name]?: T }
      : { readonly [N in Name]: T }

type RequestOf<E extends Exchange> = (keyof E['params'] extends never ? unknown : Part<'params', E['params']>) &
  Part<'query', E['query']> &
  Part<'body', E['body']> & { readonly signal?: AbortSignal }

/** The arguments of a request after the name of its route. */
type Rest<E extends Exchange> = object extends RequestOf<E> ? [input?: RequestOf<E>] : [input: RequestOf<E>]

/** Sends a request to a route by its name, such as `GET /keys/:id`, and resolves to the JSON of the response. */
export type SendRequest<S extends Surface<S>> = <Name extends keyof S & string>(
  route: Name,
  ...rest: Rest<S[Name]>
) => Promise<S[Name]['response']>
