import type { Atoms } from '../base/money.ts'
import type { Headers, Payload } from './payload.ts'

/** The protocols of a registered API, spelled as in the service specification, section 2.1. */
export const PROTOCOLS = ['REST', 'SOAP', 'GraphQL'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** A call as it reaches the owner's side, before it becomes one request to the provider's API. */
export interface AdapterRequest {
  /** HTTP method the consumer used. `POST` for a plain call. */
  readonly method: string
  /** What followed the API's name in the consumer's URL, query included: empty, or starting with `/` or `?`. */
  readonly path: string
  /** The consumer's request headers that may travel (content-type, accept, and what the listing allows). */
  readonly headers: Headers
  readonly body: Payload
  /** The most that it may cost: the listing's price. */
  readonly price?: Atoms
}

export interface AdapterReply {
  /** HTTP status for the consumer: the upstream's own. */
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  /** The call did what it is paid for (REST 2xx, SOAP non-fault, GraphQL with non-null data): only then is it charged. */
  readonly success: boolean
  /** Time until the upstream's response head, in milliseconds. */
  readonly upstreamMs: number
  /** What this call costs, where that is less than the listing's price. Default: the listing's price. */
  readonly price?: Atoms
}

/** One operation of an API, as published in its manifest. */
export interface Operation {
  /** What a consumer names it by; unique within the listing. */
  readonly name: string
  readonly description?: string
  /** JSON Schemas (draft 2020-12) of what goes in and out, where known. */
  readonly input?: JsonSchema
  readonly output?: JsonSchema
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/** What an adapter knows of its API; goes into the manifest as it is. */
export interface ApiDescription {
  readonly operations: readonly Operation[]
  /** GraphQL only: the schema in SDL. */
  readonly sdl?: string
}

/**
 * Owner-side code that turns a call into one request to the provider's API.
 *
 * `call` throws a SoukError (`invalid_request`, `operation_not_found`, `upstream_unreachable`, `upstream_timeout`,
 * `upstream_invalid_response`, `response_too_large`, `soap_fault`, `unsupported_media_type`, `request_too_large`,
 * `method_not_allowed`) when there is no answer of the upstream's to pass on; such a call is never charged. An upstream's
 * own 4xx and 5xx are replies, not errors, with `success: false`.
 *
 * When `signal` aborts, the upstream request is given up and `call` rejects, or the streamed body ends with an error.
 * The contract is held by `test/suites/adapter.ts`.
 */
export interface Adapter {
  readonly protocol: Protocol
  readonly description: ApiDescription
  /**
   * Requests besides the plain POST that belong to the protocol itself, and so are let in whatever the listing forwards.
   * Default: none.
   */
  takes?(method: string, path: string): boolean
  call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply>
  /** Lets go of connections. Calls in flight are ended by their own signals before this. */
  close?(): Promise<void>
}

/** What a provider registers an upstream with. */
export interface UpstreamConfig {
  /** REST: base URL. SOAP: URL of the WSDL. GraphQL: URL of the endpoint. `http:` or `https:`, no credentials in it. */
  readonly endpoint: string
  /** Limit of one upstream request, milliseconds. Default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`. */
  readonly timeoutMs?: number
  /** REST only: the method used upstream for a plain POST call. Default `POST`. */
  readonly method?: 'GET' | 'POST'
  readonly graphql?: GraphqlTerms
}

/** What a provider sets for a GraphQL API: what may be asked for, and what it costs. All of it is optional. */
export interface GraphqlTerms {
  /** Where subscriptions are opened: `ws:` and `wss:` by graphql-ws, `http:` and `https:` by SSE. Default: the endpoint. */
  readonly subscriptions?: string
  /** Events that one opening pays for; the stream then completes. Default: as many as come. */
  readonly eventsMax?: number
  /** `Type` and `Type.field`: neither shown to consumers nor taken from them. */
  readonly hidden?: readonly string[]
  /** Consumers may ask for the schema, and the listing publishes it. Default true. */
  readonly introspection?: boolean
  /** Of one document. Defaults `GRAPHQL_TOKENS_MAX`, `GRAPHQL_DEPTH_MAX`, `GRAPHQL_ALIASES_MAX`; no limit to the cost. */
  readonly tokensMax?: number
  readonly depthMax?: number
  readonly aliasesMax?: number
  readonly costMax?: number
  /** What a field costs, by `Type.field`. Default: 1 for one that has fields of its own, 0 for any other. */
  readonly costs?: Readonly<Record<string, number>>
  /** Decimal USDC for each unit of cost; the listing's price is then the most that one call costs. */
  readonly unitPrice?: string
  /** Decimal USDC on top of the units, of any call. Default 0. */
  readonly basePrice?: string
  /** Trusted documents by id: they can be called by that alone. */
  readonly documents?: Readonly<Record<string, string>>
  /** Nothing but trusted documents is run. Default false. */
  readonly documentsOnly?: boolean
}

/** What reading the upstream at registration found. `snapshot` is kept, so that a restart needs no upstream. */
export interface Inspection {
  readonly description: ApiDescription
  /** The adapter's own compact text (a WSDL, an SDL, or nothing), given back to `open`. */
  readonly snapshot: string
  /** Worth telling the provider, e.g. an operation that had to be left out and why. */
  readonly warnings: readonly string[]
}

/** Something about a provider's mapping that does not fit. */
export interface MappingProblem {
  /** JSON Pointer (RFC 6901) into the mapping. */
  readonly at: string
  /** What is wrong, and what would be right. */
  readonly problem: string
}

/** What a provider may change about the JSON of an API: a document, kept in the API's snapshot. */
export interface MappingSupport {
  /** JSON Schema (draft 2020-12) of such a document. */
  readonly schema: JsonSchema
  /** The one in a snapshot; one that changes nothing where there is none. */
  of(snapshot: string): unknown
  /** What about a document does not fit the API; empty when all does. */
  check(snapshot: string, document: unknown): readonly MappingProblem[]
  /** The API with another one. @throws SoukError `invalid_request`, with the `problems` */
  with(snapshot: string, document: unknown): Inspection
}

/** One protocol: how its upstreams are checked at registration and opened for calls. */
export interface AdapterFactory {
  readonly protocol: Protocol
  /**
   * Reaches the endpoint for real and reads what it is.
   * @throws SoukError `invalid_request` (not such an API, with what to do about it), `upstream_unreachable`,
   *   `upstream_timeout`, `upstream_invalid_response`, `response_too_large`.
   */
  inspect(config: UpstreamConfig, signal: AbortSignal): Promise<Inspection>
  /** Needs no network. */
  open(config: UpstreamConfig, snapshot: string): Adapter
  /** Absent where a provider cannot change the JSON. */
  readonly mapping?: MappingSupport
}
