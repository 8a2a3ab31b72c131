/**
 * Every limit of Souk. A limit has its unit in its name and its own reason above it; no other file defines one.
 * `test/lib/base/limits.spec.ts` checks the relations between limits. `docs/reference/limits.md` is generated from this file.
 */

const KiB = 1024
const MiB = 1024 * KiB
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const USDC = 1_000_000n

// ── One call ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
/** Sub-path and query of one call. Common servers stop at 8 KiB. */
export const PATH_BYTES_MAX = 8 * KiB
/** An x402 payment header: requirements, authorisation and the signature of a smart wallet. */
export const PAYMENT_CHARS_MAX = 8 * KiB
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
/** Connecting to an upstream. A reachable host accepts faster. */
export const UPSTREAM_CONNECT_MS = 5 * SECOND
/** Redirects followed per upstream request, same origin only. */
export const UPSTREAM_REDIRECTS_MAX = 3
/** Idle time after which a streamed response counts as dead. Heartbeats of event streams are far more frequent. */
export const STREAM_IDLE_MS = 5 * MINUTE

/** Retries of an idempotent API's request after a failed connection or a busy response. */
export const UPSTREAM_RETRIES_MAX = 2
/** Pause before each retry of an upstream request. */
export const UPSTREAM_RETRY_MS = 100
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

// ── The link ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Body sent inside its frame. A larger body gets its own stream, so that it cannot stall other calls. */
export const INLINE_BODY_BYTES_MAX = 64 * KiB
/** One frame: an inline body, all headers, a path, a payment, and 8 KiB for the rest. */
export const FRAME_BYTES_MAX = INLINE_BODY_BYTES_MAX + HEADER_BYTES_MAX + PATH_BYTES_MAX + PAYMENT_CHARS_MAX + 8 * KiB
/** Frames of one turn are written together. From this size on they are written at once. */
export const BATCH_BYTES_MAX = 64 * KiB
/** Queue of a slow link. New calls on it are refused above this size. */
export const LINK_QUEUE_BYTES_MAX = 4 * MiB
/** libp2p's own buffer. libp2p resets the stream above it, so our queue must stop first. */
export const LINK_BUFFER_BYTES_MAX = 8 * MiB
/** Yamux window of one stream: unacknowledged bytes of a streamed body. */
export const LINK_WINDOW_BYTES_MAX = 4 * MiB
/** Chunk of a streamed body: large enough to be cheap, small enough to share the link fairly. */
export const BULK_CHUNK_BYTES_MAX = 64 * KiB
/** Tag of a bulk stream: a request id and a few bytes. */
export const BULK_TAG_BYTES_MAX = 64
/** Concurrent calls of one peer: 50 ms of work at the measured 20,000 calls/s. */
export const IN_FLIGHT_PER_PEER_MAX = 1_024
/** Concurrent calls of one listing, without a queue. A modest upstream can process that many. */
export const IN_FLIGHT_PER_API_MAX = 512
/** Default of concurrent calls of one consumer at one listing. It leaves room for other consumers. */
export const IN_FLIGHT_PER_CONSUMER_MAX = 256
/** Timer tick of the event-loop monitor for admission control. */
export const LOAD_TICK_MS = 20
/** A later tick counts as overload. 256 concurrent calls of one key cause turns of at most 100 ms. */
export const LOAD_LATE_MS = 150
/** Late ticks in a row that start load shedding. */
export const LOAD_LATE_TICKS = 3
/** Delay within one turn above which requests are refused at once. */
export const LOAD_TURN_MS_MAX = 1 * SECOND
/** Target delay of a turn under overload. Refused requests wait half a turn (median). */
export const LOAD_TARGET_MS = 30
/** Load shedding ends after this time in which all requests could have been admitted. */
export const LOAD_CALM_MS = 1 * SECOND
/** Calls admitted per tick even under overload: an idle node on a busy machine refuses nothing. */
export const LOAD_ADMITTED_MIN = 16
/** Unsent responses to one peer before its calls are refused: two of the largest, with room for others. */
export const UNSENT_PER_PEER_BYTES_MAX = 32 * MiB
/** `Retry-After` of an overloaded node. Half of the running calls have ended by then. */
export const OVERLOAD_PAUSE_MS = 1 * SECOND
/** Calls of a rate limit, and its burst. Twice as many could not be counted exactly. */
export const RATE_CALLS_MAX = 100_000
/** Longest period of a rate limit. Longer periods are quotas. */
export const RATE_PER_MS_MAX = DAY
/** Default of failed calls of one consumer at one API: above a client's bug, below an endless loop. */
export const FAILURES_PER_CONSUMER_MAX = 1_000
/** Period in which the failed calls of one consumer are counted. */
export const FAILURES_PER_CONSUMER_MS = 1 * HOUR
/** A consumer node may fail this many times as often as one consumer, because it calls for many. */
export const FAILURES_PER_PEER = 20
/** Name of a rate limit in headers: `plan-` and a plan's id. */
export const RATE_POLICY_CHARS_MAX = 68
/** Consumers with their own rate counter at an owner. Newer ones share counters by consumer node. */
export const RATED_CONSUMERS_MAX = 65_536
/** Rate counters shared by consumers without their own. A flood by one node affects few others. */
export const RATE_SHARES = 1_024
/** Peers whose newest request id is kept in memory. Older ids are looked up in the books before the call runs. */
export const NEWEST_IDS_MAX = 10_000
/** Request ids from before an owner's start, and this long after it, are looked up too: clocks differ. */
export const REQUEST_ID_SKEW_MS = 5 * SECOND
/** Concurrent bulk streams with one peer. */
export const BULK_STREAMS_PER_PEER_MAX = 128
/** Open control streams of one peer: one each way, and one more each while it is replaced. */
export const CONTROL_STREAMS_PER_PEER_MAX = 4
/** Time from dialling to the peer's hello. */
export const HELLO_MS = 5 * SECOND
/** Time for a test network's nodes to connect. Test machines are often busy. */
export const TESTNET_JOIN_MS = 60 * SECOND
/** Wait for a bulk stream that a frame announced. */
export const BULK_OPEN_MS = 5 * SECOND
/** A call on a broken link is sent again for this long; then the caller gets `call_interrupted`. */
export const RESEND_MS = 5 * SECOND
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
/** Software name in a node's hello. */
export const AGENT_CHARS_MAX = 64
/** One small exchange, such as a manifest or a catalogue page. */
export const EXCHANGE_MS = 3 * SECOND
/** Longest pause between two attempts to reconnect a node without peers. */
export const REJOIN_MS = 5 * SECOND
/** First pause between two attempts to reconnect. It doubles up to `REJOIN_MS`. */
export const REJOIN_FIRST_MS = 250
/** Time between two checks of the network interfaces. A check takes under 1 ms. */
export const INTERFACES_CHECK_MS = 30 * SECOND
/** Time between two pings of a connection. Each ping opens a stream. */
export const HEARTBEAT_MS = 30 * SECOND
/** Time for a peer to respond to a ping. Closing a busy peer's connection would load it more. */
export const HEARTBEAT_ANSWER_MS = 10 * SECOND
/** Wait for the network at start. A node whose peers are all offline continues alone. */
export const JOIN_MS = 2 * SECOND
/** Time between two checks whether the directory has peers, because it sends no event. */
export const READY_POLL_MS = 5
/** Peers whose addresses are stored over a restart. */
export const CACHED_PEERS_MAX = 64
/** Time to send queued frames when a link stops. */
export const LINK_CLOSE_MS = 2 * SECOND
/** Wait for running calls when a node stops. */
export const DRAIN_MS = 10 * SECOND

