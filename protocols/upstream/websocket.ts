import type { Socket } from 'node:net'
import { Agent, WebSocket } from 'undici'
import { GRAPHQL_EVENT_BYTES_MAX } from '../../lib/base/limits/graphql.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import { credentialsOf } from './auth.ts'
import { connectorTo } from './connect.ts'
import type { Upstream } from './upstream.ts'

/** WebSockets to one address, with the same guard and credentials as requests to the API. */
export interface UpstreamSockets {
  /** The URL including the secret query parameters. */
  readonly url: string
  /** A WebSocket class; its instances close with the signal. @throws SoukError as `Upstream.credentials` */
  implementation(signal: AbortSignal): Promise<typeof WebSocket>
  close(): Promise<void>
}

/**
 * Creates the sockets of an API.
 * @param url `ws:` or `wss:`
 * @param main supplies credentials that change
 * @throws SoukError `invalid_request`
 */
export function socketsTo(url: string, { auth, guard }: UpstreamConfig, main: Upstream): UpstreamSockets {
  const target = new URL(url)
  // The connection begins with HTTP (RFC 6455 §1.3).
  const endpoint = new URL(`http${url.slice(2)}`)
  for (const [name, value] of credentialsOf(auth, endpoint).query) target.searchParams.append(name, value)
  const connect = connectorTo(endpoint, guard, auth?.tls)
  const dispatchers = new Set<Agent>()
  return {
    url: target.href,
    async implementation(signal) {
      const headers = auth === undefined ? {} : pairs(await main.credentials(signal))
      return class extends WebSocket {
        constructor(address: string | URL, protocols?: string | string[]) {
          let connection: Socket | null = null
          const dispatcher = new Agent({
            allowH2: false,
            connect: (options, done) =>
              connect(options, (...connected: Parameters<typeof done>) => {
                connection = connected[1]
                done(...connected)
              }),
            webSocket: { maxPayloadSize: GRAPHQL_EVENT_BYTES_MAX }
          })
          super(address, { dispatcher, headers, ...(protocols === undefined ? {} : { protocols }) })
          dispatchers.add(dispatcher)
          this.addEventListener('close', () => {
            dispatchers.delete(dispatcher)
            // undici leaves it open if the server agrees to the WebSocket, but not to its protocol.
            connection?.destroy()
            void dispatcher.destroy()
          })
          // A socket that is still connecting has no other owner.
          if (signal.aborted) this.close()
          else signal.addEventListener('abort', () => this.close(), { once: true })
        }
      } as typeof WebSocket
    },
    async close() {
      await Promise.all([...dispatchers].map((dispatcher) => dispatcher.destroy()))
    }
  }
}

function pairs(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? ''
  return headers
}
