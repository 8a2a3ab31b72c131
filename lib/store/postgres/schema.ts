import type { ClientBase } from 'pg'
import { SoukError } from '../../base/errors.ts'

/**
 * The schema of `sqlite-schema.ts` in PostgreSQL's types; that file has the reasons. One step per version, run once, in order, never
 * changed after a release. Texts with arbitrary characters are bytes, because PostgreSQL's texts cannot contain NUL; the others sort by
 * code point. Sums are incremented, not replaced, because several processes may share the database. Autovacuum frees the space of
 * deleted rows for new ones.
 *
 * `writers` has a row for each process: see `writer.ts`.
 */
const MIGRATIONS = [
  `
  CREATE TABLE names (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
  );

  CREATE TABLE calls (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    peer BIGINT NOT NULL REFERENCES names (id),
    request_id BYTEA NOT NULL,
    api BIGINT NOT NULL REFERENCES names (id),
    revision BIGINT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('captured', 'void')),
    status INTEGER NOT NULL,
    code TEXT,
    price BIGINT NOT NULL,
    charged BIGINT NOT NULL,
    request_hash BYTEA NOT NULL,
    at BIGINT NOT NULL,
    owner_ms DOUBLE PRECISION NOT NULL,
    upstream_ms DOUBLE PRECISION NOT NULL
  );
  CREATE UNIQUE INDEX calls_by_request ON calls (peer, request_id);
  CREATE INDEX calls_by_api ON calls (api, seq);

  CREATE TABLE responses (
    seq BIGINT PRIMARY KEY REFERENCES calls (seq),
    at BIGINT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body BYTEA NOT NULL
  );

  CREATE TABLE usage (
    api BIGINT PRIMARY KEY REFERENCES names (id),
    captured BIGINT NOT NULL,
    voided BIGINT NOT NULL,
    metered NUMERIC NOT NULL,
    charged NUMERIC NOT NULL
  );

  CREATE TABLE documents (
    collection BYTEA NOT NULL,
    key BYTEA NOT NULL,
    value BYTEA NOT NULL,
    PRIMARY KEY (collection, key)
  );

  CREATE TABLE entries (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    kind BIGINT NOT NULL REFERENCES names (id),
    reference TEXT,
    call BIGINT REFERENCES calls (seq),
    account BIGINT REFERENCES names (id),
    contra BIGINT REFERENCES names (id),
    amount BIGINT CHECK (amount <> 0),
    CHECK ((reference IS NULL) = (call IS NOT NULL)),
    CHECK ((account IS NULL) = (amount IS NULL) AND (contra IS NULL) = (amount IS NULL))
  );
  CREATE UNIQUE INDEX entries_by_reference ON entries (kind, reference) WHERE reference IS NOT NULL;

  CREATE TABLE postings (
    entry BIGINT NOT NULL REFERENCES entries (seq),
    line INTEGER NOT NULL,
    account BIGINT NOT NULL REFERENCES names (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (entry, line)
  );

  CREATE TABLE accounts (
    account BIGINT PRIMARY KEY REFERENCES names (id),
    balance NUMERIC NOT NULL
  );
  `,
  `
  ALTER TABLE calls ADD COLUMN rule TEXT;
  `,
  `
  CREATE TABLE listings (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    provider TEXT COLLATE "C" NOT NULL,
    protocol TEXT COLLATE "C" NOT NULL,
    price BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    issued_at BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    is_shown INTEGER NOT NULL,
    source TEXT COLLATE "C",
    bytes BIGINT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    live_until BIGINT NOT NULL,
    keep_until BIGINT NOT NULL,
    quality BIGINT NOT NULL,
    latency BIGINT NOT NULL,
    record_seq BIGINT NOT NULL,
    change BIGINT,
    tags TEXT[] NOT NULL,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX listings_by_provider ON listings (provider);
  CREATE INDEX listings_by_hash ON listings (hash);
  CREATE INDEX listings_by_source ON listings (source, seen_at);
  CREATE UNIQUE INDEX listings_by_change ON listings (change) WHERE change IS NOT NULL;
  CREATE INDEX listings_by_end ON listings (keep_until);
  CREATE INDEX listings_by_tag ON listings USING gin (tags);
  CREATE INDEX listings_by_word ON listings USING gin (words);

  CREATE TABLE listing_bodies (
    seq BIGINT PRIMARY KEY REFERENCES listings (seq) ON DELETE CASCADE,
    envelope BYTEA NOT NULL,
    record BYTEA
  );

  CREATE TABLE listing_feed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL,
    last BIGINT NOT NULL,
    listings BIGINT NOT NULL,
    bytes BIGINT NOT NULL
  );
  INSERT INTO listing_feed VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0, 0, 0);
  `,
  `
  CREATE TABLE claims (
    name BYTEA PRIMARY KEY,
    holder BIGINT NOT NULL REFERENCES names (id),
    epoch BIGINT NOT NULL,
    at BIGINT NOT NULL,
    request_hash BYTEA,
    call BIGINT REFERENCES calls (seq),
    CHECK ((request_hash IS NULL) = (call IS NULL))
  );
  CREATE INDEX claims_by_call ON claims (call) WHERE call IS NOT NULL;
  CREATE INDEX claims_by_age ON claims (at);
  `,
  `
  ALTER TABLE documents ADD COLUMN expires_at BIGINT;
  CREATE INDEX documents_by_end ON documents (expires_at) WHERE expires_at IS NOT NULL;
  ALTER TABLE responses ADD COLUMN is_held BOOLEAN;
  CREATE INDEX entries_by_call ON entries (call) WHERE call IS NOT NULL;
  CREATE INDEX entries_by_kind ON entries (kind, seq) WHERE reference IS NOT NULL;

  CREATE TABLE trims (
    name TEXT COLLATE "C" PRIMARY KEY,
    through BIGINT NOT NULL
  );
  INSERT INTO trims VALUES ('calls', 0), ('entries', 0);

  CREATE TABLE carried (
    account BIGINT PRIMARY KEY REFERENCES names (id),
    amount NUMERIC NOT NULL
  );

  CREATE TABLE stored_bytes (
    peer BIGINT PRIMARY KEY REFERENCES names (id),
    bytes BIGINT NOT NULL
  );
  INSERT INTO stored_bytes
    SELECT c.peer, sum(octet_length(r.body)) FROM responses r JOIN calls c ON c.seq = r.seq GROUP BY c.peer;

  UPDATE documents SET collection = collection || convert_to('-ended', 'UTF8')
    WHERE CASE convert_from(collection, 'UTF8')
      WHEN 'account-deposits' THEN convert_from(value, 'UTF8')::json ->> 'state' <> 'pending'
      WHEN 'account-withdrawals' THEN convert_from(value, 'UTF8')::json ->> 'state' IN ('done', 'failed')
      ELSE false END;
  UPDATE documents SET expires_at = 1000 * (extract(epoch FROM now())::bigint + 3600)
    WHERE CASE convert_from(collection, 'UTF8')
      WHEN 'x402-answers' THEN true
      WHEN 'x402-exact' THEN convert_from(value, 'UTF8')::json -> 'fate' ->> 'kind' <> 'owed'
      ELSE false END;
  `,
  `
  CREATE TABLE writers (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token BIGINT NOT NULL DEFAULT 1,
    fences BIGINT NOT NULL DEFAULT 0,
    last_commit BIGINT NOT NULL DEFAULT 0,
    at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);
  `,
  `
  CREATE TABLE listing_descriptions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    provider TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C",
    hash BYTEA,
    root TEXT COLLATE "C" NOT NULL,
    operations BIGINT NOT NULL
  );
  CREATE INDEX listing_descriptions_by_provider ON listing_descriptions (provider, operations);
  CREATE INDEX listing_descriptions_by_source ON listing_descriptions (source, operations);

  CREATE TABLE listing_operations (
    row BIGINT PRIMARY KEY,
    entry TEXT NOT NULL,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX listing_operations_by_word ON listing_operations USING gin (words);
  `
]