/** Connections of one node. libp2p's default of 300 is low for an ingress. The least valuable one is closed first. */
export const CONNECTIONS_MAX = 512
/** Connections of one host: an IPv4 address, an IPv6 /64 or a relay. It takes 16 hosts to fill a node. */
export const CONNECTIONS_PER_HOST_MAX = 32
/** Connections of an IPv6 /48, which costs no more than one address and has 65,536 hosts. */
export const CONNECTIONS_PER_SITE_MAX = 128
/** New connections of one host. libp2p's 5 blocks a LAN behind one address. A handshake costs about 3 ms. */
export const CONNECTIONS_PER_HOST_PER_SECOND = 10
/** Hosts with a connection-rate counter. Above it, the least active one is dropped. */
export const CONNECTION_HOSTS_MAX = 10_000
/** Connections in handshake. */
export const CONNECTIONS_PENDING_MAX = 64
/** Connections in handshake of one host, which may never finish them. */
export const CONNECTIONS_PENDING_PER_HOST_MAX = 16
/** Handshake time, from the first byte to encrypted streams. */
export const CONNECTION_UPGRADE_MS = 10 * SECOND
/** Time for which a new connection is not closed to make room. */
export const CONNECTION_NEW_MS = 10 * SECOND
/** New connections that are protected from being closed. */
export const CONNECTIONS_NEW_MAX = 64
/** Time for an orderly close of a connection that makes room. */
export const CONNECTION_CLOSE_MS = 1 * SECOND
/** Peers remembered as trading partners: more than connect in a day. */
export const PEERS_VALUED_MAX = 10_000
/** Addresses dialled per peer. A malicious peer may list addresses of others. */
export const DIALS_PER_PEER_MAX = 8
/** Concurrent dials. A directory lookup dials a few at a time. */
export const DIALS_AT_ONCE = 32
/** Dials waiting in the queue. */
export const DIALS_WAITING_MAX = 256
/** Dial time per address. A peer with eight silent addresses must not block its caller for a minute. */
export const DIAL_ADDRESS_MS = 3 * SECOND
/**
 * Peers whose addresses libp2p keeps in memory. Identities are free to create, so the least recently seen is dropped.
 */
export const PEERS_STORED_MAX = 4_096
/** Directory records stored for other nodes: 40 MB at 2 KiB each. */
export const DHT_RECORDS_MAX = 20_000
/** Provider claims stored for other nodes. */
export const DHT_CLAIMS_MAX = 50_000
/** Provider claims stored for one key. */
export const DHT_CLAIMS_PER_KEY_MAX = 256
/** Provider claims stored for one peer. */
export const DHT_CLAIMS_PER_PEER_MAX = 4_000
/** Streams opened before a connection's setup is complete. */
export const EARLY_STREAMS_MAX = 64
/** Redials of a lost peer. */
export const RECONNECTS_MAX = 10

// ── Manifests and the directory ─────────────────────────────────────────────────────────────────────────────────────

