import type { SoukError } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { ChargeRule } from './charge-rule.ts'
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
  /** Events of a stream have a price each: a streamed answer is to be cut into them, and to come with `events`. */
  readonly perEvent?: true
}

/** A streamed body whose events can be paid for one by one: each of its chunks is one event, or stands between two of them. */
export interface EventFrames {
  /** False for what costs nothing, such as a comment. */
  isEvent(chunk: Uint8Array): boolean
  /** The end of a stream that is paid for no further, as its reader is told. */
  ended(reason: SoukError): Uint8Array
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
  /** By what rule it is charged. Default: `cost` with a `price`, else `stream-open` for a stream of events, else `success`. */
  readonly rule?: ChargeRule
  readonly events?: EventFrames
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
  /** Headers of a consumer's request that go to the API beside those that always do, in lower case. */
  readonly requestHeaders?: readonly string[]
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
  /** Asks the upstream whether it is well, where it says how. @throws SoukError as `call`, where it is not */
  probe?(signal: AbortSignal): Promise<void>
  /**
   * Has the API's own description followed, where it can be read again: `onNews` is told the snapshot of a description that differs
   * from the one it was opened with. An adapter reads it again before it refuses a call by it, and at most now and then.
   * @param looks - also now
   */
  follow?(onNews: (snapshot: string) => void, looks: boolean): void
  /** Lets go of connections. Calls in flight are ended by their own signals before this. */
  close?(): Promise<void>
}

/** Methods of a provider's API that a plain call can become. */
export const UPSTREAM_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type UpstreamMethod = (typeof UPSTREAM_METHODS)[number]

/**
 * How a node proves itself to a provider's API. Kept at the owner only: never in a manifest, a log, an error or an answer.
 * Of `basic`, `bearer` and `oauth2` at most one.
 */
export interface UpstreamAuth {
  /** Sent with every request, in place of what a consumer sent under the same name: API keys in headers, too. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query parameters, in the same way: API keys in the query. */
  readonly query?: Readonly<Record<string, string>>
  readonly basic?: { readonly username: string; readonly password: string }
  readonly bearer?: string
  readonly oauth2?: ClientCredentials
  /** SOAP only: WS-Security's UsernameToken in every envelope, the password as text (default) or as a digest. */
  readonly usernameToken?: { readonly username: string; readonly password: string; readonly digest?: boolean }
  /**
   * SOAP only: header blocks in every envelope, as `$headers` of a call has them. By their plain names for operations that declare
   * such a block, by `{namespace}name` for all. Consumers neither see nor send them.
   */
  readonly soapHeaders?: Readonly<Record<string, unknown>>
  /** A client certificate (mTLS), and the authorities its server is believed by, both PEM. Needs an `https:` endpoint. */
  readonly tls?: {
    readonly cert?: string
    readonly key?: string
    readonly passphrase?: string
    readonly ca?: string
  }
}

/** OAuth 2.0 client credentials (RFC 6749 §4.4): the node gets tokens with them, and renews these in time. */
export interface ClientCredentials {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  /** Some servers want to know what the token is for. */
  readonly audience?: string
  /** How the client says who it is: by HTTP basic authentication or in the body. Default `basic`. */
  readonly sendAs?: 'basic' | 'body'
}

/** Says which addresses an upstream may never be, whatever its name resolves to: the node's own ports, its chain. */
export interface UpstreamGuard {
  /** @param host - as the URL has it. @param address - one of those it stands for, as `node:net` writes them. */
  refuses(host: string, address: string, port: number): boolean
}

/** What a provider registers an upstream with. */
export interface UpstreamConfig {
  /** REST: base URL. SOAP: URL of the WSDL, or of the service. GraphQL: URL of the endpoint. `http:` or `https:`, no credentials in it. */
  readonly endpoint: string
  /** Limit of one upstream request, milliseconds. Default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`. */
  readonly timeoutMs?: number
  /** Requests under way at once; one more is `overloaded`. Default and most `IN_FLIGHT_PER_API_MAX`. */
  readonly inFlightMax?: number
  /** A request may be sent again where its answer did not come. Default false. */
  readonly idempotent?: boolean
  /** Secrets: whoever keeps the rest in the clear keeps these encrypted. */
  readonly auth?: UpstreamAuth
  /** Given by the node that opens it; no part of what is registered. */
  readonly guard?: UpstreamGuard
  /** REST only: the method used upstream for a plain POST call. Default `POST`. */
  readonly method?: UpstreamMethod
  /** REST only: a call may say method, path, query, headers and body itself, below the endpoint. Default false. */
  readonly explicit?: boolean
  /** REST only: an OpenAPI document, as text or by its URL; calls name its operations. */
  readonly openapi?: { readonly url: string } | { readonly text: string }
  /** REST only: server-sent events are collected up to so many, or so long, for clients that do not take a stream. */
  readonly collect?: { readonly maxEvents: number; readonly maxMs: number }
  /** REST only: further headers that may go up and come down. */
  readonly requestHeaders?: readonly string[]
  readonly responseHeaders?: readonly string[]
  /** REST only: path below the endpoint that answers a GET with 2xx as long as the API is well. */
  readonly healthPath?: string
  /** SOAP only. Default: the WSDL is what the endpoint answers, and imports from that origin only. */
  readonly wsdl?: WsdlSource
  readonly graphql?: GraphqlTerms
}

/**
 * How the WSDL of a SOAP API gets in, where it is not read from the endpoint alone. Contents are base64, so that each file keeps
 * the charset that it declares.
 */
export interface WsdlSource {
  /** The WSDL with what it imports, by path, `/` between folders. The endpoint is then the address of the service. */
  readonly files?: Readonly<Record<string, string>>
  /** The same as a zip; of the two, one at most. */
  readonly zip?: string
  /** Path of the WSDL among them. Default: the one with a service that no other one imports. */
  readonly entry?: string
  /** Origins that imports may be read from besides the endpoint's own, without its credentials: `https://host[:port]`. */
  readonly origins?: readonly string[]
}

/** What a provider sets for a GraphQL API: what may be asked for, and what it costs. All of it is optional. */
export interface GraphqlTerms {
  /** Where subscriptions are opened: `ws:` and `wss:` by graphql-ws, `http:` and `https:` by SSE. Default: the endpoint. */
  readonly subscriptions?: string
  /** The schema in SDL, of an API that does not tell it by introspection. Default: the API is asked. */
  readonly schema?: string
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
  check(snapshot: string, document: unknown): Promise<readonly MappingProblem[]>
  /** The API with another one. @throws SoukError `invalid_request`, with the `problems` */
  with(snapshot: string, document: unknown): Promise<Inspection>
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
  /**
   * A snapshot that an earlier version took, as this version takes it; the same text where it has not changed. To call before `open`
   * with a snapshot that was kept. Needs no network. Absent where snapshots stay as they are.
   * @throws SoukError `invalid_request`, `description_too_complex`
   */
  renewed?(snapshot: string): Promise<string>
  /** Needs no network. */
  open(config: UpstreamConfig, snapshot: string): Adapter
  /** Absent where a provider cannot change the JSON. */
  readonly mapping?: MappingSupport
}
