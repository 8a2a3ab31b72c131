import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './eventually.ts'

/** One request as received by the upstream. */
export interface Received {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** True if its connection closed before the response was complete. */
  gone: boolean
}

/** Responds to one request, whose body is already read. */
export type Behaviour = (response: ServerResponse, received: Received) => void

/** A real HTTP server on loopback with scripted responses. */
export interface ScriptedUpstream {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string
  readonly received: Received[]
  /** Number of accepted connections so far. */
  readonly accepted: number
  /** Number of open connections. */
  readonly open: number
  /** Sets the behaviour for all later requests. */
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

export async function scriptedUpstream(behaviour: Behaviour): Promise<ScriptedUpstream> {
  let current = behaviour
  let accepted = 0
  let open = 0
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const seen: Received = { method, target: url, headers, body: Buffer.concat(chunks), gone: false }
      response.on('close', () => (seen.gone = !response.writableFinished))
      received.push(seen)
      current(response, seen)
    })
  })
  // Otherwise it may close an idle connection that a stalled client is about to use.
  server.keepAliveTimeout = 0
  server.on('connection', (socket) => {
    accepted++
    open++
    socket.on('close', () => open--)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    get accepted() {
      return accepted
    },
    get open() {
      return open
    },
    behave: (behaviour) => (current = behaviour),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

export function answering(status: number, headers: Record<string, string>, body: string | Uint8Array): Behaviour {
  return (response) => response.writeHead(status, headers).end(body)
}

/** Never responds. */
export const hanging: Behaviour = () => undefined

/** Resets the connection instead of responding. */
export const resetting: Behaviour = (response) => response.socket?.resetAndDestroy()

/** Waits until `holds` is true, at most for `boundMs` on an idle machine. */
export async function until(holds: () => boolean, what: string, boundMs = 2_000): Promise<void> {
  await eventually(what, boundMs, () => holds() || undefined)
}

/** The URL of a closed port. */
export async function deadUrl(): Promise<string> {
  const upstream = await scriptedUpstream(hanging)
  await upstream.close()
  return upstream.url
}
