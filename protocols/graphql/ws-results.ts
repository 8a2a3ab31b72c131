import { createClient } from 'graphql-ws'
import type { WebSocket } from 'undici'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { CONNECTION_LOST, SoukError } from '../../lib/base/errors.ts'
import { membersIn } from '../../lib/base/json-text.ts'
import {
  GRAPHQL_EVENT_BYTES_MAX,
  GRAPHQL_EVENT_CHARS_WAITING_MAX,
  GRAPHQL_EVENTS_WAITING_MAX
} from '../../lib/base/limits/graphql.ts'
import { UPSTREAM_CONNECT_MS } from '../../lib/base/limits/upstream.ts'
import { exactly } from '../exact-json.ts'
import { interruption } from '../upstream/failure.ts'
import type { UpstreamSockets } from '../upstream/websocket.ts'
import type { GraphqlRequest } from './graphql-request.ts'
import type { Results } from './result-events.ts'

const OBJECT = 0x7b

/**
 * Opens an operation over the GraphQL-over-WebSocket protocol (`graphql-transport-ws`), on a separate connection. Aborting the
 * operation closes the connection, which tells the API.
 *
 * @throws SoukError `upstream_unreachable`, `call_interrupted`
 */
export async function wsResults(
  sockets: UpstreamSockets,
  query: string,
  { operationName, written }: GraphqlRequest,
  signal: AbortSignal
): Promise<Results> {
  const Socket = await sockets.implementation(signal)
  // Disposing of a connection during its handshake rejects with the handshake's error, which is already known here.
  const inbox = createInbox(() => void Promise.resolve(client.dispose()).catch(() => {}))
  const connected = Promise.withResolvers<void>()
  let isConnected = false
  const client = createClient({
    url: sockets.url,
    webSocketImpl: readingResults(Socket, (result) => isConnected && (inbox.push(result), true)),
    lazy: true,
    retryAttempts: 0,
    connectionAckWaitTimeout: UPSTREAM_CONNECT_MS,
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
      ...(written.variables === undefined ? {} : { variables: membersOf(written.variables) }),
      ...(written.extensions === undefined ? {} : { extensions: membersOf(written.extensions) })
    },
    {
      // The socket takes the results.
      next() {},
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

/** The client writes numbers with their original digits. @param written a JSON object */
function membersOf(written: string): Record<string, unknown> {
  return exactly(written) as Record<string, unknown>
}

/**
 * Takes the results from the messages of a socket as they are written. The client would parse them: one of a megabyte holds up the
 * process for half a second, and numbers lose digits.
 *
 * @param take returns false to leave a result to the client, which then closes the connection
 */
function readingResults(Socket: typeof WebSocket, take: (result: string) => boolean): typeof WebSocket {
  return class extends Socket {
    override set onmessage(listener: WebSocket['onmessage']) {
      const read = (event: Parameters<NonNullable<typeof listener>>[0]): void => {
        const result = resultIn(event.data)
        if (result === undefined || !take(result)) listener?.call(this, event)
      }
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it replaces the listener before
      super.onmessage = listener && read
    }
  }
}

/** The payload of a message with the type `next`; undefined for another message, and for one that is not valid. */
function resultIn(message: unknown): string | undefined {
  if (typeof message !== 'string') return undefined
  try {
    const members = membersIn(utf8(message), ['type', 'payload'])
    const [type, payload] = [members?.get('type'), members?.get('payload')]
    const isResult = type !== undefined && text(type) === '"next"' && payload?.[0] === OBJECT
    return isResult ? text(payload) : undefined
  } catch {
    return undefined
  }
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
