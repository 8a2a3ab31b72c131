import { OperationTypeNode } from 'graphql'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import { type Atoms, formatUsdc } from '../../lib/base/money.ts'
import type {
  Adapter,
  ApiDescription,
  AdapterReply,
  AdapterRequest,
  CallMemory,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { headerOf, isJsonType, jsonText, wholeBody } from '../json.ts'
import type { UpstreamResponse } from '../upstream/response.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { type CheckedOperation, asksForSchema, createDocumentCheck } from './document-check.ts'
import { type Accepted, EVENT_STREAM, JSON_TYPE, MIXED, RESPONSE_TYPE, acceptedIn, askedFor } from './graphql-accept.ts'
import { GraphqlRefusal, invalid } from './graphql-refusal.ts'
import { type GraphqlRequest, bodyOf, gotten, posted } from './graphql-request.ts'
import { type ResponseOutline, outlineIn } from './graphql-response.ts'
import { pricingIn } from './graphql-terms.ts'
import { boundaryIn, incremental } from './incremental.ts'
import { ownIntrospection } from './introspection-worker.ts'
import { introspector } from './introspection.ts'
import { MULTIPART, type ResultFraming, SSE, oneEvent } from './result-events.ts'
import type { StoredSchema } from './schema-import.ts'
import { createSchemaSource } from './schema-source.ts'
import { createSubscriptions, streamHeaders } from './subscriptions.ts'
import { type Upload, readUpload } from './upload.ts'

/** A caller that leaves does not abort reading the schema, because the next caller needs it. */
const FOREVER = new AbortController().signal

const NOT_ACCEPTABLE = invalid(
  `The API has no response of the types in Accept. For @defer and @stream, send Accept: ${MIXED}, ${JSON_TYPE}.`
)

/** A parsed call whose document is not checked yet. */
interface ReadCall {
  readonly request: GraphqlRequest
  readonly upload?: Upload
  readonly isGet: boolean
}

/**
 * Creates the adapter of a GraphQL API.
 * @param snapshot the SDL that `inspect` read; if empty, only the API checks documents
 * @throws SoukError `invalid_request` for an invalid endpoint, time limit or terms.
 */
export function graphqlAdapter(config: UpstreamConfig, snapshot: string, description?: ApiDescription): Adapter {
  const { graphql: terms = {} } = config
  let made = description
  const clock = systemClock
  const pricing = pricingIn(terms)
  const upstream = createUpstream({ ...config, shownAs: 'The API' })
  const { hidden = [], introspection = true } = terms
  const introspect = introspector(upstream)
  const read = terms.schema === undefined ? { read: () => introspect(FOREVER) } : {}
  const schemas = createSchemaSource({ sdl: snapshot, hidden, clock, ...read })
  const documents = createDocumentCheck(terms, schemas)
  const subscriptions = createSubscriptions(config, upstream, clock)
  const introspected = ownIntrospection()

  /** @throws GraphqlRefusal if the price exceeds the listing's maximum */
  function priceOf({ cost }: CheckedOperation, most: Atoms | undefined): Pick<AdapterReply, 'price'> {
    if (pricing === undefined) return {}
    const price = pricing.base + pricing.unit * BigInt(cost)
    if (most === undefined || price <= most) return { price }
    const [asked, allowed] = [formatUsdc(price), formatUsdc(most)]
    throw invalid(
      `The operation costs ${asked} USDC; the maximum for a call of this API is ${allowed} USDC.`,
      'TOO_COSTLY'
    )
  }

  /**
   * Serves the schema here. The API's own response would show hidden parts, and an API whose schema is from a file may have none.
   * It is free: the API is not called.
   */
  async function ownSchema(query: string, request: GraphqlRequest, accepted: Accepted, signal: AbortSignal) {
    const { operationName, variables } = request
    const json = await introspected({ sdl: schemas.sdl, hidden, query, operationName, variables }, signal)
    return framed({ status: 200, body: utf8(json), success: false, upstreamMs: 0 }, accepted)
  }

  async function answer(call: ReadCall, incoming: AdapterRequest, accepted: Accepted, signal: AbortSignal) {
    const { request, upload } = call
    const operation = await documents.check(request, signal)
    const { document, node } = operation
    if (call.isGet && node.operation === OperationTypeNode.MUTATION) {
      throw new GraphqlRefusal('method', 'BAD_REQUEST', 'A mutation needs the method POST.')
    }
    const isOwn = introspection && (hidden.length > 0 || terms.schema !== undefined)
    const asked = isOwn ? asksForSchema(operation) : 'no'
    if (asked === 'alone') return ownSchema(document.text, request, accepted, signal)
    if (asked === 'beside' && hidden.length > 0) throw invalid('Request the schema in a separate operation.')
    const { memory } = incoming
    const price = priceOf(operation, incoming.price)
    const headers = headersFor(incoming.headers)
    const sendable = { query: document.text, request: withoutPersisted(request), headers, memory, signal }
    if (node.operation === OperationTypeNode.SUBSCRIPTION) {
      const opened = await subscriptions.open({ ...sendable, framing: framingFor(accepted) })
      return { ...opened, ...price, rule: 'stream-open' as const }
    }
    const sent = upload === undefined ? undefined : await upload.encode(document.text)
    const response = await upstream.request({
      method: 'POST',
      headers: [
        ...headers,
        ['content-type', sent?.contentType ?? JSON_TYPE],
        ['accept', askedFor(accepted)],
        // Apollo's servers require this header as proof that the upload is not from a web form.
        ...(sent === undefined ? [] : [['apollo-require-preflight', 'true'] as const])
      ],
      body: sent?.body ?? bodyOf(document.text, sendable.request),
      signal
    })
    return { ...(await replyOf(response, accepted, memory, signal)), ...price }
  }

  return {
    protocol: 'GraphQL',
    get description() {
      const known = made
      // Not kept, because it may be large and is read once.
      made = undefined
      return known ?? described({ sdl: snapshot, hidden, introspection })
    },
    // Some clients append the operation's name to the URL of a POST, for logs.
    takes: (method, path) => (method === 'GET' || method === 'POST') && (path === '' || path.startsWith('?')),
    async call(request, signal) {
      const accepted = acceptedIn(headerOf(request.headers, 'accept'))
      try {
        return await answer(await readCall(request), request, accepted, signal)
      } catch (error) {
        if (error instanceof GraphqlRefusal) return refused(error, accepted)
        throw error
      }
    },
    follow(onUpdate, looks) {
      schemas.onChange = onUpdate
      if (looks) void schemas.refresh()
    },
    async close() {
      schemas.onChange = undefined
      await subscriptions.close()
      await upstream.close()
    }
  }
}

/** @throws GraphqlRefusal */
function framingFor({ events, partedEvents }: Accepted): ResultFraming {
  if (partedEvents) return MULTIPART
  if (events) return SSE
  throw invalid(`A subscription responds with events. Send Accept: ${EVENT_STREAM}.`)
}

/** Made in the process that reads schemas: it may take long, and much memory. */
function described(stored: StoredSchema) {
  return stored.sdl === '' ? { operations: [] } : descriptionWorker.run('describeSchema', stored)
}

/** @throws SoukError, GraphqlRefusal */
async function readCall(call: AdapterRequest): Promise<ReadCall> {
  const { method, path, headers, body } = call
  if (path.startsWith('/')) {
    throw new SoukError('operation_not_found', 'A GraphQL API has no paths of its own.')
  }
  if (method === 'GET') {
    if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
    return { request: gotten(path), isGet: true }
  }
  if (method !== 'POST') {
    if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
    throw new SoukError('method_not_allowed', 'A GraphQL API is called by POST, or by GET for a query.')
  }
  const contentType = headerOf(headers, 'content-type')
  const bytes = await wholeBody(call)
  if (contentType?.toLowerCase().startsWith('multipart/form-data') === true) {
    const upload = await readUpload(bytes, contentType)
    return { request: upload.request, upload, isGet: false }
  }
  return { request: posted(jsonText(bytes, contentType)), isGet: false }
}

/** Drops headers about the message itself, because the upstream gets a newly written body. */
function headersFor(headers: Headers): Headers {
  return headers.filter(([name]) => name !== 'content-type' && name !== 'accept' && name !== 'last-event-id')
}

/** Sends the text itself, because the API may not know the documents that are persisted here. */
function withoutPersisted(request: GraphqlRequest): GraphqlRequest {
  const { persistedQuery, ...extensions } = request.extensions
  if (persistedQuery === undefined) return request
  const rest = Object.keys(extensions).length === 0 ? undefined : JSON.stringify(extensions)
  return { ...request, extensions, written: { ...request.written, extensions: rest } }
}

async function replyOf(
  response: UpstreamResponse,
  accepted: Accepted,
  memory: CallMemory | undefined,
  signal: AbortSignal
): Promise<AdapterReply> {
  const { status, headers, upstreamMs } = response
  const boundary = status < 300 && accepted.mixed !== undefined ? boundaryIn(headers) : undefined
  if (boundary !== undefined) {
    const { first, body } = await incremental(response.body, boundary, (bytes) => memory?.wait(bytes, signal))
    return { status, headers, body, success: first.hasData, upstreamMs, ...ruleFor(first) }
  }
  const body = await response.bytes(RESPONSE_BYTES_MAX, memory)
  // Yoga says no more about an operation that it runs only in parts.
  if (status === 406 && body.length === 0) {
    return framed({ status, headers, body: NOT_ACCEPTABLE.body, success: false, upstreamMs }, accepted)
  }
  // Other errors of the upstream, or of a gateway in front of it, are passed on unchanged.
  if (status >= 400) return { status, headers, body, success: false, upstreamMs }
  const graphql = status < 300 ? outlineIn(body) : undefined
  if (graphql === undefined) throw unreadable('The API behind this listing did not return a GraphQL response.')
  return framed({ status, headers, body, success: graphql.hasData, upstreamMs, ...ruleFor(graphql) }, accepted)
}

/** Partial data is charged in full; the receipt's rule shows that there were errors. */
function ruleFor({ hasErrors }: ResponseOutline): Pick<AdapterReply, 'rule'> {
  return hasErrors ? { rule: 'partial-data' } : {}
}

function unreadable(detail: string): SoukError {
  return new SoukError('upstream_invalid_response', detail, { source: 'upstream' })
}

type Unframed = Omit<AdapterReply, 'headers' | 'body'> & { readonly headers?: Headers; readonly body: Uint8Array }

/** Converts a response to the consumer's format: events if nothing else is accepted, or one of the two JSON types. */
function framed({ headers = [], body, ...rest }: Unframed, { eventsOnly, json }: Accepted): AdapterReply {
  if (eventsOnly) return { ...rest, headers: streamHeaders(SSE), body: oneEvent(text(body), SSE) }
  const own = headerOf(headers, 'content-type')
  // The body is JSON, so a wrong content type is corrected. The newer type is replaced for consumers that accept only the older
  // one.
  const isRead = isJsonType(own) && !(json === JSON_TYPE && own?.toLowerCase().startsWith(RESPONSE_TYPE) === true)
  if (isRead) return { ...rest, headers, body }
  return { ...rest, headers: [...headers.filter(([name]) => name !== 'content-type'), ['content-type', json]], body }
}

/**
 * GraphQL over HTTP, "Status codes": with `application/json`, a well-formed request gets 200 even if it was not run. With the
 * newer type it gets 400 if it was not run.
 */
function refused({ kind, body }: GraphqlRefusal, accepted: Accepted): AdapterReply {
  const none = { success: false, upstreamMs: 0 }
  if (kind === 'invalid' && accepted.eventsOnly) return framed({ ...none, status: 200, body }, accepted)
  const status = kind === 'method' ? 405 : kind === 'invalid' && accepted.json === JSON_TYPE ? 200 : 400
  const headers: Headers = [
    ['content-type', `${accepted.json}; charset=utf-8`],
    // The ingress marks other errors as the API's. The API cannot send this header: it passes none whose name begins with `souk-`.
    ...(status === 200 ? [] : [['souk-error-source', 'owner'] as const]),
    ...(kind === 'method' ? [['allow', 'POST'] as const] : [])
  ]
  return { ...none, status, headers, body }
}
