/** Limits: Storage. */
import { UPSTREAM_TIMEOUT_MS_MAX } from './call.ts'
import { KiB, MiB, SECOND, MINUTE, HOUR, DAY } from './units.ts'

/** Response body stored with a call. A repeat of a call with a larger one is treated like a stream. */
export const STORED_BODY_BYTES_MAX = 256 * KiB
/** A response is stored for repeats of its call this long. */
export const STORED_RESPONSE_MS = 24 * HOUR
/**
 * Stored response bodies of all consumer nodes: a day at ten responses of 4 KiB a second. A node gets half of the free
 * rest.
 */
export const STORED_BYTES_MAX = 4 * 1024 * MiB
/** Lifetime of an idempotency key: as long as responses are stored. */
export const IDEMPOTENCY_MS = 24 * HOUR
/** Stored idempotency keys, oldest evicted first: about a day at ten a second. */
export const IDEMPOTENCY_KEYS_MAX = 1_000_000
/** After this time a keyed call of another process counts as interrupted: longer than any call. */
export const CLAIM_MS = UPSTREAM_TIMEOUT_MS_MAX + 30 * SECOND
/** Writes of one group commit. */
export const COMMIT_BATCH_MAX = 4_096
/** Bytes of one group commit. Nothing else runs while they are written. */
export const COMMIT_BATCH_BYTES_MAX = 8 * MiB
/** Calls or postings missing in the stored totals. A restart adds them in some milliseconds. */
export const SUMS_BEHIND_MAX = 10_000
/** Calls staged before they move to their tables: longer than consumers take to acknowledge, at 5,000 calls a second. */
export const STAGED_CALLS_MAX = 1_024
/** Staged calls that move together: a few milliseconds of work. */
export const STAGED_CALLS_MOVED = 256
/** Slots for staged calls. Beyond them, one commit writes its calls to their tables. */
export const STAGED_SLOTS = 2_048
/** Largest response of a staged call, because a staged response may be written twice. */
export const STAGED_BODY_BYTES_MAX = 8 * KiB
/** Stored responses deleted per commit. Each may have `STORED_BODY_BYTES_MAX`. */
export const RESPONSES_DROPPED_AT_ONCE = 256
/** Default retention of charged calls, entries and receipts: a tax year, and a month to export it. */
export const KEEP_DAYS = 400
/** Shortest retention: longer than any repeat, dispute or withdrawal. */
export const KEEP_DAYS_MIN = 30
/** Longest retention that can be set. */
export const KEEP_DAYS_MAX = 36_500
/** Retention of free calls, which serve debugging only. */
export const KEEP_FREE_CALLS_MS = 30 * DAY
/** How far ahead of the owner's clock a request id may be. A later id could outlive its call's record. */
export const REQUEST_ID_AHEAD_MS = DAY
/** A clock that is set back further than this makes ids of its own time again, although they sort before earlier ones. */
export const REQUEST_ID_BACK_MS = 1 * HOUR
/** Jump of the clock after which nothing is deleted by age for a while: the clock may be wrong. */
export const CLOCK_JUMP_MS = 3 * DAY
/** Time that such a clock has to run on before old data is deleted. */
export const CLOCK_TRUSTED_MS = 1 * DAY
/** Oldest request id that is run. Records of older calls may be deleted, so a repeat would go unnoticed. */
export const REQUEST_AGE_MS_MAX = KEEP_FREE_CALLS_MS - REQUEST_ID_AHEAD_MS
/** Time between two deletions of expired responses and documents. */
export const TRIM_ROUND_MS = 10 * MINUTE
/** Time between two passes over old rows of the books. */
export const TRIM_PASS_MS = DAY
/** Rows per retention slice: a few milliseconds of work. */
export const TRIM_ROWS = 256
/** Pause after each retention slice, for other work. */
export const TRIM_PAUSE_MS = 100
/** SQLite's page cache: the inner index pages of ten million calls. The default of 2 MB is too small. */
export const SQLITE_CACHE_BYTES = 16 * MiB
/** Free space below which a store refuses new work: enough for running calls and their log. */
export const STORE_FREE_BYTES_MIN = 128 * MiB
/** Time between two checks of the free space. A fast disk fills quickly. */
export const FREE_SPACE_CHECK_MS = 250
/** `Retry-After` while the disk is full. An operator has to free space. */
export const STORAGE_RETRY_MS = 30 * SECOND
/** Name of a ledger account or an entry's reference. */
export const ACCOUNT_CHARS_MAX = 200
/** Postings of one entry. A claim over many channels is one entry per channel. */
export const POSTINGS_MAX = 16
/** PostgreSQL connections of one process. Servers allow 100 in all by default. */
export const POSTGRES_CONNECTIONS_MAX = 8
/** Connecting to PostgreSQL, or waiting for a free connection: as long as for a statement, because a busy server accepts late. */
export const POSTGRES_CONNECT_MS = 10 * SECOND
/** One statement. The connection counts as broken afterwards. */
export const POSTGRES_ANSWER_MS = 10 * SECOND
/** The server ends an idle transaction after this time, to free its locks. */
export const POSTGRES_IDLE_TRANSACTION_MS = 10 * SECOND
/** Wait for the server when a store closes. */
export const POSTGRES_CLOSE_MS = 1 * SECOND
/** First pause between two reconnects to the database. It doubles. */
export const RECONNECT_MS_MIN = 50
/** Longest pause between two reconnects: a node works again soon after the database is back. */
export const RECONNECT_MS_MAX = 2 * SECOND
/** `Retry-After` while the database is unavailable: as often as the node retries. */
export const STORE_RETRY_MS = 2 * SECOND
/** A finished call waits this long for the database: as long as the slowest API. */
export const STORE_WAIT_MS = 2 * MINUTE
/** Time between two checks for calls that waited too long. */
export const STORE_WAIT_SWEEP_MS = 1 * SECOND
/** A node that waits for its database at start repeats its log line this often. */
export const STORE_WAIT_SAID_MS = 1 * MINUTE
/** The row of a crashed process is deleted after this time, longer than any outage. */
export const WRITER_ROW_DAYS = 30
/** The oldest major version of PostgreSQL that has all functions of the schema. */
export const POSTGRES_MAJOR_MIN = 13
/** Checks for a pooler that mixes connections. */
export const POOLER_ROUNDS = 3
/** Pause between two attempts to restore a `LISTEN` connection. */
export const POSTGRES_LISTEN_MS = 1 * SECOND
/** Time between two tests of a `LISTEN` connection: the cache time of shared data. */
export const POSTGRES_LISTEN_BEAT_MS = 5 * SECOND
/** Peer and API names with a cached row id. The cache is cleared above it. */
export const NAMES_CACHED_MAX = 10_000
/** Database pages copied per backup step (1 MiB). Writers wait for one step at most. */
export const BACKUP_STEP_PAGES = 256
/** Attempts to copy the first pages of a backup. One fails if it meets a transaction. */
export const BACKUP_TRIES_MAX = 1_000