/** An arbitrary number. The lock makes processes that start together migrate one after the other. */
const MIGRATION_LOCK = 402_402

/**
 * Brings the tables up to date. Creates and changes nothing if they are, so that the user of a running node needs no right to create
 * tables.
 * @throws SoukError `internal_error` if a newer Souk made the tables.
 */
export async function migratePostgres(db: ClientBase): Promise<void> {
  if ((await storedVersion(db)) === MIGRATIONS.length) return
  // Each statement after the lock must see what the processes before have written.
  await db.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  try {
    // Large tables take longer than an operator's time limits for statements.
    await db.query(
      `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')`
    )
    await db.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await db.query('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)')
    const version = (await storedVersion(db)) ?? 0
    if (version > MIGRATIONS.length) {
      throw new SoukError('internal_error', 'A newer version of Souk wrote the store. Update this one.')
    }
    for (const step of MIGRATIONS.slice(version)) await db.query(step)
    await db.query('DELETE FROM schema_version')
    await db.query('INSERT INTO schema_version (version) VALUES ($1)', [MIGRATIONS.length])
    await db.query('COMMIT')
  } catch (error) {
    await db.query('ROLLBACK')
    throw error
  }
}

/** The version in the schema that gets the tables: further schemas of search_path may have tables of another store. */
async function storedVersion(db: ClientBase): Promise<number | undefined> {
  const found = await db.query<{ table: string | null }>(
    `SELECT to_regclass(quote_ident(current_schema()) || '.schema_version')::text AS table`
  )
  if (typeof found.rows[0]?.table !== 'string') return undefined
  const { rows } = await db.query<{ version: number }>('SELECT version FROM schema_version')
  return rows[0]?.version
}
