import { createClient } from 'graphql-ws'
import { CONNECTION_LOST, SoukError } from '../../lib/base/errors.ts'
import { rawNumber } from '../../lib/base/exact-json.ts'
import {
  GRAPHQL_EVENT_BYTES_MAX,
  GRAPHQL_EVENT_CHARS_WAITING_MAX,
  GRAPHQL_EVENTS_WAITING_MAX
} from '../../lib/base/limits/graphql.ts'
import { UPSTREAM_CONNECT_MS } from '../../lib/base/limits/upstream.ts'
import { interruption } from '../upstream/failure.ts'
import type { UpstreamSockets } from '../upstream/websocket.ts'
import type { GraphqlRequest } from './graphql-request.ts'
import type { Results } from './result-events.ts'

/**
 * Opens an operation over the GraphQL-over-WebSocket protocol (`graphql-transport-ws`), on a separate connection. Aborting the
 * operation closes the connection, which tells the API.
 *
 * @throws SoukError `upstream_unreachable`, `call_interrupted`
 */
export async function wsResults(
  sockets: UpstreamSockets,
  query: string,
  { operationName, variables, extensions, written }: GraphqlRequest,
  signal: AbortSignal
): Promise<Results> {
  const webSocketImpl = await sockets.implementation(signal)
  // Disposing of a connection during its handshake rejects with the handshake's error, which is already known here.
  const inbox = createInbox(() => void Promise.resolve(client.dispose()).catch(() => {}))
  const connected = Promise.withResolvers<void>()
  let isConnected = false
  const client = createClient({
    url: sockets.url,
    webSocketImpl,
    lazy: true,
    retryAttempts: 0,
    connectionAckWaitTimeout: UPSTREAM_CONNECT_MS,
    // Numbers keep their original digits.
    jsonMessageReviver(this: unknown, _key: string, value: unknown, ...[context]: Array<{ source?: string }>) {
      return typeof value === 'number' && context?.source !== undefined ? rawNumber(context.source) : value
    },
    on: {
      connected() {
        isConnected = true
        connected.resolve()
      }
    }
  })
  client.subscribe(
    {
      query,
      ...(operationName === undefined ? {} : { operationName }),
      ...(written.variables === undefined ? {} : { variables: { ...variables } }),
      ...(written.extensions === undefined ? {} : { extensions: { ...extensions } })
    },
    {
      next: (result) => inbox.push(JSON.stringify(result)),
      error(error) {
        const lost = unreachable(error, isConnected)
        if (Array.isArray(error)) inbox.push(JSON.stringify({ errors: error as unknown }))
        else inbox.fail(lost)
        connected.reject(lost)
      },
      complete() {
        inbox.end()
        connected.resolve()
      }
    }
  )
  const giveUp = () => {
    inbox.fail(interruption(signal))
    connected.reject(interruption(signal))
  }
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  await connected.promise
  return inbox.results
}

/** undici closes a connection whose message is too large, and does not say why. */
const LOST = `The API closed its subscription connection, or sent an event of more than ${GRAPHQL_EVENT_BYTES_MAX} bytes.`
const NOT_OPENED =
  'The API opens no WebSocket of the protocol graphql-transport-ws at its address for subscriptions, or cannot be reached.'
/** Codes from here on are those of the protocol and of the API. */
const OWN_CODE_MIN = 4_000

function unreachable(cause: unknown, isConnected: boolean): SoukError {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? Number(cause.code) : 0
  const closed = `The API closed its subscription connection with the code ${code}.`
  // The client sends the operation once it is connected.
  const members = isConnected ? { reason: CONNECTION_LOST } : undefined
  const detail = code >= OWN_CODE_MIN ? closed : isConnected ? LOST : NOT_OPENED
  return new SoukError('upstream_unreachable', detail, { source: 'upstream', cause, members })
}

/** Converts pushed results to pulled ones, because a WebSocket does not wait for its reader. */
function createInbox(onOver: () => void) {
  const waiting: string[] = []
  let chars = 0
  let wake = () => {}
  let failure: SoukError | undefined
  let isEnded = false
  const over = (): void => {
    if (isEnded) return
    isEnded = true
    onOver()
    wake()
  }
  const results: Results = {
    async next() {
      for (;;) {
        const value = waiting.shift()
        if (value !== undefined) {
          chars -= value.length
          return { done: false, value }
        }
        if (failure !== undefined) throw failure
        if (isEnded) return { done: true, value: undefined }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    async return() {
      waiting.length = 0
      over()
      return { done: true, value: undefined }
    }
  }
  const fail = (error: SoukError): void => {
    if (!isEnded) failure = error
    over()
  }
  return {
    results,
    fail,
    end: over,
    push(value: string): void {
      if (isEnded) return
      chars += value.length
      if (waiting.length === GRAPHQL_EVENTS_WAITING_MAX || chars > GRAPHQL_EVENT_CHARS_WAITING_MAX) {
        fail(new SoukError('overloaded', 'Events come faster than they are read.'))
        return
      }
      waiting.push(value)
      wake()
    }
  }
}
