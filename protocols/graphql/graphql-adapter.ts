import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits.ts'
import type { Adapter, AdapterReply, AdapterRequest, UpstreamConfig } from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { headerOf, isJsonType, jsonText, wholeBody } from '../json.ts'
import { type UpstreamResponse, createUpstream } from '../upstream.ts'
import { GraphqlRefusal, gotten, posted } from './graphql-request.ts'
import { responseIn } from './graphql-response.ts'
import { describeSdl } from './graphql-schema.ts'

/** The media type of "GraphQL over HTTP", under which a status says whether the request was one. */
const RESPONSE_TYPE = 'application/graphql-response+json'
/** What an endpoint is asked for; older servers only know the second. */
export const GRAPHQL_ACCEPT = `${RESPONSE_TYPE}, application/json;q=0.9`

/**
 * @param snapshot - the SDL that `inspect` read.
 * @throws SoukError `invalid_request` for an endpoint or time limit that cannot be used.
 */
export function graphqlAdapter(config: UpstreamConfig, snapshot: string): Adapter {
  const upstream = createUpstream({ ...config, shownAs: 'The API' })
  return {
    protocol: 'GraphQL',
    description: describeSdl(snapshot).description,
    async call(request, signal) {
      try {
        const body = await bodyFor(request)
        return await reply(
          await upstream.request({ method: 'POST', headers: headersFor(request.headers), body, signal })
        )
      } catch (error) {
        if (error instanceof GraphqlRefusal) return refused(error, headerOf(request.headers, 'accept'))
        throw error
      }
    },
    close: () => upstream.close()
  }
}

async function bodyFor({ method, path, headers, body }: AdapterRequest): Promise<Uint8Array> {
  if (path !== '' && !(method === 'GET' && path.startsWith('?'))) {
    throw new SoukError('operation_not_found', 'A GraphQL API has no paths of its own.')
  }
  if (method === 'POST') return posted(jsonText(await wholeBody(body), headerOf(headers, 'content-type')))
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
  if (method === 'GET') return gotten(path)
  throw new SoukError('method_not_allowed', 'A GraphQL API is called by POST, or by GET for a query.')
}

/** What goes up is one JSON document and comes back as one, whatever the consumer's own HTTP client asked for. */
function headersFor(headers: Headers): Headers {
  const rest = headers.filter(([name]) => name !== 'content-type' && name !== 'accept' && name !== 'last-event-id')
  return [...rest, ['content-type', 'application/json'], ['accept', GRAPHQL_ACCEPT]]
}

async function reply(response: UpstreamResponse): Promise<AdapterReply> {
  const { status, headers, upstreamMs } = response
  if (status === 402) {
    response.discard()
    throw invalid('The API behind this listing asks for a payment of its own.')
  }
  const body = await response.bytes(RESPONSE_BYTES_MAX)
  // The upstream's own refusals are passed on as they are, from a gateway in front of it as well.
  if (status >= 400) return { status, headers, body, success: false, upstreamMs }
  const graphql = status < 300 ? responseIn(body) : undefined
  if (graphql === undefined) throw invalid('The API behind this listing did not answer in GraphQL.')
  return { status, headers: typed(headers), body, success: graphql.data != null, upstreamMs }
}

function invalid(detail: string): SoukError {
  return new SoukError('upstream_invalid_response', detail, { source: 'upstream' })
}

/** The body was seen to be JSON: a server that calls it something else is corrected. */
function typed(headers: Headers): Headers {
  if (isJsonType(headerOf(headers, 'content-type'))) return headers
  return [...headers.filter(([name]) => name !== 'content-type'), ['content-type', 'application/json']]
}

function refused(refusal: GraphqlRefusal, accept = ''): AdapterReply {
  const type = accept.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json'
  const headers: Headers = [['content-type', `${type}; charset=utf-8`], ...(refusal.status === 405 ? ALLOW : [])]
  return { status: refusal.status, headers, body: refusal.body, success: false, upstreamMs: 0 }
}

const ALLOW: Headers = [['allow', 'POST']]
