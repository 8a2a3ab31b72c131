import type { DatabaseSync } from 'node:sqlite'
import { StoreBroken } from './errors.ts'

/**
 * One step per version, run once, in order, never changed after a release. Plain SQL that PostgreSQL could read too.
 *
 * `calls` is append-only: `seq` is the order of the appends, and request ids are time-ordered within a peer, so both trees grow
 * at their ends. Stored responses are in a separate table, because they are deleted earlier. `usage` contains the sums of
 * `calls`; its amounts are texts, because a sum may exceed 64 bits.
 *
 * `entries` is the ledger, also append-only; `accounts` contains its sums. An entry of two postings contains them itself:
 * `amount` on `account`, and its opposite on `contra`. Longer entries have rows in `postings`. The entry of a call has no
 * reference, because its call identifies it. So a call's entry is one row at the end of one tree: five times cheaper than a row
 * and an index entry per posting.
 *
 * `listings` is the catalogue. It contains only the searched columns, so that a full scan is fast; the signed bytes are in
 * `listing_bodies`. `change` numbers the changes for peers; `listing_feed` contains the last number and the total size.
 * `listing_words` is only an index; its words are the result of `searchTerms`.
 *
 * `listing_descriptions` contains the listings whose operations are indexed: `hash` is their manifest, absent while a part is missing.
 * The row of an operation in `listing_operations` and `operation_words` is its index plus 4096 times the `number` of its listing.
 *
 * `claims` contains the idempotency keys; `call` is the call with the response. Their names are random, so only calls with a key
 * pay for the index.
 *
 * `sums` contains the last row of `calls` and of `entries` that is included in `usage` and in `accounts`.
 *
 * `trims` contains the last row that the deletion of old rows has examined, `carried` the sums of the deleted entries by account.
 * The newest row of a table is never deleted, so that no `seq` is used twice. `stored_bytes` contains the bytes of `responses` by
 * peer. SQLite reuses the pages of deleted rows for new ones: the file stops growing, but does not shrink.
 *
 * `staged_calls` contains the newest calls, each with its response and its entry, until they move to their tables (`staged-calls.ts`). Its
 * numbers are those of `calls` and `entries`. It is a ring: a row is overwritten after it has moved. `sums` contains the last one that has.
 *
 * The seventh step also moves finished deposits and withdrawals to separate collections that are not read at start, and sets an
 * expiry for the responses of x402 payments.
 */
