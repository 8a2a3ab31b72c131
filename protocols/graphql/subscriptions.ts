import type { Clock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import type { AdapterReply, CallMemory, UpstreamConfig } from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { headerOf } from '../json.ts'
import { type Upstream, createUpstream } from '../upstream/upstream.ts'
import { parseEndpoint } from '../upstream/target.ts'
import { socketsTo } from '../upstream/websocket.ts'
import { EVENT_STREAM } from './graphql-accept.ts'
import { type GraphqlRequest, bodyOf } from './graphql-request.ts'
import { type ResultFraming, type Results, eventStream, oneEvent, opening } from './result-events.ts'
import { sseResults } from './sse-results.ts'
import { wsResults } from './ws-results.ts'

export function streamHeaders({ contentType }: ResultFraming): Headers {
  return [
    ['content-type', contentType],
    ['cache-control', 'no-cache']
  ]
}

export interface Subscriptions {
  /** @throws SoukError those of `Upstream.request` */
  open(opened: {
    readonly query: string
    readonly request: GraphqlRequest
    /** Forwardable headers, without `accept` and `content-type`. */
    readonly headers: Headers
    /** How the consumer gets the results. */
    readonly framing: ResultFraming
    /** For the response of a subscription that is not opened. */
    readonly memory: CallMemory | undefined
    readonly signal: AbortSignal
  }): Promise<AdapterReply>
  close(): Promise<void>
}

/** @throws SoukError `invalid_request` */
export function checkSubscriptions({ graphql }: UpstreamConfig): void {
  const { subscriptions, eventsMax } = graphql ?? {}
  if (subscriptions !== undefined)
    parseEndpoint(isWebSocket(subscriptions) ? `http${subscriptions.slice(2)}` : subscriptions)
  if (eventsMax !== undefined && !(Number.isInteger(eventsMax) && eventsMax > 0)) {
    throw new SoukError('invalid_request', 'The number of events per paid opening has to be a whole number above 0.')
  }
}

function isWebSocket(url: string): boolean {
  return /^wss?:/i.test(url)
}

/** @param main the client for the endpoint itself, which serves subscriptions unless the provider names another address */
export function createSubscriptions(config: UpstreamConfig, main: Upstream, clock: Clock): Subscriptions {
  checkSubscriptions(config)
  const { subscriptions: url, eventsMax } = config.graphql ?? {}
  const own = url === undefined ? config : configFor(url, config)
  const sockets = url !== undefined && isWebSocket(url) ? socketsTo(url, own, main) : undefined
  const sse = url === undefined || sockets !== undefined ? main : createUpstream({ ...own, shownAs: 'The API' })

  async function overSse({
    query,
    request,
    headers,
    memory,
    signal
  }: Parameters<Subscriptions['open']>[0]): Promise<Opened> {
    const response = await sse.request({
      method: 'POST',
      // Servers of "GraphQL over SSE" accept only this exact value.
      headers: [...headers, ['content-type', 'application/json'], ['accept', EVENT_STREAM]],
      body: bodyOf(query, request),
      signal
    })
    const { status, headers: down } = response
    if (status >= 400) {
      return { status, headers: down, body: await response.bytes(RESPONSE_BYTES_MAX, memory) }
    }
    if (status < 300 && headerOf(down, 'content-type')?.toLowerCase().startsWith(EVENT_STREAM) === true) {
      return sseResults(response.body)
    }
    response.discard()
    throw new SoukError('upstream_invalid_response', 'The API behind this listing did not open an event stream.', {
      source: 'upstream'
    })
  }

  return {
    async open(opened) {
      const { framing } = opened
      const startedAt = clock.elapsed()
      const results =
        sockets === undefined
          ? await overSse(opened)
          : await wsResults(sockets, opened.query, opened.request, opened.signal)
      const upstreamMs = () => clock.elapsed() - startedAt
      if ('status' in results) return { ...results, success: false, upstreamMs: upstreamMs() }
      const began = await opening(results, clock, opened.signal).catch(async (error: unknown) => {
        await results.return?.()
        throw error
      })
      const head = { status: 200, headers: streamHeaders(framing), upstreamMs: upstreamMs() }
      if ('ended' in began) {
        const body =
          began.ended === undefined ? Buffer.concat([framing.open, framing.complete]) : oneEvent(began.ended, framing)
        return { ...head, body, success: false }
      }
      return {
        ...head,
        body: eventStream(began.results, clock, framing, eventsMax),
        success: true,
        events: framing.frames
      }
    },
    async close() {
      if (sse !== main) await sse.close()
      await sockets?.close()
    }
  }
}

/** Credentials for the endpoint's host are not sent to another host. */
function configFor(url: string, config: UpstreamConfig): UpstreamConfig {
  const moved = { ...config, endpoint: url }
  if (new URL(url).hostname === new URL(config.endpoint).hostname) return moved
  const { auth: _, ...rest } = moved
  return rest
}

type Opened = Results | Pick<AdapterReply, 'status' | 'headers' | 'body'>