/** A signed manifest: operations with their schemas. */
export const MANIFEST_BYTES_MAX = 256 * KiB
/** Validity of a signed manifest. Its provider must sign again afterwards. */
export const MANIFEST_TTL_MS = 30 * DAY
/** A directory record. Other peers store it, so it stays small. */
export const RECORD_BYTES_MAX = 2 * KiB
/** Default lifetime of a record. */
export const RECORD_TTL_MS = 2 * HOUR
/** Longest lifetime that a record may state. */
export const RECORD_TTL_MS_MAX = 24 * HOUR
/** Time between two puts of a record: republish before peers expire it. */
export const RECORD_REPUT_MS = 20 * MINUTE
/** One announcement of one API, all puts and provider records. */
export const ANNOUNCE_MS = 30 * SECOND
/** First pause after an announcement that no peer accepted. It doubles each time. */
export const ANNOUNCE_RETRY_MS = 1 * SECOND
/** Accepted clock difference: how far in the future a record may be issued. */
export const CLOCK_SKEW_MS = 5 * MINUTE
/** Record sequence numbers kept by the validator, to reject older records. */
export const RECORD_SEQ_MARKS_MAX = 65_536
/** Delegations in one record. More would not fit its size. */
export const DELEGATIONS_MAX = 8
/** Validity of a delegation to another node. */
export const DELEGATION_TTL_MS = 30 * DAY
/** Resolved APIs in the cache. */
export const RESOLUTIONS_MAX = 10_000
/** Age up to which a cached resolution is used without a lookup. */
export const RESOLUTION_FRESH_MS = 60 * SECOND
/** Age up to which a cached resolution is used while a lookup runs in the background. */
export const RESOLUTION_STALE_MS = 10 * MINUTE
/** Cache time of "no such API". Short, so that a new listing is found within seconds. */
export const RESOLUTION_NEGATIVE_MS = 2 * SECOND
/** One directory lookup, all steps. */
export const LOOKUP_MS = 5 * SECOND
/** Claimants of one bare name that are checked. */
export const CLAIMANTS_MAX = 16
/** Wait for further claimants after the first: several round trips. */
export const CLAIMANTS_MS = 1 * SECOND
/** Listings in the catalogue. */
export const CATALOGUE_MAX = 20_000
/** Listings of one publisher in the catalogue. */
export const CATALOGUE_PER_PUBLISHER_MAX = 200
/** Time for which a peer that sent invalid listings, or supports no catalogue, is not queried. */
export const CATALOGUE_DISTRUST_MS = 10 * MINUTE
/** Peers whose catalogue cursors are remembered. */
export const CATALOGUE_CURSORS_MAX = 4_096
/** Time between two rounds of background queries. Announcements are faster. */
export const CATALOGUE_PULL_MS = 60 * SECOND
/** Connected peers queried per background round. */
export const CATALOGUE_PULLED_PEERS = 4
/** Pause between a peer's connection and its first query, because many peers connect together. */
export const CATALOGUE_SETTLE_MS = 250
/** Time for which a peer that had nothing new is not queried again. It announces new listings. */
export const CATALOGUE_QUIET_MS = 60 * SECOND
/** Time for which a peer that did not respond is not queried again. */
export const CATALOGUE_SILENT_MS = 10 * SECOND
/** Invalid records per response before the rest is dropped. Honest peers also forward records with wrong clocks. */
export const CATALOGUE_REFUSED_MAX = 16
/** Records in one response of the catalogue exchange. */
export const CATALOGUE_RECORDS_MAX = 256
/** Manifests requested at once in the catalogue exchange. */
export const CATALOGUE_WANTED_MAX = 64
/** A request of the catalogue exchange: names and hashes. */
export const CATALOGUE_REQUEST_BYTES_MAX = 4 * KiB
/** Catalogue requests of one peer at once. */
export const CATALOGUE_REQUESTS_BURST = 256
/** Catalogue requests of one peer per second, after the burst. */
export const CATALOGUE_REQUESTS_PER_SECOND = 16
/** Manifest included in its announcement. Peers fetch a larger one. */
export const ANNOUNCED_MANIFEST_BYTES_MAX = 8 * KiB
/** An announcement: a record and an included manifest. */
export const ANNOUNCEMENT_BYTES_MAX = RECORD_BYTES_MAX + ANNOUNCED_MANIFEST_BYTES_MAX + 256
/** Announcements forwarded by one peer at once, its own included. */
export const ANNOUNCEMENTS_PER_PEER_BURST = 400
/** Announcements forwarded by one peer per second, after the burst. */
export const ANNOUNCEMENTS_PER_PEER_PER_SECOND = 20
/** Announcements of one publisher at once: all its listings. */
export const ANNOUNCEMENTS_PER_PUBLISHER_BURST = 200
/** Announcements of one publisher per second: each listing a few times an hour. */
export const ANNOUNCEMENTS_PER_PUBLISHER_PER_SECOND = 1
/** Age above which an announcement is not forwarded: all nodes have it by then. */
export const ANNOUNCEMENT_AGE_MS = 5 * MINUTE
/** Queue for a slow neighbour. Announcements above it are dropped; catalogue queries make up for them. */
export const GOSSIP_BUFFER_BYTES_MAX = 64 * ANNOUNCEMENT_BYTES_MAX
/** Topics in one gossip message. Souk uses one. */
export const GOSSIP_TOPICS_MAX = 16
/** Announcements in one gossip message. */
export const GOSSIP_MESSAGES_MAX = 500
/** Announcement ids in one gossip message. */
export const GOSSIP_IDS_MAX = 5_000
/** Memory for the topics of one neighbour. */
export const GOSSIP_TOPIC_BYTES_MAX = 20 * KiB
/** Tags with a remembered time of their last query. */
export const CATALOGUE_TAGS_MAX = 1_000
/** APIs with call statistics at this node. */
export const QUALITY_APIS_MAX = 5_000
/** Delay before call statistics are written, to combine writes. */
export const QUALITY_WRITE_MS = 5 * SECOND
/** Days in an owner's self-report, today included. */
export const SELF_REPORT_DAYS = 7
/** Fewest calls for a self-report: fewer have no p95. */
export const SELF_REPORT_CALLS_MIN = 20
/** Shortest time between two manifests signed for a new self-report. Each goes to every node. */
export const SELF_REPORT_AGE_MS = 1 * HOUR
/** Delay before the counts of a self-report are written. */
export const SELF_REPORT_WRITE_MS = 1 * MINUTE
/** A call that its caller cancelled counts as failed after this time, and not at all before. */
export const SELF_REPORT_PATIENCE_MS = 10 * SECOND
/** Accepted days in a self-report. */
export const SELF_REPORT_DAYS_MAX = 31
/** Accepted calls in a self-report. */
export const SELF_REPORT_CALLS_MAX = 10 ** 12
/** Accepted latency in a self-report. */
export const SELF_REPORT_MS_MAX = 10 * MINUTE
/** Average time between two probes by one node. A probe costs an exchange, sometimes a lookup. */
export const PROBE_PAUSE_MS = 30 * SECOND
/** Time between two probes of the same API. */
export const PROBE_AGAIN_MS = 5 * MINUTE
/** An API is probed for this long after somebody called or viewed it. */
export const PROBE_INTEREST_MS = 1 * DAY
/** APIs probed by one node. */
export const PROBED_APIS_MAX = 200
/** Time between two removals of expired listings. */
export const CATALOGUE_PRUNE_MS = 5 * MINUTE
/** Age of the catalogue above which a search queries peers first. */
export const CATALOGUE_FRESH_MS = 5 * SECOND
/** Age of the catalogue above which a search queries peers first, where announcements arrive. */
export const CATALOGUE_ANNOUNCED_FRESH_MS = 60 * SECOND
/** Wait of a search for the peers it queries. */
export const CATALOGUE_REFRESH_MS = 2 * SECOND
/** Listings in one page of an exchange or a search. */
export const PAGE_MAX = 100
/** After a failure, an owner is used only where no other serves the API, for this time. */
export const OWNER_COOLDOWN_MS = 10 * SECOND
/** Highest price of a call: the largest amount that `parseUsdc` reads. */
export const PRICE_ATOMS_MAX = 10n ** 15n
/** Forwarded addresses of one peer. A real node has a handful. */
export const ADDRESSES_PER_PEER_MAX = 16
/** Nodes considered per API. */
export const SERVERS_MAX = 16
/** A manifest request: a name, a provider id or a cursor. */
export const MANIFEST_REQUEST_BYTES_MAX = 1 * KiB
/** A manifest response: several small manifests, or one of the largest. */
export const MANIFEST_REPLY_BYTES_MAX = 1 * MiB
/** Signed bytes of all cached resolutions. A flood must not fill the memory. */
export const RESOLUTIONS_BYTES_MAX = 64 * MiB
/** Signed bytes of all listings in the catalogue. A flood must not fill the disk. */
export const CATALOGUE_BYTES_MAX = 256 * MiB
/** Peers queried per refresh of the catalogue. */
export const CATALOGUE_PEERS_MAX = 64
/** Peers queried concurrently in a refresh of the catalogue. */
export const CATALOGUE_PEERS_AT_ONCE = 16
/** Pages requested per peer and refresh. */
export const CATALOGUE_PAGES_MAX = 64
/** The catalogue shows an unconfirmed listing this long: the lifetime of a record. */
export const CATALOGUE_ENTRY_MS = 2 * HOUR
/** Concurrent directory lookups, each with up to three requests. With more, all of them would time out. */
export const DIRECTORY_WALKS_MAX = 32
/** Text of one search. */
export const SEARCH_CHARS_MAX = 200
/** An indexed word. A longer one is cut. */
export const TERM_CHARS_MAX = 64
/** Indexed words of one listing, operations included. */
export const TERMS_PER_LISTING_MAX = 2_000
/** Concurrent announcements of one listing. */
export const ANNOUNCEMENTS_AT_ONCE = 4

// ── Names and texts ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Length of a DNS label. Pattern: `[a-z0-9][a-z0-9-]{0,62}`. */
export const API_NAME_CHARS_MAX = 63
/** Description of a listing. */
export const DESCRIPTION_CHARS_MAX = 2_000
/** Tags of a listing. */
export const TAGS_MAX = 16
/** One tag. */
export const TAG_CHARS_MAX = 32
/** Operations of one listing. The largest known public WSDL has 1,500. */
export const OPERATIONS_MAX = 2_000

// ── Imports of descriptions ─────────────────────────────────────────────────────────────────────────────────────────

/** A regular expression of a provider or a description. */
export const PATTERN_CHARS_MAX = 4 * KiB
/** Instructions and ranges of an expanded pattern. Each costs 10 µs to compile and 20 ns per character matched. */
export const PATTERN_SIZE_MAX = 4_000
/** Unicode properties (`\p{…}`) in one pattern. Each takes up to 1 ms to compile. */
export const PATTERN_PROPERTIES_MAX = 64
/** Sizes of all patterns of one description: 100 MB of compiled programs. */
export const PATTERNS_SIZE_MAX = 200_000

/** Reading one description (OpenAPI, WSDL, GraphQL) in its own process. The largest public ones take seconds. */
export const DESCRIPTION_READ_MS = 20 * SECOND
/** Heap of the process that reads descriptions. An OpenAPI document of 5 MiB needs about half. */
export const DESCRIPTION_HEAP_MIB_MAX = 512
/** Descriptions waiting to be read. A restart queues `RESTORE_AT_ONCE_MAX`. */
export const DESCRIPTIONS_WAITING_MAX = 64
/** Idle time before the process that reads descriptions ends. It holds 50 MB; a start takes 0.2 s. */
export const DESCRIPTION_IDLE_MS = 30 * SECOND

/** A description that exceeded a limit is not reread automatically for this time, because others queue behind it. */
export const DESCRIPTION_REST_MS = 10 * MINUTE

