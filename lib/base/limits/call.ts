/** Limits: One call. */
import { KiB, MiB, SECOND, MINUTE } from './units.ts'

/** Default limit of a request body. JSON calls are small, and a larger default would help floods. */
export const REQUEST_BYTES_MAX = 1 * MiB
/** Largest body held whole in memory. A listing cannot raise JSON bodies above it. */
export const REQUEST_BYTES_CEILING = 10 * MiB
/** Highest limit a listing can set for streamed bodies, such as files. They are never held whole. */
export const UPLOAD_BYTES_CEILING = 1024 * MiB
/** A response that is held whole. Streamed responses have no size limit. */
export const RESPONSE_BYTES_MAX = 10 * MiB
/** Nesting of a JSON request: far above real use, far below a parser's stack overflow. */
export const JSON_DEPTH_MAX = 64
/** Nesting of a JSON response. Common parsers fail soon after: PHP at 512, Python at about 1,000. */
export const RESPONSE_JSON_DEPTH_MAX = 512
/** All headers of one HTTP request or response. Node's own default. */
export const HEADER_BYTES_MAX = 16 * KiB
/** Room for the status line and the headers of a response that Node.js writes itself, such as its date. */
export const HEADERS_OF_NODE_BYTES = 512
/** Sub-path and query of one call. Common servers stop at 8 KiB. */
export const PATH_BYTES_MAX = 8 * KiB
/** An x402 payment header: requirements, authorisation and the signature of a smart wallet. */
export const PAYMENT_CHARS_MAX = 8 * KiB
/** The URL in a signed offer or receipt. Payments return it, so it is short. */
export const RESOURCE_URL_CHARS_MAX = 512
/** A consumer's pseudonym at a provider. 128 bits cannot be guessed. */
export const CONSUMER_BYTES = 16
/** An `Idempotency-Key`. Common implementations of the IETF draft use this bound. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
/** Default time limit of an upstream request. */
export const UPSTREAM_TIMEOUT_MS = 30 * SECOND
/** Longest time limit that a listing or a consumer may set. */
export const UPSTREAM_TIMEOUT_MS_MAX = 120 * SECOND
/** Shortest deadline worth sending. A shorter one cannot cross a link and back. */
export const DEADLINE_MS_MIN = 1
/** Subtracted from the deadline per hop, so that the inner node times out first and its error is returned. */
export const DEADLINE_HOP_MS = 20
/** Idle time after which a streamed response counts as dead. Heartbeats of event streams are far more frequent. */
export const STREAM_IDLE_MS = 5 * MINUTE
/** Peers whose newest request id is kept in memory. Older ids are looked up in the books before the call runs. */
export const NEWEST_IDS_MAX = 10_000
/** Request ids from before an owner's start, and this long after it, are looked up too: clocks differ. */
export const REQUEST_ID_SKEW_MS = 5 * SECOND
/** A call whose link broke is sent again for this long, then gets `call_interrupted`. An owner whose router restarted is back by then. */
export const RESEND_MS = 15 * SECOND
/** Pause between two attempts to restore the link. */
export const RESEND_PAUSE_MS = 200
/** Text of an error from another peer: a long sentence. */
export const FAILURE_DETAIL_CHARS_MAX = 2_000
/** JSON members of an error. They must fit a frame, so this is below an inline body. */
export const FAILURE_MEMBERS_CHARS_MAX = 16 * KiB
/** Responses acknowledged in one frame. */
export const ACK_BATCH_MAX = 128
/** Longest delay of an acknowledgement, while more are collected. */
export const ACK_DELAY_MS = 100
/** Attempts at one owner: the call, and one retry after a refused payment. */
export const TRIES_PER_OWNER_MAX = 2
/** Time between comments in a silent event stream, so that proxies keep it open. */
export const EVENTS_HEARTBEAT_MS = 15 * SECOND
/** Events per payment: little money ahead, but enough for a busy stream over a slow link. */
export const EVENTS_PAID_AT_ONCE_MAX = 64
/** Amount per payment, unless one event costs more. */
export const EVENTS_PAID_AT_ONCE_ATOMS = 10_000n
/** Events that a call pays for where the consumer set no limit. */
export const EVENTS_PAID_UNASKED_MAX = 1_000
/** Pause after a payment for which the owner had no events. Souk's owners wait for events before they say so. */
export const EVENTS_NONE_PAUSE_MS = 250
/** Wait of an event for its payment. Then the stream ends. */
export const EVENT_PAYMENT_MS = 15 * SECOND
/** Wait of a payment for an event. Then its consumer sends another. */
export const EVENT_GRANT_MS = 60 * SECOND
/** Refused payments in a row that end the stream. */
export const EVENT_REFUSALS_MAX = 3
/** Events that one opening may include. */
export const EVENTS_INCLUDED_MAX = 1_000_000
/** New lookups of an API after its cached terms refused a call. The first is at once; a caller that repeats refused calls gets few. */
export const TERMS_RECHECKS_BURST = 2
/** Refill of `TERMS_RECHECKS_BURST`, per API. */
export const TERMS_RECHECKS_PER_SECOND = 1
/** APIs whose rechecks are counted. */
export const TERMS_RECHECKED_MAX = 10_000
