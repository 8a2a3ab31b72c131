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
  const dispatcher = new Agent({
    allowH2: false,
    connect: connectorTo(endpoint, guard, auth?.tls),
    webSocket: { maxPayloadSize: GRAPHQL_EVENT_BYTES_MAX }
  })
  return {
    url: target.href,
    async implementation(signal) {
      const headers = auth === undefined ? {} : pairs(await main.credentials(signal))
      return class extends WebSocket {
        constructor(address: string | URL, protocols?: string | string[]) {
          super(address, { dispatcher, headers, ...(protocols === undefined ? {} : { protocols }) })
          // A socket that is still connecting has no other owner.
          if (signal.aborted) this.close()
          else signal.addEventListener('abort', () => this.close(), { once: true })
        }
      } as typeof WebSocket
    },
    close: () => dispatcher.destroy()
  }
}

function pairs(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? ''
  return headers
}
