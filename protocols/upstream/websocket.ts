import { Agent, WebSocket } from 'undici'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import { credentialsOf } from './auth.ts'
import { connectorTo } from './connect.ts'
import type { Upstream } from './upstream.ts'

/** WebSockets to one address, under the same guard and with the same credentials as the requests to the API. */
export interface UpstreamSockets {
  /** With the secrets of its query. */
  readonly url: string
  /** The class to make them with; they end with the signal. @throws SoukError as `Upstream.credentials` */
  implementation(signal: AbortSignal): Promise<typeof WebSocket>
  close(): Promise<void>
}

/**
 * @param url - `ws:` or `wss:`.
 * @param main - gives the credentials that change.
 * @throws SoukError `invalid_request`
 */
export function socketsTo(url: string, { auth, guard }: UpstreamConfig, main: Upstream): UpstreamSockets {
  const target = new URL(url)
  // As the connection begins: by HTTP (RFC 6455 §1.3).
  const endpoint = new URL(`http${url.slice(2)}`)
  for (const [name, value] of credentialsOf(auth, endpoint).query) target.searchParams.append(name, value)
  const dispatcher = new Agent({ allowH2: false, connect: connectorTo(endpoint, guard, auth?.tls) })
  return {
    url: target.href,
    async implementation(signal) {
      const headers = auth === undefined ? {} : pairs(await main.credentials(signal))
      return class extends WebSocket {
        constructor(address: string | URL, protocols?: string | string[]) {
          super(address, { dispatcher, headers, ...(protocols === undefined ? {} : { protocols }) })
          // One that is still waiting for the server to take it is known to nobody else.
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
