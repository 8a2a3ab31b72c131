import type { Client, ClientConfig } from 'pg'
import { POSTGRES_ANSWER_MS, POSTGRES_CONNECT_MS } from '../base/limits.ts'

/** What all connections have in common: none waits for ever on a server that does not answer any more. */
export function clientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: POSTGRES_CONNECT_MS,
    query_timeout: POSTGRES_ANSWER_MS,
    keepAlive: true
  }
}

/** Ends a connection, also where the server does not answer any more: `Client.end` waits for it. */
export async function endClient(client: Client): Promise<void> {
  client.on('error', () => {})
  const ending = client.end().catch(() => {})
  const { connection } = client as unknown as { connection?: { stream?: { destroySoon?(): void } } }
  connection?.stream?.destroySoon?.()
  await ending
}