/** Files of one WSDL, imports included. */
export const WSDL_FILES_MAX = 20
/** Bytes of one WSDL, imports included. */
export const WSDL_BYTES_MAX = 5 * MiB
/** Entries of a zip with a WSDL. Such zips also contain documents and samples. */
export const WSDL_ZIP_ENTRIES_MAX = 1_000
/** Schema definitions of a WSDL, indexed at start. 5 MiB of ordinary schemas contain 35,000. */
export const SCHEMA_DEFINITIONS_MAX = 50_000
/** Elements, attributes, values and members of all types of a WSDL, inherited ones counted each time. */
export const SCHEMA_PARTS_MAX = 1_000_000
/** Elements, attributes, values and members of one type of a WSDL, which is compiled in one step. */
export const SCHEMA_TYPE_PARTS_MAX = 20_000
/** Derivation steps of a type, and nested groups. Real schemas have up to 20. */
export const SCHEMA_DERIVATIONS_MAX = 100
/** An OpenAPI document as text. The largest public ones have 10 MB, most a tenth of that. */
export const OPENAPI_BYTES_MAX = 5 * MiB
/** Shortest time between two reads of an OpenAPI document from its URL, before it rejects a call. */
export const OPENAPI_FRESH_MS = 60 * SECOND
/** Shortest time between two revisions of a listing because its API's description changed. */
export const DESCRIPTION_RENEWED_MS = 60 * SECOND
/** Values of an OpenAPI document after YAML anchors are expanded, which can multiply a billion times. */
export const OPENAPI_NODES_MAX = 1_000_000
/** Characters of all strings of an OpenAPI document after YAML anchors are expanded. */
export const OPENAPI_CHARS_MAX = 2 * OPENAPI_BYTES_MAX
/** Nesting of an OpenAPI document as JSON. Real documents have a dozen schema levels of two or three each. */
export const OPENAPI_NESTING_MAX = 200
/** Schemas of one OpenAPI document. Real ones of 5 MiB have 40,000. */
export const OPENAPI_SCHEMAS_MAX = 100_000
/** Nesting of unnamed schemas. */
export const OPENAPI_DEPTH_MAX = 64
/** Parameters and body members of one operation. A body with more members becomes one field. */
export const OPERATION_FIELDS_MAX = 5_000
/** Schemas that check one operation's calls, as JSON. Larger ones generate too much code. */
export const CALL_SCHEMA_BYTES_MAX = 256 * KiB
/** Generated code that checks one operation's calls: ten times its schemas. */
export const CALL_CHECK_CHARS_MAX = 4 * MiB
/** Generated code that is cached for one API. */
export const CALL_CHECKS_CHARS_MAX = 16 * MiB
/** Schemas whose check code is generated when a document is read, to warn where that fails. Takes 0.5 s, 3 s at worst. */
export const CALL_CODES_TRIED_BYTES_MAX = 64 * KiB
/** Steps of a schema check in the main process, 20 ns each at worst. Larger checks run in the check process. */
export const CALL_CHECK_STEPS_MAX = 2_000_000
/** Time limit of one schema check in the check process. Generating its code counts too. */
export const CALL_CHECK_MS = 2 * SECOND
/** After a schema check timed out, calls of its API that need as many steps are refused for this time. */
export const CALL_CHECK_REST_MS = 30 * SECOND
/** Heap of the check process: a body of 10 MiB as JSON, several times. */
export const CALL_CHECK_HEAP_MIB_MAX = 384
/** Schema checks queued for the check process. */
export const CALL_CHECKS_WAITING_MAX = 32

/** Nesting of an XML document. More is an attack or a bug. */
export const XML_DEPTH_MAX = 128
/** One XML tag with its attributes. Parsers are slow on longer ones; real tags have a few hundred characters. */
export const XML_TAG_CHARS_MAX = 64 * KiB
/** Operations and JSON Schemas in a manifest. The manifest needs the rest. */
export const API_DESCRIPTION_BYTES_MAX = 192 * KiB
/** Detail of a SOAP fault. It is part of an error, which each hop holds whole. */
export const FAULT_DETAIL_BYTES_MAX = 8 * KiB
/** Shorter secrets are not redacted in responses, because they occur in any text ("1", "yes"). */
export const SECRET_CHARS_MIN = 4
/** SOAP document translated on the main thread in about 1 ms. A worker thread would add half of that. */
export const SOAP_INLINE_BYTES_MAX = 64 * KiB
/** Steps on the main thread: 50 ms at worst. A document that needs more moves to the worker thread. */
export const SOAP_INLINE_STEPS_MAX = 5_000_000
/** Steps on the worker thread: 5 s at worst. No other API waits for it. */
export const SOAP_STEPS_MAX = 500_000_000
/** Stored form of a WSDL: its files and their index. A node reads it at start. */
export const SOAP_SNAPSHOT_CHARS_MAX = 16 * MiB
/** Nodes and characters that references of one SOAP-encoded response expand to: the size of a response. */
export const SOAP_REFERENCED_MAX = 10 * MiB
/** Smaller binary content stays in the envelope with MTOM: a part's headers are as long. */
export const SOAP_MTOM_BYTES_MIN = 512
/** Attachments of one SOAP message. */
export const SOAP_ATTACHMENTS_MAX = 1_000
/** Items that a sparse SOAP-encoded array may skip at once. They become nulls in JSON. */
export const SOAP_ARRAY_GAP_MAX = 10_000
/** Default of tokens in one GraphQL document: ten times GraphiQL's introspection query. */
export const GRAPHQL_TOKENS_MAX = 5_000
/** Highest token limit a provider can set: 100 ms to parse and check. */
export const GRAPHQL_TOKENS_CEILING = 10_000
/** Nesting of one GraphQL document, fragments included. Checked before any recursive function runs. */
export const GRAPHQL_DEPTH_MAX = 64
/** Aliases of one GraphQL document. Each may run a field again. */
export const GRAPHQL_ALIASES_MAX = 100
/** Selections up to which Souk checks that fields merge, in quadratic time. Above it, only the API checks. */
export const GRAPHQL_MERGED_SELECTIONS_MAX = 300
/** Errors reported per GraphQL document. */
export const GRAPHQL_ERRORS_MAX = 10
/** A GraphQL schema in SDL. The largest public ones have 3 MB. */
export const GRAPHQL_SCHEMA_CHARS_MAX = 4 * MiB
/** Tokens of a GraphQL schema. Each takes 1 µs. */
export const GRAPHQL_SCHEMA_TOKENS_MAX = 250_000
/** Nesting in a schema: list types and default values. */
export const GRAPHQL_SCHEMA_DEPTH_MAX = 64
/** One name of a schema or document. Wrong names are compared with others for suggestions. */
export const GRAPHQL_NAME_CHARS_MAX = 200
/** Types of one union or interface. A document with two of them compares their types. */
export const GRAPHQL_MEMBERS_MAX = 5_000
/** Characters of all names compared with a wrong one. Above it, nothing is suggested. */
export const GRAPHQL_SUGGESTED_CHARS_MAX = 50_000
/** Shortest time between two reads of a schema, before it rejects a document. */
export const GRAPHQL_SCHEMA_FRESH_MS = 10 * SECOND
/** Checked documents cached per API. Clients repeat the same ones. */
export const GRAPHQL_DOCUMENTS_CACHED_MAX = 1_000
/** Characters of all checked documents cached per API. */
export const GRAPHQL_DOCUMENT_CHARS_CACHED_MAX = 4 * MiB
/** Documents persisted by hash (APQ). A client sends an evicted text again. */
export const GRAPHQL_PERSISTED_CHARS_MAX = 4 * MiB
/** Time for an API to reject a subscription before it counts as open and is charged. */
export const GRAPHQL_OPENING_MS = 250
/** Events queued for a slow reader. A WebSocket has no other backpressure. */
export const GRAPHQL_EVENTS_WAITING_MAX = 1_000
/** Characters of all events queued for a slow reader. */
export const GRAPHQL_EVENT_CHARS_WAITING_MAX = 4 * MiB
/** One event, or one part of an incremental response. It is held whole. */
export const GRAPHQL_EVENT_BYTES_MAX = 1 * MiB
/** Event streams that carry many operations ("single connection mode"). */
export const EVENT_STREAMS_MAX = 10_000
/** Event streams of one key that carry many operations: the tabs of a browser. */
export const EVENT_STREAMS_PER_KEY_MAX = 100
/** Concurrent operations of one event stream. */
export const EVENT_STREAM_OPERATIONS_MAX = 100
/** Wait of a reserved stream for its reader. */
export const EVENT_STREAM_RESERVED_MS = 30 * SECOND
/** Time between comments in a silent event stream, so that proxies keep it open. */
export const EVENTS_HEARTBEAT_MS = 15 * SECOND

