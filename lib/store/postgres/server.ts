import type { Client } from 'pg'
import { SoukError } from '../../base/errors.ts'
import { POSTGRES_MAJOR_MIN } from '../../base/limits/store.ts'

export interface ServerFacts {
  /** As `server_version_num`: 160004 is 16.4. */
  readonly number: number
  /** As `server_version`. */
  readonly version: string
  readonly encoding: string
}

/** SQL_ASCII stores the bytes of UTF-8 unchanged. The other encodings lack characters. */
const ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII'])

/** @throws SoukError `internal_error` if the server is too old, or its database cannot store every text */
export async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding`
  )
  const fault = rows[0] === undefined ? undefined : faultOf(rows[0])
  if (fault !== undefined) throw new SoukError('internal_error', fault)
}

export function faultOf({ number, version, encoding }: ServerFacts): string | undefined {
  if (number < POSTGRES_MAJOR_MIN * 10_000) {
    return `The database is PostgreSQL ${version}. Souk needs version ${POSTGRES_MAJOR_MIN} or newer.`
  }
  if (ENCODINGS.has(encoding)) return undefined
  return `The database has the encoding ${encoding}, which cannot store every text. Create one with UTF8: createdb --encoding UTF8 --template template0.`
}
