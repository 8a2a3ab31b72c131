/** Limits: The ingress. */
import { KiB, MiB, SECOND, MINUTE, HOUR, DAY } from './units.ts'

/** Operations in one GraphQL batch: five times what Apollo's client collects. */
export const GRAPHQL_BATCH_OPERATIONS_MAX = 50
/** Operations of one GraphQL batch that run at once. */
export const GRAPHQL_BATCH_AT_ONCE = 5
/** Event streams that carry many operations ("single connection mode"). */
export const EVENT_STREAMS_MAX = 10_000
/** Event streams of one key that carry many operations: the tabs of a browser. */
export const EVENT_STREAMS_PER_KEY_MAX = 100
/** Concurrent operations of one event stream. */
export const EVENT_STREAM_OPERATIONS_MAX = 100
/** Life of a ticket for one event stream: time to open it, too short to be found in a history. */
export const TICKET_MS = 30 * SECOND
/** Unused tickets. Each takes 200 bytes. */
export const TICKETS_MAX = 10_000
/** WebSockets of GraphQL clients. Each takes about 20 KB. */
export const GRAPHQL_SOCKETS_MAX = 10_000
/** Wait of a WebSocket for its key. graphql-ws's own server waits as long. */
export const GRAPHQL_SOCKET_INIT_MS = 3 * SECOND
/** One message of a WebSocket client: a document and its variables. Files go by HTTP. */
export const GRAPHQL_SOCKET_MESSAGE_BYTES_MAX = 1 * MiB
/** Bytes that a WebSocket client has asked for and not read. Results wait; only pongs and errors do not. */
export const GRAPHQL_SOCKET_UNREAD_BYTES_MAX = 4 * MiB
/** Unused tickets of one account, or of one key without an account: the visitors of a web page in half a minute. */
export const TICKETS_PER_HOLDER_MAX = 1_000
/** Wait of a reserved stream for its reader. */
export const EVENT_STREAM_RESERVED_MS = 30 * SECOND
/** Cache time of an owner's payment options, short so that a new price shows. */
export const OFFER_FRESH_MS = 5 * SECOND
/** Characters of cached payment options: about 10,000. */
export const OFFERS_CACHED_CHARS_MAX = 16 * MiB
/** `Retry-After` of a payment whose outcome is unknown: by then the owner has usually restarted, or ended the call. */
export const PAYMENT_UNKNOWN_RETRY_MS = 5 * SECOND
/** Hosts with a counter of new accounts and other requests. */
export const HOSTS_COUNTED_MAX = 10_000
/** Requests of one host with a missing or invalid key per period. Each costs a store lookup or an owner request. */
export const STRANGERS_PER_HOST = 6_000
/** Period in which these unauthenticated requests are counted. */
export const STRANGERS_PER_HOST_MS = 1 * MINUTE
/** Concurrent calls of one key: as many as one listing accepts from a consumer. */
export const IN_FLIGHT_PER_KEY_MAX = 256
/** Concurrent calls of an ingress. At this number most are idle streams. */
export const IN_FLIGHT_PER_INGRESS_MAX = 10_000
/** Concurrent unauthenticated calls of an ingress. The rest is for callers with keys. */
export const IN_FLIGHT_STRANGERS_MAX = 2_500
/** Concurrent unauthenticated calls of one host. */
export const IN_FLIGHT_PER_HOST_MAX = 256
/** Request bodies and unread responses that an ingress holds, and as many of peers' calls at an owner. A machine of 1 GiB has room. */
export const HELD_BYTES_MAX = 256 * MiB
/** One key, one host, one peer, and all unauthenticated callers may each use one part in this many of `HELD_BYTES_MAX`. */
export const HELD_HOLDER_PART = 4
/** One unauthenticated host may use one part in this many of `HELD_BYTES_MAX`. */
export const HELD_STRANGER_PART = 16
/** Window in which a held body must make progress. */
export const BODY_WINDOW_MS = 10 * SECOND
/** Bytes of a held body that must arrive per `BODY_WINDOW_MS`: slower than any live link. */
export const BODY_WINDOW_BYTES_MIN = 16 * KiB
/** A response is held in memory this long for its client to read it. */
export const ANSWER_READ_MS = 30 * SECOND
/** Additional time to read a held response, per mebibyte. */
export const ANSWER_READ_MS_PER_MIB = 30 * SECOND
/** A client that reads nothing for this long is disconnected. */
export const READER_STALL_MS = 60 * SECOND
/** Calls of one host with the public demo key per `DEMO_CALLS_PER_HOST_MS`. */
export const DEMO_CALLS_PER_HOST = 60
/** Period in which demo calls of one host are counted. */
export const DEMO_CALLS_PER_HOST_MS = 1 * HOUR
/** Listings per front page. */
export const FRONT_PAGE_APIS = 20
/** One part of a front-page query. */
export const FRONT_QUERY_CHARS_MAX = 1_000
/** Shown part of a description. */
export const FRONT_DESCRIPTION_CHARS_MAX = 400
/** Levels of a schema in an example of a call. */
export const EXAMPLE_DEPTH_MAX = 4
/** Schemas that an example of a call is made of. A schema may contain itself. */
export const EXAMPLE_SCHEMAS_MAX = 60
/** Example of a call. Longer ones are not shown. */
export const EXAMPLE_CHARS_MAX = 600
/** Default page size of `/discovery/resources`. */
export const BAZAAR_PAGE = 20
/** Resources listed in all at `/discovery/resources`. */
export const BAZAAR_RESOURCES_MAX = 500
/** Cache time of the owners' offers at `/discovery/resources`. */
export const BAZAAR_FRESH_MS = 1 * MINUTE
/** Time limit of querying owners for `/discovery/resources`. */
export const BAZAAR_READ_MS = 10 * SECOND
/** Owners queried concurrently for `/discovery/resources`. */
export const BAZAAR_ASKED_AT_ONCE = 16
/** The example in a 402. Clients return it with the payment, which has a limit of its own. */
export const BAZAAR_EXAMPLE_CHARS_MAX = 512
/** Longest offer listed at `/discovery/resources`. */
export const BAZAAR_OFFER_CHARS_MAX = 8_192
/** Key changes by one host per `KEY_CHANGES_PER_HOST_MS`: a whole office rotates its keys. */
export const KEY_CHANGES_PER_HOST = 240
/** Period in which key changes of one host are counted. */
export const KEY_CHANGES_PER_HOST_MS = 1 * HOUR
/** Body sent to `/v1/account` and `/v1/keys`: an amount, a label, a hundred API ids. */
export const ACCOUNT_BODY_BYTES_MAX = 16 * KiB
/** Cache time of a domain's provider. */
export const SCOPE_FRESH_MS = 5 * MINUTE
/** Cache time of a domain without a provider. */
export const SCOPE_NEGATIVE_MS = 30 * SECOND
/** Cached domains. */
export const SCOPES_KNOWN_MAX = 1_000
/** Concurrent domain lookups. Unauthenticated callers choose the names. */
export const SCOPES_ASKED_AT_ONCE = 32
/** One DNS query. */
export const DNS_MS = 3 * SECOND
/** Segment of an ingress path: `name@provider`, percent-encoded. */
export const PATH_SEGMENT_CHARS_MAX = 256
/** Time between two looks at the files of the certificate. A renewed one is in use by then. */
export const CERTIFICATE_REREAD_MS = 1 * MINUTE
/** `souk doctor` warns of a certificate with less time left. Programs that renew certificates do so weeks before. */
export const CERTIFICATE_LEFT_MS_MIN = 7 * DAY
