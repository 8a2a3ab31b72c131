import type { Client, ClientConfig } from 'pg'
import { POSTGRES_ANSWER_MS, POSTGRES_CONNECT_MS } from '../../base/limits/store.ts'
import { checkAddress } from './address.ts'

/**
 * The settings of all connections. Time-outs ensure that none waits forever for an unresponsive server.
 * @throws SoukError `internal_error` for a parameter that has no effect
 */
export function clientConfig(url: string): ClientConfig {
  checkAddress(url)
  return {
    connectionString: strictTls(url),
    connectionTimeoutMillis: POSTGRES_CONNECT_MS,
    query_timeout: POSTGRES_ANSWER_MS,
    keepAlive: true
  }
}

/** `pg` treats these modes like `verify-full`, and prints a long warning about them. */
function strictTls(url: string): string {
  if (/[?&]uselibpqcompat=/.test(url)) return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** Closes a connection even if the server does not respond; `Client.end` alone would wait for it. */
export async function endClient(client: Client): Promise<void> {
  client.on('error', () => {})
  const ending = client.end().catch(() => {})
  const { connection } = client as unknown as { connection?: { stream?: { destroySoon?(): void } } }
  connection?.stream?.destroySoon?.()
  await ending
}
