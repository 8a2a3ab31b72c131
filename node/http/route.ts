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
 * One route of an HTTP surface, as it is declared. The registration with the server, the input validation, the reference page, the
 * OpenAPI document and the typed clients are made from it. `ZodNever` stands for a part that the route does not take.
 */
export interface RouteDeclaration<
  M extends Method = Method,
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType
> {
  readonly method: M
  /** As Fastify writes it, below the prefix of the surface: `/keys/:id`. */
  readonly path: P
  readonly summary: string
  readonly query?: Q
  readonly body?: B
  /** Of a successful response. Absent: there is no body. */
  readonly response?: R
  /** Of a successful response. Default: 200, or 204 without a body. */
  readonly status?: number
  /** Other successful responses, by status. */
  readonly otherResponses?: Readonly<Record<number, z.ZodType>>
  /** Of a successful response. Default `application/json`. */
  readonly mediaType?: string
}

export function statusOf({ status, response }: RouteDeclaration): number {
  return status ?? (response === undefined ? 204 : 200)
}

/** What a client sends to a route, and what it gets back. */
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

/** A surface as its clients see it: exchanges by `METHOD /path`. */
export type SurfaceOf<D extends RouteDeclaration> = {
  readonly [Each in D as `${Each['method']} ${Each['path']}`]: ExchangeOf<Each>
}

type Surface<S> = { readonly [Route in keyof S]: Exchange }

/** A part of a request: it may be left out where nothing in it is required, and is not there where the route takes none. */
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
