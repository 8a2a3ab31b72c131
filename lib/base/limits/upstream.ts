/** Limits: Upstream APIs. */
import { KiB, MiB, SECOND, MINUTE } from './units.ts'

/** Connecting to an upstream. A reachable host accepts faster. */
export const UPSTREAM_CONNECT_MS = 5 * SECOND
/** Decodings of a path in search of dot segments. Real paths need one or two. */
export const PATH_DECODINGS_MAX = 8
/** Redirects followed per upstream request, same origin only. */
export const UPSTREAM_REDIRECTS_MAX = 3
/** Retries of an idempotent API's request after a failed connection or a busy response. */
export const UPSTREAM_RETRIES_MAX = 2
/** Pause before each retry of an upstream request. */
export const UPSTREAM_RETRY_MS = 100
/** Chunks of a response below this size are joined while they wait for their reader. Most chunks are larger. */
export const SMALL_CHUNK_BYTES = 4 * KiB
/** Chunks that are joined at once. */
export const SMALL_CHUNKS_MAX = 256
/** Failures in a row that open the circuit breaker of an API. */
export const UPSTREAM_FAILURES_MAX = 20
/** Time the circuit breaker stays open. Calls then fail at once, and consumers try other owners. */
export const UPSTREAM_BREAK_MS = 5 * SECOND
/** One request for an access token. */
export const TOKEN_REQUEST_MS = 10 * SECOND
/** An access token is renewed this long before it expires, or at 90% of its lifetime where that is later. */
export const TOKEN_RENEW_MS = 60 * SECOND
/** Assumed lifetime of an access token where its server states none. */
export const TOKEN_LIFE_MS = 5 * MINUTE
/** Response of a token server. Tokens themselves must fit a header. */
export const TOKEN_REPLY_BYTES_MAX = 64 * KiB
/** Silence on an event stream before a comment is sent. Proxies cut idle connections after a minute or more. */
export const SSE_HEARTBEAT_MS = 15 * SECOND
/** Events that a listing may collect into one response. */
export const SSE_EVENTS_MAX = 10_000
/** Longest time for which a listing may collect events. */
export const SSE_COLLECT_MS_MAX = 60 * SECOND
/** Time between two health checks of an API. */
export const HEALTH_PROBE_MS = 15 * SECOND
/** Failed health checks in a row that pause the listing. */
export const HEALTH_FAILURES_MAX = 3
/** Additional headers that a provider may forward. */
export const EXTRA_HEADERS_MAX = 32
/** One paid event of an SSE API. */
export const SSE_EVENT_BYTES_MAX = 1 * MiB
/** Silence after one line with a JSON value. The response may then be an endless sequence of values, so it is streamed. */
export const VALUE_SILENCE_MS = 250