/** Events per payment: little money ahead, but enough for a busy stream over a slow link. */
export const EVENTS_PAID_AT_ONCE_MAX = 64
/** Amount per payment, unless one event costs more. */
export const EVENTS_PAID_AT_ONCE_ATOMS = 10_000n
/** Events that a call pays for where the consumer set no limit. */
export const EVENTS_PAID_UNASKED_MAX = 1_000
/** Wait of an event for its payment. Then the stream ends. */
export const EVENT_PAYMENT_MS = 15 * SECOND
/** Wait of a payment for an event. Then its consumer sends another. */
export const EVENT_GRANT_MS = 60 * SECOND
/** Refused payments in a row that end the stream. */
export const EVENT_REFUSALS_MAX = 3
/** Events that one opening may include. */
export const EVENTS_INCLUDED_MAX = 1_000_000
/** One paid event of an SSE API. */
export const SSE_EVENT_BYTES_MAX = 1 * MiB

// ── Storage ─────────────────────────────────────────────────────────────────────────────────────────────────────────

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
/** Connecting to PostgreSQL. A dead host must not delay the next attempt. */
export const POSTGRES_CONNECT_MS = 3 * SECOND
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
/** Checks for a pooler that mixes connections. */
export const POOLER_ROUNDS = 3
/** Pause between two attempts to restore a `LISTEN` connection. */
export const POSTGRES_LISTEN_MS = 1 * SECOND
/** Time between two tests of a `LISTEN` connection: the cache time of shared data. */
export const POSTGRES_LISTEN_BEAT_MS = 5 * SECOND
/** Peer and API names with a cached row id. The cache is cleared above it. */
export const NAMES_CACHED_MAX = 10_000

// ── The ingress and the admin API ───────────────────────────────────────────────────────────────────────────────────

/** Consumer keys of one node. */
export const KEYS_MAX = 100_000
/** Keys of one account: a small company's programs. Ended keys are deleted first. */
export const KEYS_PER_ACCOUNT_MAX = 100
/** Cache time of the number of keys, which protects the disk only. */
export const KEYS_COUNTED_MS = 10 * SECOND
/** APIs that a key can be limited to. */
export const KEY_APIS_MAX = 100
/** Default time for which a rotated key stays valid, to replace it everywhere. */
export const KEY_OVERLAP_MS = DAY
/** Longest time for which a rotated key stays valid. */
export const KEY_OVERLAP_MS_MAX = 30 * DAY
/** Label of a key. */
export const LABEL_CHARS_MAX = 100
/** Body of an admin request: an escaped OpenAPI document, or WSDL files in base64. */
export const ADMIN_BODY_BYTES_MAX = 8 * MiB
/** Database pages copied per backup step (1 MiB). Writers wait for one step at most. */
export const BACKUP_STEP_PAGES = 256
/** Validity of a console setup code: time to open a browser and type it. */
export const SETUP_CODE_MS = 15 * MINUTE
/** Body of a request with a setup code. Anybody on this machine may send one. */
export const SESSION_BODY_BYTES_MAX = 1 * KiB
/** Attempts per setup code. Ten guesses at 2^40 codes succeed once in a hundred billion. */
export const SETUP_CODE_TRIES_MAX = 10
/** Lifetime of a console session. */
export const CONSOLE_SESSION_MS = 30 * DAY
/** Time for a stopping node to claim earnings: a few blocks of Base. */
export const SETTLE_ON_STOP_MS = 15 * SECOND
/** Connections of the admin API: one operator's browsers, scripts and event streams. */
export const ADMIN_CONNECTIONS_MAX = 1_024
/** Wait for running admin requests when a node stops. */
export const ADMIN_DRAIN_MS = 2 * SECOND
/** Reading an upstream at registration. A WSDL of many files from a slow server must pass. */
export const INSPECT_MS = 60 * SECOND
/** Part of a response that a test call shows. */
export const TRIAL_BODY_BYTES_MAX = 256 * KiB
/** Time for which a test call reads a stream. */
export const TRIAL_READ_MS = 5 * SECOND
/** APIs announced concurrently at start. One after the other would take minutes on a slow network. */
export const RESTORE_AT_ONCE_MAX = 8
/** Pause before an API that failed at start is tried again, such as a replica without its provider. */
export const RESTORE_RETRY_MS = 15 * SECOND
/** One check of `souk doctor`. */
export const DOCTOR_CHECK_MS = 10 * SECOND
/** Free space below which `souk doctor` warns: more than a busy node writes in a day. */
export const DISK_FREE_BYTES_MIN = 1024 * MiB
/** Higher ports tried where a port is in use. */
export const PORT_TRIES_MAX = 50
/** Cache time of an owner's payment options, short so that a new price shows. */
export const OFFER_FRESH_MS = 5 * SECOND
/** Cached payment options. */
export const OFFERS_CACHED_MAX = 10_000
/** Cached subscriptions by account and API. */
export const BINDINGS_CACHED_MAX = 20_000
/** Cached verified keys, so that a busy key needs no store lookup. */
export const KEYS_CACHED_MAX = 10_000
/** Cached pseudonyms of consumers. Each costs an HMAC. */
export const PSEUDONYMS_CACHED_MAX = 10_000
/** Shortest time between two writes of a key's last use. */
export const KEY_USE_MS = 1 * MINUTE
/** Cache time of data in a shared store. A change waits this long for a process that does not confirm it. */
export const SHARED_FRESH_MS = 5 * SECOND
/** Accounts that one host may open per `ACCOUNTS_PER_HOST_MS`: enough for an office, too few to fill a disk. */
export const ACCOUNTS_PER_HOST = 10
/** Period in which the new accounts of one host are counted. */
export const ACCOUNTS_PER_HOST_MS = 1 * HOUR
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
/** Request bodies and unread responses that an ingress holds. A machine of 1 GiB still has room. */
export const HELD_BYTES_MAX = 256 * MiB
/** One key, one host, and all unauthenticated callers may each use one part in this many of `HELD_BYTES_MAX`. */
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
/** Time for all headers of a request. Slower clients are attacks. */
export const HEADERS_RECEIVE_MS = 15 * SECOND
/** Time for a whole request: 10 MB over a slow mobile link. */
export const REQUEST_RECEIVE_MS = 120 * SECOND
/** Idle time of a kept connection. Common load balancers close theirs after 60 s. */
export const KEEP_ALIVE_MS = 72 * SECOND
/** Connections of an HTTP server, 20 KiB each. Idle ones are closed first. */
export const HTTP_CONNECTIONS_MAX = 8_192
/** HTTP connections of one host: an office behind one address. */
export const HTTP_CONNECTIONS_PER_HOST_MAX = 1_024
/**
 * Listening sockets on an ingress's port. A turn accepts one connection per socket; with one socket, a thousand clients
 * wait for seconds.
 */
