import type { DatabaseSync } from 'node:sqlite'
import { SoukError } from '../base/errors.ts'

/**
 * One step per version, run once, in order, never changed after a release. Plain SQL that PostgreSQL could read too.
 *
 * `calls` is append-only: `seq` is the order of the appends, and request ids are time-ordered within a peer, so both trees
 * grow at their ends. What may be dropped again, the stored responses, is apart from it. `usage` holds the sums of `calls`;
 * its amounts are texts because a sum may pass 64 bits.
 *
 * `entries` is the ledger, append-only as well; `accounts` holds its sums. An entry of two postings holds them itself, `amount` on
 * `account` and its opposite on `contra`; longer ones are in `postings`. An entry of a call has no reference, its call names it. So
 * a call's entry is one row at the end of one tree: five times cheaper than a row and an index entry for each posting.
 *
 * `sums` says up to which row of `calls` and of `entries` the sums in `usage` and in `accounts` are.
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
  `
]

/** @throws SoukError `internal_error` when a newer Souk wrote the file. */
export function migrate(db: DatabaseSync): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > MIGRATIONS.length) {
    throw new SoukError('internal_error', 'The store was written by a newer version of Souk: update this one.')
  }
  // The version moves with its step or not at all. Also without steps the transaction takes the lock that stays with us.
  db.exec('BEGIN IMMEDIATE')
  for (const step of MIGRATIONS.slice(version)) db.exec(step)
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  db.exec('COMMIT')
}
