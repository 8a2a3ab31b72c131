import type { SoukError } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { ChargeRule } from './charge-rule.ts'
import type { Headers, Payload } from './payload.ts'

/**
 * The protocol of the API: `REST`, `SOAP` or `GraphQL` in the service specification, section 2.1. Only the owner
 * interprets it. Consumers call every API in the same way.
 */
export type Protocol = string

/** The memory of the owner's node that one call may use. All calls share it, so bytes are counted before they are kept. */
export interface CallMemory {
  /**
   * Counts `bytes` more of the request's body.
   * @throws SoukError `overloaded`: the call was not accepted
   */
  take(bytes: number): void
  /**
   * Counts `bytes` more of the response, once they fit: a promise, if other calls have to end before.
   * @throws the reason of `signal`
   */
  wait(bytes: number, signal: AbortSignal): Promise<void> | undefined
}

/** A call at the owner, before it becomes one request to the provider's API. */
export interface AdapterRequest {
  /** HTTP method of the consumer. `POST` for a plain call. */
  readonly method: string
  /** The rest of the consumer's URL after the API's name, query included: empty, or starting with `/` or `?`. */
  readonly path: string
  /** The consumer's request headers that may be forwarded: content-type, accept, and those the listing allows. */
  readonly headers: Headers
  readonly body: Payload
  /** For an adapter that keeps a body whole. Absent: bodies are limited one by one. */
  readonly memory?: CallMemory
  /** Id of the call: the 16 bytes of a UUID version 7. A call that is sent again keeps it. */
  readonly requestId?: Uint8Array
  /** The listing's price, which is the most the call may cost. */
  readonly price?: Atoms
  /** Each event of a stream has a price. A streamed response must be split into events and come with `events`. */
  readonly perEvent?: true
}

/** A streamed body whose events are paid one by one. Each chunk is one event, or lies between two events. */
export interface EventFrames {
  /** False for chunks that cost nothing, such as a comment. */
  isEvent(chunk: Uint8Array): boolean
  /** Last chunk of a stream that ends because it is not paid any further. */
  ended(reason: SoukError): Uint8Array
}

export interface AdapterReply {
  /** HTTP status for the consumer: the upstream's own. */
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  /** The call succeeded (REST 2xx, SOAP without fault, GraphQL with non-null data). Only then is it charged. False with a status from 400 on: consumers dispute such a charge. */
  readonly success: boolean
  /** Milliseconds until the upstream's response head. */
  readonly upstreamMs: number
  /** Price of this call, where lower than the listing's. Default: the listing's price. */
  readonly price?: Atoms
  /** Why it is charged. Default: `cost` with a `price`, else `stream-open` for a stream of events, else `success`. */
  readonly rule?: ChargeRule
  readonly events?: EventFrames
}