export const ACCEPTORS_MAX = 64
/** Rest of a refused request that is read to keep the connection. A longer rest closes it. */
export const DISCARD_BYTES_MAX = 64 * KiB
/** A closing connection is read this long, so that an uploading client gets the response and no reset. */
export const LINGER_MS = 2 * SECOND
/** Time between two closings of idle connections while a server drains. */
export const DRAIN_SWEEP_MS = 50

// ── Agents and events ────────────────────────────────────────────────────────────────────────────────────────────────

/** Name of an MCP tool. Clients and models accept no longer ones. */
export const MCP_NAME_CHARS_MAX = 64
/** APIs whose operations become tools. A model chooses badly among more. */
export const MCP_APIS_MAX = 32
/** Tools of one API. */
export const MCP_TOOLS_PER_API_MAX = 64
/** All tools. A model pays for reading each. */
export const MCP_TOOLS_MAX = 256
/** Resolving one API for the list of tools. A slow one is left out. */
export const MCP_LOOKUP_MS = 5 * SECOND
/** Cache time of the list of tools, as clients are told. Prices may change with each revision. */
export const MCP_LIST_FRESH_MS = 1 * MINUTE
/** Description of a tool, which a model reads before every choice. */
export const MCP_DESCRIPTION_CHARS_MAX = 1_000
/** Outline of a GraphQL schema in a description. */
export const MCP_OUTLINE_CHARS_MAX = 6_000
/** Schema shown with its tool. Larger ones are shown on request. */
export const MCP_SCHEMA_BYTES_MAX = 32 * KiB
/** Depth of a declared output schema. */
export const MCP_SCHEMA_DEPTH_MAX = 16
/** Nodes of a declared output schema. */
export const MCP_SCHEMA_NODES_MAX = 1_000
/** Response as a tool result: more than a model reads. */
export const MCP_ANSWER_BYTES_MAX = 256 * KiB
/** Wait of a tool for the end of a streamed response. */
export const MCP_STREAM_MS = 30 * SECOND
/** Message of an agent: a call's body and the protocol around it. */
export const MCP_MESSAGE_BYTES_MAX = REQUEST_BYTES_MAX + 64 * KiB
/** Recent events stored for readers that reconnect, and the same number of calls. */
export const EVENTS_KEPT_MAX = 256
/** Requests stored for repeating them from the console. */
export const CAPTURED_CALLS_MAX = 100
/** Longest request body stored for repeating: a form, not a file. */
export const CAPTURED_BODY_CHARS_MAX = 16 * KiB
/** Minutes of call statistics: two hours in detail. */
export const SERIES_MINUTES_MAX = 120
/** Quarter-hours of call statistics: a week. */
export const SERIES_QUARTERS_MAX = 7 * 24 * 4
/** Concurrent readers of the event stream, all on one machine. */
export const EVENT_READERS_MAX = 16
/** Webhooks of one node. An event goes to all of them at once. */
export const WEBHOOKS_MAX = 20
/** URL of a webhook. */
export const WEBHOOK_URL_CHARS_MAX = 2_000
/** Events queued for one webhook: the days until it is disabled, at a busy node. */
export const WEBHOOK_QUEUE_MAX = 1_000
/** Concurrent deliveries to one webhook. */
export const WEBHOOK_AT_ONCE = 4
/** One delivery. Standard Webhooks recommends 15 to 30 s. */
export const WEBHOOK_TIMEOUT_MS = 20 * SECOND
/** Pauses between delivery attempts, from Standard Webhooks: two and a half days in all. */
export const WEBHOOK_RETRY_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  24 * HOUR
]
/** Longest time between two checks for due deliveries, and the precision of a delivery's time. */
export const WEBHOOK_LOOK_MS = 1 * MINUTE
/** A webhook's old secret signs beside the new one for this time. */
export const WEBHOOK_OVERLAP_MS = DAY
/** Balance of an account at which a warning is sent, with some calls left. */
export const ACCOUNT_LOW_ATOMS = USDC / 10n
/** Balance of the wallet at which a warning is sent. */
export const WALLET_LOW_ATOMS = USDC
/** Time between two checks of the wallet and of final transactions: one chain request. */
export const MONEY_LOOK_MS = 5 * MINUTE
/** Used part of a key's daily cap at which a warning is sent. */
export const CAP_NEARLY_PERCENT = 85n

// ── Plans and subscriptions ──────────────────────────────────────────────────────────────────────────────────────────

/** Plans of one listing, closed ones included. */
export const PLANS_MAX = 16
/** Name of a plan. */
export const PLAN_NAME_CHARS_MAX = 63
/** Description of a plan. */
export const PLAN_DESCRIPTION_CHARS_MAX = 500
/** Price tiers of one plan. */
export const PLAN_TIERS_MAX = 8
/** Calls of a period or a tier. Every format can represent this number. */
export const PLAN_CALLS_MAX = 1_000_000_000_000
/** Days of a trial. A longer one is a free plan. */
export const TRIAL_DAYS_MAX = 90
/** Highest major version of a listing. */
export const MAJOR_MAX = 1_000
/** Shortest time for which subscribers keep terms that the provider changed. */
export const TERMS_KEPT_MS = 14 * DAY
/** Shortest time between a deprecation notice and the end of the listing. */
export const SUNSET_MS_MIN = 30 * DAY
/** The name of a retired listing stays reserved this long, and its callers get `api_retired`. */
export const TOMBSTONE_MS = 180 * DAY
/** URL in a deprecation notice. */
export const LINK_CHARS_MAX = 500
/** Pseudonym of a subscription's account, as its owner sees it. */
export const ACCOUNT_PSEUDONYM_CHARS_MAX = 64
/** Additional nodes that may call with one subscription. */
export const SUBSCRIPTION_PEERS_MAX = 8
/** Message about a subscription: a full plan and a few names. */
export const SUBSCRIPTION_BODY_BYTES_MAX = 16 * KiB
/** A renewal within period/24 after the end continues the period; a later one starts a new period. */
export const RENEWAL_GRACE_PART = 24
/** Cached subscription records. */
export const SUBSCRIPTIONS_CACHED_MAX = 10_000
/** Cache time of a subscription that another process may change. */
export const SUBSCRIPTION_FRESH_MS = 1 * SECOND
/** Calls that one replica reserves at once from a shared quota. */
export const QUOTA_SLICE_MAX = 64
/** A replica reserves at most one part in this many of the remaining quota. */
export const QUOTA_SLICE_PART = 16
/** Attempts to change a shared count under contention. */
export const REPLACE_TRIES_MAX = 50

