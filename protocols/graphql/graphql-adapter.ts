import { type GraphQLSchema, OperationTypeNode, execute } from 'graphql'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits.ts'
import { type Atoms, formatUsdc } from '../../lib/base/money.ts'
import type {
  Adapter,
  AdapterReply,
  AdapterRequest,
  GraphqlTerms,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { headerOf, isJsonType, jsonText, wholeBody } from '../json.ts'
import type { UpstreamResponse } from '../upstream/answer.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { type CheckedOperation, asksForSchema, createDocumentCheck } from './document-check.ts'
import { type Accepted, EVENT_STREAM, JSON_TYPE, RESPONSE_TYPE, acceptedIn, askedFor } from './graphql-accept.ts'
import { GraphqlRefusal, invalid } from './graphql-refusal.ts'
import { type GraphqlRequest, bodyOf, gotten, posted } from './graphql-request.ts'
import { type GraphqlResponse, responseIn } from './graphql-response.ts'
import { describeSchema } from './graphql-schema.ts'
import { pricingIn } from './graphql-terms.ts'
import { boundaryIn, incremental } from './incremental.ts'
import { readIntrospection } from './introspection.ts'
import { oneEvent } from './result-events.ts'
import { createSchemaSource } from './schema-source.ts'
import { EVENT_STREAM_HEADERS, createSubscriptions } from './subscriptions.ts'
import { type Upload, readUpload } from './upload.ts'

/** Whoever waits for a schema may leave; the next one has use for it all the same. */
const FOREVER = new AbortController().signal

/** A call as it was read, before its document was looked at. */
interface ReadCall {
  readonly request: GraphqlRequest
  readonly upload?: Upload
  readonly isGet: boolean
}

/**
 * @param snapshot - the SDL that `inspect` read; empty where there is none, and then the API alone checks documents.
 * @throws SoukError `invalid_request` for an endpoint, time limit or terms that cannot be used.
 */
export function graphqlAdapter(config: UpstreamConfig, snapshot: string): Adapter {
  const { graphql: terms = {} } = config
  const clock = systemClock
  const pricing = pricingIn(terms)
  const upstream = createUpstream({ ...config, shownAs: 'The API' })
  const { hidden = [], introspection = true } = terms
  const schemas = createSchemaSource({
    sdl: snapshot,
    hidden,
    clock,
    ...(terms.schema === undefined ? { read: () => readIntrospection(upstream, FOREVER) } : {})
  })
  const documents = createDocumentCheck(terms, schemas)
  const subscriptions = createSubscriptions(config, upstream, clock)

  /** @throws GraphqlRefusal where it is more than a call of this listing may cost */
  function priceOf({ cost }: CheckedOperation, most: Atoms | undefined): Pick<AdapterReply, 'price'> {
    if (pricing === undefined) return {}
    const price = pricing.base + pricing.unit * BigInt(cost)
    if (most === undefined || price <= most) return { price }
    const [asked, allowed] = [formatUsdc(price), formatUsdc(most)]
    throw invalid(`The operation costs ${asked} USDC; a call of this API costs ${allowed} at most.`, 'TOO_COSTLY')
  }

  /** What is hidden would show in the API's own answer. It costs nothing, as nobody was asked. */
  async function ownSchema({ document, node }: CheckedOperation, request: GraphqlRequest, accepted: Accepted) {
    const schema = schemas.current
    if (schema === undefined) throw new SoukError('internal_error')
    const variableValues = { ...request.variables }
    const result = await execute({
      schema,
      document: document.node,
      operationName: node.name?.value ?? null,
      variableValues
    })
    return framed({ status: 200, body: utf8(JSON.stringify(result)), success: false, upstreamMs: 0 }, accepted)
  }

  async function answer(call: ReadCall, incoming: AdapterRequest, accepted: Accepted, signal: AbortSignal) {
    const { request, upload } = call
    const operation = await documents.check(request, signal)
    const { document, node } = operation
    if (call.isGet && node.operation === OperationTypeNode.MUTATION) {
      throw new GraphqlRefusal('method', 'A mutation needs the method POST.')
    }
    const asked = hidden.length === 0 || !introspection ? 'no' : asksForSchema(operation)
    if (asked === 'beside') throw invalid('Ask for the schema in an operation of its own.')
    if (asked === 'alone') return ownSchema(operation, request, accepted)
    const price = priceOf(operation, incoming.price)
    const headers = headersFor(incoming.headers)
    const passed = withoutPersisted(request)
    if (node.operation === OperationTypeNode.SUBSCRIPTION) {
      if (!accepted.events) throw invalid(`A subscription is answered by events: send Accept: ${EVENT_STREAM}.`)
      const opened = await subscriptions.open({ query: document.text, request: passed, headers, signal })
      return { ...opened, ...price, rule: 'stream-open' as const }
    }
    const sent = upload === undefined ? undefined : await upload.encode(document.text)
    const response = await upstream.request({
      method: 'POST',
      headers: [
        ...headers,
        ['content-type', sent?.contentType ?? JSON_TYPE],
        ['accept', askedFor(accepted)],
        // By this Apollo's servers know that no form of a web page sent the files.
        ...(sent === undefined ? [] : [['apollo-require-preflight', 'true'] as const])
      ],
      body: sent?.body ?? bodyOf(document.text, passed),
      signal
    })
    return { ...(await replyOf(response, accepted)), ...price }
  }

  return {
    protocol: 'GraphQL',
    description: described(schemas.current, terms, snapshot),
    // Some clients name the operation in the URL of a POST, for logs.
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
    follow(onNews, looks) {
      schemas.onChange = onNews
      if (looks) void schemas.refresh()
    },
    async close() {
      schemas.onChange = undefined
      await subscriptions.close()
      await upstream.close()
    }
  }
}

function described(schema: GraphQLSchema | undefined, { hidden = [], introspection }: GraphqlTerms, sdl: string) {
  if (schema === undefined) return { operations: [] }
  return describeSchema(schema, introspection, hidden.length === 0 ? sdl : undefined).description
}

/** @throws SoukError, GraphqlRefusal */
async function readCall({ method, path, headers, body }: AdapterRequest): Promise<ReadCall> {
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
  const bytes = await wholeBody(body)
  if (contentType?.toLowerCase().startsWith('multipart/form-data') === true) {
    const upload = await readUpload(bytes, contentType)
    return { request: upload.request, upload, isGet: false }
  }
  return { request: posted(jsonText(bytes, contentType)), isGet: false }
}

/** What is said of the message itself is said anew: one document goes up, whatever the consumer's HTTP client sent. */
function headersFor(headers: Headers): Headers {
  return headers.filter(([name]) => name !== 'content-type' && name !== 'accept' && name !== 'last-event-id')
}

/** The text itself goes up: the API need not know of documents that were persisted here. */
function withoutPersisted(request: GraphqlRequest): GraphqlRequest {
  const { persistedQuery, ...extensions } = request.extensions
  if (persistedQuery === undefined) return request
  const rest = Object.keys(extensions).length === 0 ? undefined : JSON.stringify(extensions)
  return { ...request, extensions, written: { ...request.written, extensions: rest } }
}

async function replyOf(response: UpstreamResponse, accepted: Accepted): Promise<AdapterReply> {
  const { status, headers, upstreamMs } = response
  if (status === 402) {
    response.discard()
    throw unreadable('The API behind this listing asks for a payment of its own.')
  }
  const boundary = status < 300 && accepted.mixed !== undefined ? boundaryIn(headers) : undefined
  if (boundary !== undefined) {
    const { first, body } = await incremental(response.body, boundary)
    return { status, headers, body, success: first.data != null, upstreamMs, ...ruleFor(first) }
  }
  const body = await response.bytes(RESPONSE_BYTES_MAX)
  // The upstream's own refusals are passed on as they are, from a gateway in front of it as well.
  if (status >= 400) return { status, headers, body, success: false, upstreamMs }
  const graphql = status < 300 ? responseIn(body) : undefined
  if (graphql === undefined) throw unreadable('The API behind this listing did not answer in GraphQL.')
  return framed({ status, headers, body, success: graphql.data != null, upstreamMs, ...ruleFor(graphql) }, accepted)
}

/** Errors beside data change nothing about what is charged, but the receipt says that there were some. */
function ruleFor({ errors }: GraphqlResponse): Pick<AdapterReply, 'rule'> {
  return Array.isArray(errors) && errors.length > 0 ? { rule: 'partial-data' } : {}
}

function unreadable(detail: string): SoukError {
  return new SoukError('upstream_invalid_response', detail, { source: 'upstream' })
}

type Unframed = Omit<AdapterReply, 'headers' | 'body'> & { readonly headers?: Headers; readonly body: Uint8Array }

/** A response in the form that the consumer reads: events where nothing else will do, or one of the two JSON types. */
function framed({ headers = [], body, ...rest }: Unframed, { eventsOnly, json }: Accepted): AdapterReply {
  if (eventsOnly) return { ...rest, headers: EVENT_STREAM_HEADERS, body: oneEvent(text(body)) }
  const own = headerOf(headers, 'content-type')
  // The body was seen to be JSON. A server that calls it something else is corrected, and one that knows only the newer
  // type is understood by consumers that know only the older.
  const isRead = isJsonType(own) && !(json === JSON_TYPE && own?.toLowerCase().startsWith(RESPONSE_TYPE) === true)
  if (isRead) return { ...rest, headers, body }
  return { ...rest, headers: [...headers.filter(([name]) => name !== 'content-type'), ['content-type', json]], body }
}

/**
 * GraphQL over HTTP, "Status codes": a request that is well formed is answered 200 as `application/json`, whatever became of it,
 * and 400 as the newer type where it was not run.
 */
function refused({ kind, body }: GraphqlRefusal, accepted: Accepted): AdapterReply {
  const none = { success: false, upstreamMs: 0 }
  if (kind === 'invalid' && accepted.eventsOnly) return framed({ ...none, status: 200, body }, accepted)
  const status = kind === 'method' ? 405 : kind === 'invalid' && accepted.json === JSON_TYPE ? 200 : 400
  const headers: Headers = [
    ['content-type', `${accepted.json}; charset=utf-8`],
    ...(kind === 'method' ? [['allow', 'POST'] as const] : [])
  ]
  return { ...none, status, headers, body }
}