const MIGRATIONS = [
  `
  CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    peer INTEGER NOT NULL REFERENCES names (id),
    request_id BLOB NOT NULL,
    api INTEGER NOT NULL REFERENCES names (id),
    revision INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('captured', 'void')),
    status INTEGER NOT NULL,
    code TEXT,
    price INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    request_hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    owner_ms REAL NOT NULL,
    upstream_ms REAL NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX calls_by_request ON calls (peer, request_id);
  CREATE INDEX calls_by_api ON calls (api, seq);

  CREATE TABLE responses (
    seq INTEGER PRIMARY KEY REFERENCES calls (seq),
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;

  CREATE TABLE usage (
    api INTEGER PRIMARY KEY REFERENCES names (id),
    captured INTEGER NOT NULL,
    voided INTEGER NOT NULL,
    metered TEXT NOT NULL,
    charged TEXT NOT NULL
  ) STRICT;

  CREATE TABLE documents (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (collection, key)
  ) STRICT;
  `,
  `
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind INTEGER NOT NULL REFERENCES names (id),
    reference TEXT,
    call INTEGER REFERENCES calls (seq),
    account INTEGER REFERENCES names (id),
    contra INTEGER REFERENCES names (id),
    amount INTEGER CHECK (amount <> 0),
    CHECK ((reference IS NULL) = (call IS NOT NULL)),
    CHECK ((account IS NULL) = (amount IS NULL) AND (contra IS NULL) = (amount IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX entries_by_reference ON entries (kind, reference) WHERE reference IS NOT NULL;

  CREATE TABLE postings (
    entry INTEGER NOT NULL REFERENCES entries (seq),
    line INTEGER NOT NULL,
    account INTEGER NOT NULL REFERENCES names (id),
    amount INTEGER NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (entry, line)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE accounts (
    account INTEGER PRIMARY KEY REFERENCES names (id),
    balance TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE sums (
    name TEXT PRIMARY KEY,
    through INTEGER NOT NULL
  ) STRICT;
  INSERT INTO sums SELECT 'usage', coalesce(max(seq), 0) FROM calls;
  INSERT INTO sums SELECT 'accounts', coalesce(max(seq), 0) FROM entries;
  `,
  `
  ALTER TABLE calls ADD COLUMN rule TEXT;
  `,
  `
  CREATE TABLE listings (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    protocol TEXT NOT NULL,
    price INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    issued_at INTEGER NOT NULL,
    hash BLOB NOT NULL,
    is_shown INTEGER NOT NULL,
    source TEXT,
    bytes INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    live_until INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    quality INTEGER NOT NULL,
    latency INTEGER NOT NULL,
    record_seq INTEGER NOT NULL,
    change INTEGER
  ) STRICT;
  CREATE INDEX listings_by_provider ON listings (provider);
  CREATE INDEX listings_by_hash ON listings (hash);
  CREATE INDEX listings_by_source ON listings (source, seen_at);
  CREATE UNIQUE INDEX listings_by_change ON listings (change) WHERE change IS NOT NULL;
  CREATE INDEX listings_by_end ON listings (keep_until);

  CREATE TABLE listing_bodies (
    seq INTEGER PRIMARY KEY,
    envelope BLOB NOT NULL,
    record BLOB
  ) STRICT;

  CREATE TABLE listing_tags (
    tag TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tag, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX listing_tags_by_listing ON listing_tags (seq);

  CREATE TABLE listing_feed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL,
    last INTEGER NOT NULL,
    listings INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;
  INSERT INTO listing_feed VALUES (1, lower(hex(randomblob(8))), 0, 0, 0);

  CREATE VIRTUAL TABLE listing_words USING fts5 (
    name, tags, text,
    content = '', contentless_delete = 1, detail = 'column', prefix = '2 3', tokenize = 'unicode61 remove_diacritics 0'
  );
  `,
  `
  CREATE TABLE claims (
    name BLOB PRIMARY KEY,
    holder INTEGER NOT NULL REFERENCES names (id),
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    request_hash BLOB,
    call INTEGER REFERENCES calls (seq),
    CHECK ((request_hash IS NULL) = (call IS NULL))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_by_call ON claims (call) WHERE call IS NOT NULL;
  CREATE INDEX claims_by_age ON claims (at);
  `,
  `
  ALTER TABLE documents ADD COLUMN expires_at INTEGER;
  CREATE INDEX documents_by_end ON documents (expires_at) WHERE expires_at IS NOT NULL;
  ALTER TABLE responses ADD COLUMN is_held INTEGER;
  CREATE INDEX entries_by_call ON entries (call) WHERE call IS NOT NULL;
  CREATE INDEX entries_by_kind ON entries (kind) WHERE reference IS NOT NULL;

  CREATE TABLE trims (
    name TEXT PRIMARY KEY,
    through INTEGER NOT NULL
  ) STRICT;
  INSERT INTO trims VALUES ('calls', 0), ('entries', 0);

  CREATE TABLE carried (
    account INTEGER PRIMARY KEY REFERENCES names (id),
    amount TEXT NOT NULL
  ) STRICT;

  CREATE TABLE stored_bytes (
    peer INTEGER PRIMARY KEY REFERENCES names (id),
    bytes INTEGER NOT NULL
  ) STRICT;
  INSERT INTO stored_bytes
    SELECT c.peer, sum(length(r.body)) FROM responses r JOIN calls c ON c.seq = r.seq GROUP BY c.peer;

  UPDATE documents SET collection = collection || '-ended'
    WHERE collection = 'account-deposits' AND json_extract(value, '$.state') <> 'pending'
    OR collection = 'account-withdrawals' AND json_extract(value, '$.state') IN ('done', 'failed');
  UPDATE documents SET expires_at = 1000 * (unixepoch() + 3600)
    WHERE collection = 'x402-answers' OR collection = 'x402-exact' AND json_extract(value, '$.fate.kind') <> 'owed';
  `,
  `
  CREATE TABLE listing_descriptions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    source TEXT,
    hash BLOB,
    root TEXT NOT NULL,
    operations INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX listing_descriptions_by_provider ON listing_descriptions (provider, operations);
  CREATE INDEX listing_descriptions_by_source ON listing_descriptions (source, operations);

  CREATE TABLE listing_operations (
    row INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE operation_words USING fts5 (
    own, api,
    content = '', contentless_delete = 1, detail = 'column', prefix = '2 3', tokenize = 'unicode61 remove_diacritics 0'
  );
  `,
  `
  CREATE TABLE staged_calls (
    slot INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    peer INTEGER NOT NULL,
    request_id BLOB NOT NULL,
    api INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER NOT NULL,
    code TEXT,
    price INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    request_hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    owner_ms REAL NOT NULL,
    upstream_ms REAL NOT NULL,
    rule TEXT,
    response_status INTEGER,
    headers TEXT,
    body BLOB,
    entry INTEGER,
    account INTEGER,
    contra INTEGER,
    amount INTEGER
  ) STRICT;
  INSERT INTO sums VALUES ('staged', 0);
  `
]

/** @throws SoukError `internal_error` if a newer Souk wrote the file. */
export function migrate(db: DatabaseSync): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > MIGRATIONS.length) {
    throw new StoreBroken('newer', 'A newer version of Souk wrote the store. Update this one.')
  }
  // The version changes atomically with its step. Even without steps, the transaction takes the exclusive lock.
  db.exec('BEGIN IMMEDIATE')
  for (const step of MIGRATIONS.slice(version)) db.exec(step)
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  db.exec('COMMIT')
}