// ── Money ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The day of a daily cap, in UTC. */
export const DAY_MS = DAY
/** Leases of a daily cap. A restart loses one at most. */
export const CAP_LEASES = 10n
/** Delay of a payer's asynchronous writes. After a crash, the owner's books recover them. */
export const PAYER_WRITE_MS = 100
/** Peers whose last voucher is cached, so that the calls of a window need no new parse. */
export const VOUCHERS_CACHED_MAX = 10_000
/** Receipt signatures checked per round; of more receipts, a sample. This costs 1% of a core. */
export const RECEIPTS_CHECKED_MAX = 16
/** Pause between two rounds of signature checks. */
export const RECEIPTS_CHECK_MS = 100
/** A busy owner signs receipts once per this time: a thousand signatures a second cost 5% of a core. */
export const RECEIPTS_SIGN_MS = 1
/** A busy owner also signs when one in this many running calls waits for a receipt. */
export const RECEIPTS_SIGNED_PART = 4
/** Cached addresses of splitters. */
export const SPLITTERS_CACHED_MAX = 1_000
/** Entries waiting for a payer's asynchronous write. */
export const PAYER_ENTRIES_MAX = 1_024
/** Receipts of one page. */
export const RECEIPTS_PAGE_MAX = 1_000
/** Records read per page. Free and failed calls have no receipt. */
export const RECEIPT_RECORDS_READ_MAX = 20_000
/** Pause after a failed top-up of a channel. */
export const TOP_UP_PAUSE_MS = 30 * SECOND
/** Calls signed for in advance: one signature for many calls of a busy link. */
export const WINDOW_CALLS = 20
/** Amount signed for in advance, where that is less. */
export const WINDOW_ATOMS = USDC / 100n
/** Unearned money at one owner, calls in flight and window together. */
export const EXPOSURE_ATOMS_MAX = 1n * USDC
/** Default price limit of one call. */
export const CALL_PRICE_ATOMS_MAX = USDC / 20n
/** Default daily limit of a node: ten keys at their limit. */
export const DAILY_ATOMS_MAX = 10n * USDC
/** Default daily limit of one key. */
export const KEY_DAILY_ATOMS_MAX = 1n * USDC
/** Price limit of a call with the public demo key. */
export const DEMO_PRICE_ATOMS_MAX = USDC / 100n
/** Daily cost of all demo calls to the operator. */
export const DEMO_DAILY_ATOMS_MAX = USDC / 4n
/** Slices of a key's daily cap. Each is stored before it is spent, so that calls need not wait for each other. */
export const KEY_CAP_SLICES = 20n
/** An idle slice is returned after this time, for other processes. */
export const SLICE_IDLE_MS = 5 * SECOND
/** Pause before a process reserves in advance again, after no slice of a daily cap was free. */
export const SLICE_PAUSE_MS = 1 * SECOND
/** Amount that one process reserves of an account's balance at once. */
export const ACCOUNT_SLICE_ATOMS_MAX = USDC / 4n
/** A process reserves at most one part in this many of the balance. */
export const ACCOUNT_SLICE_PART = 8n
/** Smallest deposit into an account. Each costs the operator gas. */
export const ACCOUNT_DEPOSIT_ATOMS_MIN = USDC / 2n
/** Largest deposit into an account. */
export const ACCOUNT_DEPOSIT_ATOMS_MAX = 1_000n * USDC
/** Smallest withdrawal from an account, unless it takes the whole balance. */
export const ACCOUNT_WITHDRAWAL_ATOMS_MIN = USDC / 2n
/** Deposits of one account per UTC day. The operator pays their gas until a withdrawal does. */
export const ACCOUNT_DEPOSITS_MAX = 20
/** Withdrawals of all accounts per UTC day at the operator's gas, one per account: under a dollar on Base. */
export const FREE_WITHDRAWALS_MAX = 100
/** Deposits whose gas is free with a free withdrawal. Customers top up now and then. */
export const FREE_DEPOSITS_MAX = 3
/** Time between two heartbeats of a process that holds shared reservations. */
export const HOLDER_BEAT_MS = 10 * SECOND
/** A process's reservations are released after this time without a heartbeat. */
export const HOLDER_MS = 1 * MINUTE
/** Delay of a payer's withdrawal. An owner's machine may be offline for a night. */
export const WITHDRAW_DELAY_S = 24 * 60 * 60
/** Shortest delay that the contract allows. */
export const WITHDRAW_DELAY_S_MIN = 15 * 60
/** Longest delay that the contract allows. */
export const WITHDRAW_DELAY_S_MAX = 30 * 24 * 60 * 60
/** Longest delay that a payer accepts. An owner can block the deposit for that long. */
export const WITHDRAW_DELAY_AGREED_S_MAX = 7 * 24 * 60 * 60
/** A chain query is valid for one part in this many of a channel's delay. A later one could miss a withdrawal. */
export const CHAIN_VIEW_PART = 4
/** Default deposit. Submitting it costs the owner gas. */
export const DEPOSIT_ATOMS_MIN = USDC / 2n
/** Largest first deposit that an owner can ask for. */
export const DEPOSIT_ATOMS_MAX = 20n * USDC
/** A channel is topped up in the background when less than one part in this many of its deposits remains. */
export const TOP_UP_PART = 5n
/** Validity of a deposit's authorisation. */
export const DEPOSIT_VALID_MS = 1 * HOUR
/** Remaining validity of a deposit's authorisation when an owner receives it. */
export const DEPOSIT_MARGIN_MS = 2 * MINUTE
/** An owner waits this long for a deposit to be mined, a few blocks of Base, before it responds "pending". */
export const DEPOSIT_WAIT_MS = 10 * SECOND
/** One exchange about payments, `DEPOSIT_WAIT_MS` included. */
export const PAY_EXCHANGE_MS = 15 * SECOND
/** Message about payments: addresses, hashes and one signature. */
export const PAY_MESSAGE_BYTES_MAX = 2 * KiB
/** Wait for running calls when a channel closes: the longest call. */
export const CLOSE_CALLS_MS = UPSTREAM_TIMEOUT_MS_MAX + 5 * SECOND
/** A payer tries to close a channel this long: the running calls, and some blocks. */
export const CLOSE_MS = CLOSE_CALLS_MS + 1 * MINUTE
/** Time between two checks of calls and chain while a channel closes. */
export const LEAVE_POLL_MS = 2 * SECOND
/** Time between two checks of a closing channel where nothing can change soon, and the pause after a failure. */
export const LEAVE_PAUSE_MS = 1 * MINUTE
/** Closed channels that an owner remembers. It treats others as unknown. */
export const CLOSED_CHANNELS_KEPT_MAX = 10_000
/** A call waits this long for other calls of its owner to end when the exposure limit is reached. */
export const EXPOSURE_WAIT_MS = 5 * SECOND
/** Channels of one peer at one owner, one for each of its providers. */
export const CHANNELS_PER_PEER_MAX = 8
/** Channels of all peers at one owner. */
export const CHANNELS_MAX = 100_000
/** Salt counters tried for a new channel. A payer that lost its books may reuse old ones. */
export const COUNTERS_TRIED_MAX = 100
/** Depth of the Merkle tree of receipts signed together: as many as a commit has. */
export const RECEIPT_PATH_MAX = 12
/** Part of one channel's deposit that counts in the newest block, which may be reverted. */
export const COUNTED_LATEST_ATOMS_MAX = 1n * USDC
/** Part of all deposits at one owner that counts in the newest block. */
export const COUNTED_LATEST_OWNER_ATOMS_MAX = 20n * USDC
/** Part of one channel's deposit that counts in a `safe` block. The rest waits for `finalized`. */
export const COUNTED_SAFE_ATOMS_MAX = 25n * USDC

/** Lowest price paid by its own transaction, which costs about $0.001 of gas on Base. */
export const EXACT_ATOMS_MIN = USDC / 50n
/** Validity of an x402 payment's signature. */
export const PAYMENT_VALID_S = 300
/** Remaining validity of an x402 payment when its call begins: the longest call. */
export const PAYMENT_MARGIN_MS = 150 * SECOND
/** A response paid by x402 is stored for repeats this long. The payment's signature is public by then. */
export const PAYMENT_REPLAY_MS = 1 * HOUR
/** A call waits this long for its payment to be mined, a few blocks of Base, before it responds "pending". */
export const COLLECT_WAIT_MS = 10 * SECOND
/** Pause after a payment could not be sent for lack of gas or an endpoint. */
export const COLLECT_RETRY_MS = 15 * SECOND
/** Oldest transfer sent by somebody else that counts as a new payment: half of `PAYMENT_REPLAY_MS`. */
export const FOREIGN_TRANSFER_MS = PAYMENT_REPLAY_MS / 2
/** Oldest transfer sent by somebody else that counts as a deposit into an account: as far back as logs are read. */
export const DEPOSIT_LOOK_MS = 1 * DAY
/** Searches for a transfer before its payment counts as lost. An endpoint's logs may lag behind its state. */
export const TRANSFER_LOOKS_MAX = 5
/** Blocks per log query. Public endpoints limit this. */
export const LOG_BLOCKS_MAX = 500n
/** Log queries per search: a day of Base in all. */
export const LOG_READS_MAX = 100
/** Uncollected x402 payments. Below `SUBMISSIONS_WAITING_MAX`, so that claims find room. */
export const PAYMENTS_UNSETTLED_MAX = 200

