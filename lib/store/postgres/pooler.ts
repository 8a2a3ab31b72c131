import type { Client } from 'pg'
import { SoukError } from '../../base/errors.ts'
import { POOLER_ROUNDS } from '../../base/limits/store.ts'

/**
 * Detects a pooler in transaction mode, which assigns each transaction to any free connection. Named statements, LISTEN and
 * session settings do not survive that. Two open connections reveal it, because a server process serves only one.
 * @throws SoukError `internal_error`
 */
export async function refusePooler(one: Client, other: Client): Promise<void> {
  const own = await backendOf(one)
  for (let round = 0; round < POOLER_ROUNDS; round++) {
    // While this transaction is open, a pooler must not share its server connection.
    await other.query('BEGIN')
    const held = await backendOf(other)
    // A pooler with one server connection could not respond to the second query.
    if (held === own || (await backendOf(one)) !== own) throw poolerFound()
    await other.query('COMMIT')
    if ((await backendOf(other)) !== held) throw poolerFound()
  }
}

async function backendOf(client: Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid
}

function poolerFound(): SoukError {
  const detail =
    'The database is behind a connection pooler in transaction mode. Connect to PostgreSQL itself, or set the pooler to session mode.'
  return new SoukError('internal_error', detail)
}
