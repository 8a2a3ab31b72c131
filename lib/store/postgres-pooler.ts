import type { Client } from 'pg'
import { SoukError } from '../base/errors.ts'
import { POOLER_ROUNDS } from '../base/limits.ts'

/**
 * A pooler in transaction mode gives each transaction to whichever of its connections is free. Named statements, LISTEN and settings
 * of the session do not survive that. It shows when two connections are open at once: a server process serves one of them only.
 * @throws SoukError `internal_error`
 */
export async function refusePooler(one: Client, other: Client): Promise<void> {
  const own = await backendOf(one)
  for (let round = 0; round < POOLER_ROUNDS; round++) {
    // While this transaction is open, a pooler has to give its server connection to nobody else.
    await other.query('BEGIN')
    const held = await backendOf(other)
    // A pooler with one server connection could not answer the second question.
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