// ── The chain ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** One request to a chain endpoint. Public ones respond within a second or not at all. */
export const CHAIN_REQUEST_MS = 10 * SECOND
/** Requests in one batch. Public endpoints refuse larger ones. */
export const CHAIN_BATCH_MAX = 50
/** Channels per contract read: 2 million gas of the 50 million that endpoints allow. */
export const CHANNELS_PER_READ_MAX = 200
/** Stored part of a revert message. */
export const REVERT_CHARS_MAX = 200
/** Wait of an operator command for its transaction. */
export const MINED_MS = 2 * MINUTE
/** Time between two checks for an operator's transaction. Base has a block every 2 s. */
export const MINED_POLL_MS = 1 * SECOND
/** Unmined transactions. Endpoints keep 16 per account for certain; a stuck one blocks all after it. */
export const SUBMISSIONS_IN_FLIGHT_MAX = 8
/** Queued transactions: a few minutes at a block every 2 s. */
export const SUBMISSIONS_WAITING_MAX = 256
/** Finished transactions remembered for repeats. Afterwards only the contracts reject repeats. */
export const SUBMISSIONS_KEPT_MAX = 1_000
/** Time between two checks of unmined transactions. */
export const SUBMIT_POLL_MS = 1 * SECOND
/** Time between two checks of mined transactions that may be reverted. */
export const FINAL_POLL_MS = 10 * SECOND
/** Mined transactions checked together: one request to the endpoint. */
export const RECHECKED_AT_ONCE = 40
/** Pause before the same transaction is sent again, because endpoints lose their pools. */
export const REBROADCAST_MS = 15 * SECOND
/** An unmined transaction gets a higher fee after this time. */
export const STUCK_MS = 30 * SECOND
/** Fee increases of one transaction. Sixteen steps of 1/8 give six times the first fee. */
export const FEE_BUMPS_MAX = 16
/** Highest fee per gas, in wei: a thousand times Base's usual fee. A malicious endpoint cannot empty the account. */
export const FEE_WEI_MAX = 20_000_000_000n
/** Gas added to the usual quarter of reserve, for small transactions. */
export const GAS_SPARE = 20_000n
/** Gas of one transaction (EIP-7825). */
export const TRANSACTION_GAS_MAX = 2n ** 24n
/** Time between two reads of channels from the chain. A withdrawal takes at least 15 minutes. */
export const WATCH_POLL_MS = 5 * SECOND
/** Channels per read: five contract calls. With more channels, the longest unread come first. */
export const WATCHED_AT_ONCE = 1_000
/** Channels claimed in one transaction: 90 kB of the 128 kB that nodes accept, 4.3 million gas. */
export const CLAIM_ROWS_MAX = 200
/** Simulations per round to find rows that the contract rejects. The next round continues. */
export const CLAIM_TRIALS_MAX = 100
/** A channel with a rejected row is left out of claims this long. */
export const REFUSED_ROW_MS = 10 * MINUTE
/** Attempts of a step that passed its simulation but failed on chain. */
export const REDEEM_TRIES_MAX = 3
/** Amount at which earnings are claimed. A whole round costs less than a cent on Base. */
export const REDEEM_ATOMS = 5n * USDC
/** Age at which earnings are claimed. */
export const REDEEM_AGE_MS = DAY
/** Time between two checks for final claims, settlements and payouts. */
export const BOOKS_POLL_MS = 1 * MINUTE
/** Providers read per turn: three requests each in one batch. */
export const PROVIDERS_READ_AT_ONCE = 16
/** Transactions listed in the earnings, per provider and in all. */
export const SETTLEMENTS_SHOWN_MAX = 10
/** Gas limit of a claim of one row. */
export const CLAIM_GAS = 110_000n
/** Gas limit of each further row. */
export const CLAIM_ROW_GAS = 25_000n
/** Gas limit of settling. */
export const SETTLE_GAS = 90_000n
/** Gas limit of a first payout. */
export const DISTRIBUTE_GAS = 220_000n
/** Gas limit of collecting a deposit. */
export const DEPOSIT_GAS = 150_000n
/** Gas limit of a refund. */
export const REFUND_GAS = 100_000n
/** Gas limit of a signed transfer into the wallet. */
export const WALLET_DEPOSIT_GAS = 86_000n
/** Gas limit of a transfer from the wallet. */
export const WALLET_TRANSFER_GAS = 65_000n
/** Gas of a withdrawal, start and end together. */
export const WITHDRAW_GAS = 260_000n
/** An owner accepts a channel only with gas for this many claims. */
export const CLAIMS_IN_HAND_MIN = 3n
/** Transactions per UTC day that an owner pays for a payer or node beyond its earnings. A new user may leave twice. */
export const UNEARNED_STEPS_MAX = 2
/** Cost per UTC day of all transactions that an owner pays for beyond earnings: about 200 on Base. */
export const UNEARNED_GAS_ATOMS_MAX = 3n * USDC
/** Transactions beyond earnings that an owner pays for at any gas price, so that a new user can always leave. */
export const UNEARNED_STEPS_MIN = 10
/** Nodes and payers counted per day for transactions beyond earnings. Further ones get none. */
export const UNEARNED_NAMES_MAX = 10_000
/** Assumed price of an ether for gas decisions. Too high on purpose, because waiting is free. */
export const ETHER_ATOMS = 5_000n * USDC

// ── The process ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Time the event loop may block before the watchdog ends the process. No call takes a tenth of it. */
export const WATCHDOG_MS = 30 * SECOND
/** Longest watchdog limit that can be set, in seconds. */
export const WATCHDOG_S_MAX = 3_600
/** Watchdog ticks per limit: one a second. */
export const WATCHDOG_TICKS = 30
/** A tick later than this many ticks is ignored: the process was stopped or the machine slept. */
export const WATCHDOG_LATE_TICKS = 2
/** Factor of the limit at start. A schema migration of a large database blocks for minutes. */
export const WATCHDOG_START_FACTOR = 20
/** Wait for the main thread's stack. Native code cannot be interrupted. */
export const WATCHDOG_STACK_MS = 5 * SECOND
/** Innermost stack frames that are logged. */
export const WATCHDOG_FRAMES_MAX = 12
/** Length of a function name in that log. */
export const WATCHDOG_NAME_CHARS_MAX = 80
/** Time for stderr and exit(3) before the process is killed. */
export const WATCHDOG_EXIT_MS = 5 * SECOND
/** Heap of the watchdog thread. The inspector reports every loaded script to it. */
export const WATCHDOG_HEAP_MB_MAX = 32
/** A commit that takes longer is logged. An idle disk takes a hundredth of it, and each paid call waits for one. */
export const SLOW_COMMIT_MS = 250
/** Characters of an error in a log line. Its text may contain a name from outside. */
export const LOGGED_REASON_CHARS_MAX = 500
/** Characters of `--log`. Souk has a dozen logs and libp2p some dozens. */
export const LOG_NAMES_CHARS_MAX = 1_000