/** One operation of an API, as published. */
export interface Operation {
  /** Name for consumers; unique within the listing. */
  readonly name: string
  readonly description?: string
  /** JSON Schemas (draft 2020-12) of input and output, where known. */
  readonly input?: JsonSchema
  readonly output?: JsonSchema
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/** An adapter's description of its API, of any size. */
export interface ApiDescription {
  readonly operations: readonly Operation[]
  /**
   * Schemas that operations share, by name. A schema without `$defs` of that name refers to one as `#/$defs/<name>`, and
   * so may definitions. Absent: every schema is complete in itself.
   */
  readonly definitions?: Readonly<Record<string, JsonSchema>>
  /** GraphQL only: the schema in SDL. */
  readonly sdl?: string
  /** Additional request headers of a consumer that are forwarded to the API, in lower case. */
  readonly requestHeaders?: readonly string[]
}

/**
 * Owner-side code that turns a call into one request to the provider's API.
 *
 * `call` throws a SoukError (`invalid_request`, `operation_not_found`, `upstream_unreachable`, `upstream_timeout`,
 * `upstream_invalid_response`, `response_too_large`, `soap_fault`, `unsupported_media_type`, `request_too_large`,
 * `method_not_allowed`) when there is no upstream response to return. Such a call is never charged. An upstream's own
 * 4xx and 5xx responses are replies with `success: false`, not errors.
 *
 * When `signal` aborts, the adapter cancels the upstream request. Then `call` rejects, or the streamed body ends with
 * an error. `test/suites/adapter.ts` tests this contract.
 *
 * @example
 * ```ts
 * import { createNode, utf8 } from 'souk'
 * import type { Adapter } from 'souk/interface'
 *
 * const greeter: Adapter = {
 *   protocol: 'REST',
 *   description: { operations: [{ name: 'greet' }] },
 *   call: async () => ({ status: 200, headers: [], body: utf8('"hello"'), success: true, upstreamMs: 0 })
 * }
 * const node = await createNode()
 * await node.start()
 * await node.souk.serve({ name: 'greeter', price: '0' }, greeter)
 * const reply = await node.souk.call({ api: 'greeter', body: {} })
 * console.log(await reply.json()) // hello
 * await node.stop()
 * ```
 */
export interface Adapter {
  readonly protocol: Protocol
  /** Read once each time the API is published. A promise, where another process makes it of a large document. */
  readonly description: ApiDescription | Promise<ApiDescription>
  /** Rules of the description or the provider that calls are not checked against: sentences for the provider. Calls may add some. */
  readonly warnings?: readonly string[]
  /**
   * Whether a request other than the plain POST belongs to the protocol itself. Such requests are accepted whatever the
   * listing forwards. Default: none.
   */
  takes?(method: string, path: string, headers: Headers): boolean
  call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply>
  /**
   * Checks the upstream's health, where the upstream offers a way. @throws SoukError like `call`, when it is unhealthy
   */
  probe?(signal: AbortSignal): Promise<void>
  /**
   * Watches the API's own description, where it can be read again. `onUpdate` receives the snapshot of a changed
   * description. An adapter reads the description again before it rejects a call because of it, at a limited rate.
   * @param looks - also read it now
   */
  follow?(onUpdate: (snapshot: string) => void, looks: boolean): void
  /** Closes connections. Calls in flight have been ended by their own signals before. */
  close?(): Promise<void>
}

/** Upstream methods that a plain call can be sent with. */
export const UPSTREAM_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type UpstreamMethod = (typeof UPSTREAM_METHODS)[number]

/**
 * A node's credentials at a provider's API. They stay at the owner: never in a manifest, log, error or response. Set at
 * most one of `basic`, `bearer` and `oauth2`.
 */
export interface UpstreamAuth {
  /** Sent with every request, for example API keys. They replace a consumer's headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query parameters, with the same rule. */
  readonly query?: Readonly<Record<string, string>>
  readonly basic?: { readonly username: string; readonly password: string }
  readonly bearer?: string
  readonly oauth2?: ClientCredentials
  /** SOAP only: WS-Security UsernameToken in every envelope, with a plain-text password (default) or a digest. */
  readonly usernameToken?: { readonly username: string; readonly password: string; readonly digest?: boolean }
  /**
   * SOAP only: header blocks in every envelope, in the form of a call's `$headers`. A plain name applies to operations
   * that declare such a block; `{namespace}name` applies to all. Consumers neither see nor send them.
   */
  readonly soapHeaders?: Readonly<Record<string, unknown>>
  /** Client certificate (mTLS), and the trusted CAs of the server, all PEM. Requires an `https:` endpoint. */
  readonly tls?: {
    readonly cert?: string
    readonly key?: string
    readonly passphrase?: string
    readonly ca?: string
  }
}

/** OAuth 2.0 client credentials (RFC 6749 §4.4). The node requests tokens and renews them before they expire. */
export interface ClientCredentials {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  /** Audience parameter, which some servers require. */
  readonly audience?: string
  /** Sends the client credentials by HTTP basic authentication or in the body. Default `basic`. */
  readonly sendAs?: 'basic' | 'body'
}

/** Blocks upstream addresses that no host name may resolve to: the node's own ports and its chain endpoint. */
export interface UpstreamGuard {
  /** @param host - as in the URL. @param address - one of its resolved addresses, in the form of `node:net`. */
  refuses(host: string, address: string, port: number): boolean
}

/** A provider's registration of an upstream. */
export interface UpstreamConfig {
  /**
   * REST: base URL. SOAP: URL of the WSDL or the service. GraphQL: endpoint URL. `http:` or `https:`, without
   * credentials.
   */
  readonly endpoint: string
  /**
   * Time limit of one upstream request, milliseconds. Default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`.
   */
  readonly timeoutMs?: number
  /** Concurrent requests; further ones get `overloaded`. Default and maximum `IN_FLIGHT_PER_API_MAX`. */
  readonly inFlightMax?: number
  /** A request may be sent again when its response was lost. Default false. */
  readonly idempotent?: boolean
  /** Secrets. They must be stored encrypted, even where the rest is stored in clear text. */
  readonly auth?: UpstreamAuth
  /** Set by the node when it opens the upstream. Not part of the registration. */
  readonly guard?: UpstreamGuard
  /** REST only: the upstream method of a plain POST call. Default `POST`. */
  readonly method?: UpstreamMethod
  /** REST only: a call may set method, path, query, headers and body itself, below the endpoint. Default false. */
  readonly explicit?: boolean
  /** REST only: an OpenAPI document. Calls then name its operations. */
  readonly openapi?: OpenapiSource
  /**
   * REST only: further origins (`https://host[:port]`) of operations that the document places elsewhere. They get the credentials
   * too.
   */
  readonly servers?: readonly string[]
  /** REST only: names of cookies that operations of the document may send. */
  readonly requestCookies?: readonly string[]
  /** REST only: for clients that accept no stream, server-sent events are collected until `maxEvents` or `maxMs`. */
  readonly collect?: { readonly maxEvents: number; readonly maxMs: number }
  /** REST only: additional headers to forward to the API, and back to the consumer. */
  readonly requestHeaders?: readonly string[]
  readonly responseHeaders?: readonly string[]
  /** REST only: path below the endpoint that returns 2xx to a GET while the API is healthy. */
  readonly healthPath?: string
  /** SOAP only. Default: the WSDL is read from the endpoint, with imports from its origin only. */
  readonly wsdl?: WsdlSource
  readonly graphql?: GraphqlTerms
}

/**
 * Source of an OpenAPI document. Files that it refers to are read from the origin of its URL, or from the zip, which is base64.
 * `entry` is the path of the document in the zip. Default: the only one in the outermost folder.
 */
export type OpenapiSource =
  | { readonly url: string }
  | { readonly text: string }
  | { readonly zip: string; readonly entry?: string | undefined }

/**
 * Source of a SOAP API's WSDL, where it is not read from the endpoint alone. Contents are base64, so that each file
 * keeps its declared charset.
 */
export interface WsdlSource {
  /** The WSDL and its imports by path, with `/` between folders. The endpoint is then the service address. */
  readonly files?: Readonly<Record<string, string>>
  /** The same files as a zip. Set at most one of `files` and `zip`. */
  readonly zip?: string
  /** Path of the main WSDL. Default: the one with a service that no other file imports. */
  readonly entry?: string
  /** Further origins that imports may be read from, without the endpoint's credentials: `https://host[:port]`. */
  readonly origins?: readonly string[]
  /** The API may be published although documents that the WSDL imports are missing. Default false. */
  readonly incomplete?: boolean
}

/** A provider's optional settings for a GraphQL API: allowed documents and their cost. */
export interface GraphqlTerms {
  /**
   * Endpoint for subscriptions: `ws:` and `wss:` use graphql-ws, `http:` and `https:` use SSE. Default: the endpoint.
   */
  readonly subscriptions?: string
  /** The schema, in SDL or an introspection response, for an API without introspection. Default: introspection. */
  readonly schema?: string
  /** Events that one opening call pays for; the stream then completes. Default: unlimited. */
  readonly eventsMax?: number
  /** `Type` and `Type.field` names that are hidden from consumers and rejected in their documents. */
  readonly hidden?: readonly string[]
  /** Consumers may run introspection queries, and the listing publishes the schema. Default true. */
  readonly introspection?: boolean
  /**
   * Limits of one document. Defaults: `GRAPHQL_TOKENS_MAX`, `GRAPHQL_DEPTH_MAX`, `GRAPHQL_ALIASES_MAX`, and no cost
   * limit.
   */
  readonly tokensMax?: number
  readonly depthMax?: number
  readonly aliasesMax?: number
  readonly costMax?: number
  /** Cost by `Type.field`. Default: 1 for a field that has fields of its own, 0 for any other. */
  readonly costs?: Readonly<Record<string, number>>
  /** Decimal USDC per unit of cost. The listing's price is then the most that one call costs. */
  readonly unitPrice?: string
  /** Decimal USDC that every call costs in addition to its units. Default 0. */
  readonly basePrice?: string
  /** Trusted documents by id. A call may send the id alone. */
  readonly documents?: Readonly<Record<string, string>>
  /** Accepts trusted documents only. Default false. */
  readonly documentsOnly?: boolean
}

/** Title, text and addresses that a description gives its API, to prefill a registration. */
export interface DescribedApi {
  readonly title?: string
  readonly description?: string
  /** Base addresses, the main one first. Nothing is sent to one that the provider did not register. */
  readonly servers: readonly string[]
}

/** The result of reading the upstream at registration. `snapshot` is stored, so that a restart needs no upstream. */
export interface Inspection {
  readonly description: ApiDescription
  /** The adapter's own compact text (WSDL, SDL, or empty), passed back to `open`. */
  readonly snapshot: string
  /** Messages for the provider, for example an operation that had to be left out, and why. */
  readonly warnings: readonly string[]
  /** The warnings that name a document which the description imports and which could not be read. */
  readonly missing?: readonly string[]
  /** Absent if the description gives none. */
  readonly about?: DescribedApi
}

/** A mismatch between a provider's mapping and the API. */
export interface MappingProblem {
  /** JSON Pointer (RFC 6901) into the mapping. */
  readonly at: string
  /** The mismatch, and how to fix it. */
  readonly problem: string
}

/** A provider's changes to an API's JSON form: a document stored in the API's snapshot. */
export interface MappingSupport {
  /** JSON Schema (draft 2020-12) of the document. */
  readonly schema: JsonSchema
  /** The document in a snapshot. Without one: a document that changes nothing. */
  of(snapshot: string): unknown
  /** Mismatches between a document and the API; empty when there are none. */
  check(snapshot: string, document: unknown): Promise<readonly MappingProblem[]>
  /**
   * The API with a new document.
   * @param isKept - the API had this document before. Patterns that this version does not match are then left unchecked
   * @throws SoukError `invalid_request`, with the `problems`
   */
  with(snapshot: string, document: unknown, isKept?: boolean): Promise<Inspection>
}

/** One protocol: it inspects upstreams at registration and opens them for calls. */
export interface AdapterFactory {
  readonly protocol: Protocol
  /**
   * Connects to the endpoint and reads its description.
   * @throws SoukError `invalid_request` (not such an API, with a suggested fix), `upstream_unreachable`,
   *   `upstream_timeout`, `upstream_invalid_response`, `response_too_large`.
   */
  inspect(config: UpstreamConfig, signal: AbortSignal): Promise<Inspection>
  /**
   * Converts a snapshot of an earlier version to this version's form; returns the same text where nothing changed. Call
   * it before `open` with a stored snapshot. Needs no network. Absent where snapshots never need conversion.
   * @throws SoukError `invalid_request`, `description_too_complex`
   */
  renewed?(snapshot: string): Promise<string>
  /**
   * Needs no network.
   * @param description - of the inspection that made the snapshot. Without it, the adapter makes it of the snapshot again
   */
  open(config: UpstreamConfig, snapshot: string, description?: ApiDescription): Adapter
  /** Absent where a provider cannot change the JSON. */
  readonly mapping?: MappingSupport
}
