import { SoukError } from '../../lib/base/errors.ts'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits.ts'
import type {
  Adapter,
  AdapterReply,
  AdapterRequest,
  ApiDescription,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import type { Headers, Payload } from '../../lib/interface/payload.ts'
import { headerOf, isJsonType, jsonText, parseJson, wholeBody } from '../json.ts'
import type { UpstreamResponse } from '../upstream-answer.ts'
import { type UpstreamRequest, createUpstream } from '../upstream.ts'
import { queryOf } from './query.ts'

/** Fields of a REST API are its own affair: any JSON object goes through. */
export const REST_DESCRIPTION: ApiDescription = {
  operations: [
    {
      name: 'call',
      description: 'Sends a JSON object to the API and returns its answer.',
      input: { type: 'object', additionalProperties: true }
    }
  ]
}

/** @throws SoukError `invalid_request` for an endpoint, time limit or method that cannot be used. */
export function restAdapter(config: UpstreamConfig): Adapter {
  const { method = 'POST' } = config
  if (method !== 'GET' && method !== 'POST') throw new SoukError('invalid_request', 'The method must be GET or POST.')
  const upstream = createUpstream({ ...config, shownAs: 'The API' })
  return {
    protocol: 'REST',
    description: REST_DESCRIPTION,
    async call(request, signal) {
      const isPlain = request.method === 'POST' && request.path === ''
      const sent = isPlain ? await plain(request, method, signal) : await forwarded(request, signal)
      return reply(await upstream.request(sent), sent.method)
    },
    close: () => upstream.close()
  }
}

/** A plain call: one JSON document, checked here, since the consumer pays for what the upstream makes of it. */
async function plain(request: AdapterRequest, method: 'GET' | 'POST', signal: AbortSignal): Promise<UpstreamRequest> {
  const body = await wholeBody(request.body)
  const text = jsonText(body, headerOf(request.headers, 'content-type'))
  const headers = accepting(request.headers.filter(([name]) => name !== 'content-type'))
  if (method === 'GET') return { method, path: queryOf(text), headers, signal }
  parseJson(text)
  return { method, headers: [...headers, ['content-type', 'application/json']], body, signal }
}

/** Another method or a sub-path, which reach an adapter only where the listing allows them: passed on as they are. */
async function forwarded(request: AdapterRequest, signal: AbortSignal): Promise<UpstreamRequest> {
  const { method, path, headers, body } = request
  if (method !== 'GET' && method !== 'HEAD') return { method, path, headers: accepting(headers), body, signal }
  // Content has no meaning in a GET (RFC 9110 §9.3.1), and some servers refuse it.
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
  return { method, path, headers: accepting(headers.filter(([name]) => name !== 'content-type')), signal }
}

function accepting(headers: Headers): Headers {
  return headerOf(headers, 'accept') === undefined ? [...headers, ['accept', 'application/json']] : headers
}

async function reply(response: UpstreamResponse, method: string): Promise<AdapterReply> {
  const { status, headers, upstreamMs } = response
  if (status === 402) {
    // Passed on, it would ask the consumer to pay somebody else for a call that Souk has priced.
    response.discard()
    throw new SoukError('upstream_invalid_response', 'The API behind this listing asks for a payment of its own.', {
      source: 'upstream'
    })
  }
  const body = await bodyOf(response, method)
  return { status, headers, body, success: status >= 200 && status < 300, upstreamMs }
}

/**
 * What is small and complete is held, so that it rides inline and can be repeated; events, what is large and what has no
 * announced length pass as they arrive. JSON without a length is waited for: half of it is of no use to anybody.
 */
async function bodyOf(response: UpstreamResponse, method: string): Promise<Payload> {
  const { contentLength } = response
  const isSmall = contentLength !== undefined && contentLength <= INLINE_BODY_BYTES_MAX
  const isJson = contentLength === undefined && isJsonType(headerOf(response.headers, 'content-type'))
  const hasNone = method === 'HEAD' || response.status === 204 || response.status === 304
  return isSmall || isJson || hasNone ? response.payload(INLINE_BODY_BYTES_MAX) : response.body
}
