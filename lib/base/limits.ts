/**
 * Every limit of Souk, with its unit in the name and its reason beside it. Nothing else in the code carries a bound of its
 * own; `test/lib/base/limits.spec.ts` asserts the relations between neighbours, `docs/reference/limits.md` is held to this file.
 */

const KiB = 1024
const MiB = 1024 * KiB
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const USDC = 1_000_000n

// ── One call ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A request body, unless the listing raises it. JSON calls are small; a larger default would only help a flood. */
export const REQUEST_BYTES_MAX = 1 * MiB
/** The largest body that is ever held whole: a listing cannot raise JSON past it. */
export const REQUEST_BYTES_CEILING = 10 * MiB
/** What a listing may raise bodies to that are passed on as they arrive: files, which nobody holds. */
export const UPLOAD_BYTES_CEILING = 1024 * MiB
/** A response that is held whole. Streams are not bounded, they are counted. */
export const RESPONSE_BYTES_MAX = 10 * MiB
/** Nesting of a JSON body: far past real use, far below what overflows a parser's stack. */
export const JSON_DEPTH_MAX = 64
/** Nesting of a JSON response. Parsers and writers of common languages overflow not far past it: PHP refuses 512, Python about 1,000. */
export const RESPONSE_JSON_DEPTH_MAX = 512
/** All headers of one HTTP request, either way. Node's own default. */
export const HEADER_BYTES_MAX = 16 * KiB
/** Sub-path and query of one call. Common servers stop at 8 KiB. */
export const PATH_BYTES_MAX = 8 * KiB
/** A payment as a header of x402: requirements, authorisation and one signature, that of a smart wallet with room. */
export const PAYMENT_CHARS_MAX = 8 * KiB
/** The name by which a provider knows one of a consumer node's accounts: 128 bits, which nobody guesses. */
export const CONSUMER_BYTES = 16
/** An `Idempotency-Key`, as the IETF draft's implementations bound it. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255

/** How long an upstream may take when neither the call nor the listing says. */
export const UPSTREAM_TIMEOUT_MS = 30 * SECOND
/** The longest a listing or a consumer may ask for. */
export const UPSTREAM_TIMEOUT_MS_MAX = 120 * SECOND
/** The shortest deadline worth sending: below it the call could not cross a link and back. */
export const DEADLINE_MS_MIN = 1
/** Taken off the remaining time at each hop, so that the inner party gives up first and its own error is what is seen. */
export const DEADLINE_HOP_MS = 20
/** Headers of an upstream's answer after connecting are waited for as long as the call; connecting itself is not. */
export const UPSTREAM_CONNECT_MS = 5 * SECOND
/** Redirects an upstream may send us through, same origin only. */
export const UPSTREAM_REDIRECTS_MAX = 3
/** Idle time on a streamed response before it counts as dead: server-sent events heartbeat far more often. */
export const STREAM_IDLE_MS = 5 * MINUTE

/** Requests of an idempotent API that are sent again after its connection failed or it was busy, and the pause before each. */
export const UPSTREAM_RETRIES_MAX = 2
export const UPSTREAM_RETRY_MS = 100
/** Failures in a row after which an API is left alone, and how long: calls then fail at once, and other owners are tried. */
export const UPSTREAM_FAILURES_MAX = 20
export const UPSTREAM_BREAK_MS = 5 * SECOND
/** One request for an access token. */
export const TOKEN_REQUEST_MS = 10 * SECOND
/** An access token is renewed so long before it ends, or at nine tenths of its life where that is later. */
export const TOKEN_RENEW_MS = 60 * SECOND
/** Life of an access token whose server does not say. */
export const TOKEN_LIFE_MS = 5 * MINUTE
/** The answer of a token server. Tokens themselves travel in a header. */
export const TOKEN_REPLY_BYTES_MAX = 64 * KiB
/** Silence on a stream of events after which a comment keeps proxies on the way from ending it: they wait a minute or more. */
export const SSE_HEARTBEAT_MS = 15 * SECOND
/** Events that a provider may let be collected for one answer, and for how long. The bytes are bounded as for any answer. */
export const SSE_EVENTS_MAX = 10_000
export const SSE_COLLECT_MS_MAX = 60 * SECOND
/** Between two looks at an API that says how it is, and the failures in a row after which its listing is paused. */
export const HEALTH_PROBE_MS = 15 * SECOND
export const HEALTH_FAILURES_MAX = 3
/** Headers that a provider may let through beyond those that always are. */
export const EXTRA_HEADERS_MAX = 32

// ── The link ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A body up to this rides inside its frame; past it, on a stream of its own, so that it cannot stall other calls. */
export const INLINE_BODY_BYTES_MAX = 64 * KiB
/** One frame: an inline body, all headers, a path, a payment, and room for the rest. */
export const FRAME_BYTES_MAX = INLINE_BODY_BYTES_MAX + HEADER_BYTES_MAX + PATH_BYTES_MAX + PAYMENT_CHARS_MAX + 8 * KiB
/** Frames of one turn leave together; past this they leave at once. */
export const BATCH_BYTES_MAX = 64 * KiB
/** What may wait in memory for a slow link before new calls on it are refused. */
export const LINK_QUEUE_BYTES_MAX = 4 * MiB
/** libp2p's own buffer under ours; past it libp2p resets the stream, so ours must stop first. */
export const LINK_BUFFER_BYTES_MAX = 8 * MiB
/** Yamux window of one stream: how much of a streamed body may be on its way. */
export const LINK_WINDOW_BYTES_MAX = 4 * MiB
/** Chunk of a streamed body: large enough to be cheap, small enough to share the link fairly. */
export const BULK_CHUNK_BYTES_MAX = 64 * KiB
/** What names a bulk stream: a request id and a few bytes. */
export const BULK_TAG_BYTES_MAX = 64
/** Calls in flight from one peer. At the measured 20,000 calls/s of a busy pair this is 50 ms of work. */
export const IN_FLIGHT_PER_PEER_MAX = 1_024
/** Calls in flight at one listing: what a modest upstream takes, and no queue behind it. */
export const IN_FLIGHT_PER_API_MAX = 512
/** Of these, calls of one consumer, unless the listing says otherwise: one alone leaves room for others. */
export const IN_FLIGHT_PER_CONSUMER_MAX = 256
/**
 * Admission control by the lag of the event loop. Its timer ticks so often while requests come; a turn of the loop that is late by
 * `LOAD_LATE_MS` in so many ticks in a row is too much work: 256 calls at once of one key make turns of at most 100 ms.
 */
export const LOAD_TICK_MS = 20
export const LOAD_LATE_MS = 150
export const LOAD_LATE_TICKS = 3
/** In one turn that is late by this already, requests are refused at once: a crowd that comes all together waits no longer. */
export const LOAD_TURN_MS_MAX = 1 * SECOND
/** Under overload, how late a turn may be: what is refused waits for half a turn in the median. */
export const LOAD_TARGET_MS = 30
/** After so long in which all requests could have been admitted the overload is over. */
export const LOAD_CALM_MS = 1 * SECOND
/** Admitted in each tick in any case: a node with little to do on a busy machine refuses nothing. */
export const LOAD_ADMITTED_MIN = 16
/** Whole answers that a peer has not taken yet, past which its calls are refused: two of the largest, and room for others. */
export const UNSENT_PER_PEER_BYTES_MAX = 32 * MiB
/** After so long a caller that was turned away for load may come again: half of what is under way is over by then. */
export const OVERLOAD_PAUSE_MS = 1 * SECOND
/** Calls of a rate limit, also at once: more is no limit for one consumer, and twice as many could not be counted exactly. */
export const RATE_CALLS_MAX = 100_000
/** The longest time that a rate limit spreads its calls over; what is longer is a quota. */
export const RATE_PER_MS_MAX = DAY
/** Failed calls of one consumer at one API, unless the listing says otherwise: a client with a mistake in it stays below, a loop does not. */
export const FAILURES_PER_CONSUMER_MAX = 1_000
export const FAILURES_PER_CONSUMER_MS = 1 * HOUR
/** So many times as many failed calls may come from one consumer node, which calls for many consumers. */
export const FAILURES_PER_PEER = 20
/** Name of a limit, as headers tell it: `plan-` and the id of a plan. */
export const RATE_POLICY_CHARS_MAX = 68
/** Consumers whose rate an owner keeps; past it, those that are new share with others of their node. */
export const RATED_CONSUMERS_MAX = 65_536
/** What such newcomers share, so that a flood by one node leaves those of nearly all others alone. */
export const RATE_SHARES = 1_024
/** Peers whose newest request id is remembered, so that a repeat of an older one is looked for in the books before it runs. */
export const NEWEST_IDS_MAX = 10_000
/** How far a consumer's clock may be ahead: ids from before an owner's start, and this much after it, are looked for as well. */
export const REQUEST_ID_SKEW_MS = 5 * SECOND
/** Bulk streams open at once with one peer. */
export const BULK_STREAMS_PER_PEER_MAX = 128
/** Control streams one peer may hold open with us: one, and one more while the first is being replaced, each way. */
export const CONTROL_STREAMS_PER_PEER_MAX = 4
/** From dialling to the peer's hello. */
export const HELLO_MS = 5 * SECOND
/** How long a node of a test network may take to meet the others: the node itself goes on trying, and machines that test are busy. */
export const TESTNET_JOIN_MS = 60 * SECOND
/** How long a call waits for a bulk stream that its frame announced. */
export const BULK_OPEN_MS = 5 * SECOND
/** After a link broke with the call sent: how long the same bytes are offered again before the caller hears `call_interrupted`. */
export const RESEND_MS = 5 * SECOND
/** Between two attempts to get the link back. */
export const RESEND_PAUSE_MS = 200
/** Text of a failure, written by one peer and shown by another: a long sentence, not a page. */
export const FAILURE_DETAIL_CHARS_MAX = 2_000
/** Its public members as JSON: a fault's detail, with room; less than an inline body, so that the frame fits in any case. */
export const FAILURE_MEMBERS_CHARS_MAX = 16 * KiB
/** Answers acknowledged to their owner in one frame, and how long the first of them waits for more. */
export const ACK_BATCH_MAX = 128
export const ACK_DELAY_MS = 100
/** Attempts at one owner: the call, and once more with what the till learned from a refused payment. */
export const TRIES_PER_OWNER_MAX = 2
/** What a node calls itself in its hello, for people to read. */
export const AGENT_CHARS_MAX = 64
/** Asking nodes for a manifest or a catalogue page: one small exchange. */
export const EXCHANGE_MS = 3 * SECOND
/** Between two attempts of a node without peers to get back onto its network. */
export const REJOIN_MS = 5 * SECOND
/** The pause after the first such attempt; each is twice the one before, up to `REJOIN_MS`. */
export const REJOIN_FIRST_MS = 250
/** Between two looks at this machine's network interfaces: a new address is announced within it. A look takes under 1 ms. */
export const INTERFACES_CHECK_MS = 30 * SECOND
/** Between two looks at whether a connection is still alive: each is a stream of its own, and there may be hundreds. */
export const HEARTBEAT_MS = 30 * SECOND
/** How long a peer has to answer a look at it. Busy is not dead: hanging up on a busy peer makes it busier. */
export const HEARTBEAT_ANSWER_MS = 10 * SECOND
/** How long a start waits to be on the network; a node whose peers are all away goes on alone. */
export const JOIN_MS = 2 * SECOND
/** Between two looks at whether the directory has anybody to ask: it tells nobody by itself. */
export const READY_POLL_MS = 5
/** Peers whose addresses are remembered over a restart. */
export const CACHED_PEERS_MAX = 64
/** When a link stops: how long peers may take to take what is queued for them. A stopping node is waited for. */
export const LINK_CLOSE_MS = 2 * SECOND
/** How long running calls are waited for when a node stops. */
export const DRAIN_MS = 10 * SECOND

/** Connections of one node; libp2p's default of 300 is short for an ingress. When all are taken, the least valuable makes room. */
export const CONNECTIONS_MAX = 512
/** Connections of one host: an IPv4 address, a /64 of IPv6, or a relay. Sixteen hosts are needed to fill a node. */
export const CONNECTIONS_PER_HOST_MAX = 32
/** Connections of a /48 of IPv6, which is rented as easily as one address and has 65,536 of those hosts. */
export const CONNECTIONS_PER_SITE_MAX = 128
/** New connections from one host; libp2p's 5 locks out a LAN behind one address. Each handshake costs about 3 ms. */
export const CONNECTIONS_PER_HOST_PER_SECOND = 10
/** Hosts whose rate is kept. A flood from more of them forgets the quietest. */
export const CONNECTION_HOSTS_MAX = 10_000
/** Connections being set up at once: in all, and of one host, which may leave its handshakes unfinished. */
export const CONNECTIONS_PENDING_MAX = 64
export const CONNECTIONS_PENDING_PER_HOST_MAX = 16
/** How long a connection may take to be set up, from its first byte to its encrypted streams. */
export const CONNECTION_UPGRADE_MS = 10 * SECOND
/** A new connection keeps its place for this time, to show what it is for; at most so many of them do. */
export const CONNECTION_NEW_MS = 10 * SECOND
export const CONNECTIONS_NEW_MAX = 64
/** How long a connection that makes room has to close in an orderly way. */
export const CONNECTION_CLOSE_MS = 1 * SECOND
/** Peers of which is known that they traded with this node: more than ever are connected in a day. */
export const PEERS_VALUED_MAX = 10_000
/** Addresses of one peer that are dialled, one after the other: a liar may name those of others. */
export const DIALS_PER_PEER_MAX = 8
/** Peers dialled at once, and waiting to be dialled. A walk of the directory dials a few at a time. */
export const DIALS_AT_ONCE = 32
export const DIALS_WAITING_MAX = 256
/** How long one address may take to answer a dial. A peer with eight silent ones must not hold up its caller for a minute. */
export const DIAL_ADDRESS_MS = 3 * SECOND
/** Peers whose addresses libp2p keeps in memory. Identities cost nothing, so the one not heard of for longest is forgotten. */
export const PEERS_STORED_MAX = 4_096
/** Records of the directory that a node keeps for others, of 2 KiB at most each: 40 MB. */
export const DHT_RECORDS_MAX = 20_000
/** Claims to serve something that a node keeps for others; of these so many about one key, and of one peer. */
export const DHT_CLAIMS_MAX = 50_000
export const DHT_CLAIMS_PER_KEY_MAX = 256
export const DHT_CLAIMS_PER_PEER_MAX = 4_000
/** Streams opened before the connection's own set-up is through. */
export const EARLY_STREAMS_MAX = 64
/** How often a lost peer is dialled again before it is given up. */
export const RECONNECTS_MAX = 10

// ── Manifests and the directory ─────────────────────────────────────────────────────────────────────────────────────

/** A signed manifest: operations with their schemas. */
export const MANIFEST_BYTES_MAX = 256 * KiB
/** How long a signed manifest holds before its provider must sign again. */
export const MANIFEST_TTL_MS = 30 * DAY
/** A directory record: kad-dht peers store it for us, so it stays small. */
export const RECORD_BYTES_MAX = 2 * KiB
/** A record's life when the provider says nothing; re-put well before. */
export const RECORD_TTL_MS = 2 * HOUR
/** The longest life a record may claim. */
export const RECORD_TTL_MS_MAX = 24 * HOUR
/** Between two puts of the same record: loses to churn slower than peers forget. */
export const RECORD_REPUT_MS = 20 * MINUTE
/** One announcement of one API, all puts and provider records. */
export const ANNOUNCE_MS = 30 * SECOND
/** After an announcement that nobody took, the pause before it is repeated; each pause is twice the one before. */
export const ANNOUNCE_RETRY_MS = 1 * SECOND
/** Clocks differ: a record issued this far in the future is still taken. */
export const CLOCK_SKEW_MS = 5 * MINUTE
/** High-water marks of record sequence numbers kept by the validator. */
export const RECORD_SEQ_MARKS_MAX = 65_536
/** Delegations in one record; more do not fit its bytes. */
export const DELEGATIONS_MAX = 8
/** How long a delegation to another node holds. */
export const DELEGATION_TTL_MS = 30 * DAY
/** Resolved APIs kept at hand. */
export const RESOLUTIONS_MAX = 10_000
/** A resolution is used without asking anybody for this long. */
export const RESOLUTION_FRESH_MS = 60 * SECOND
/** After that it is used once more while it is looked up again behind the call, up to this age. */
export const RESOLUTION_STALE_MS = 10 * MINUTE
/** How long "no such API" is believed: short, so that a new listing is found within seconds. */
export const RESOLUTION_NEGATIVE_MS = 2 * SECOND
/** One look-up in the directory, all steps. */
export const LOOKUP_MS = 5 * SECOND
/** Claimants of one bare name that are looked at. */
export const CLAIMANTS_MAX = 16
/** How long others may speak up after the first claimant: several round trips, and no wait for a peer that hangs. */
export const CLAIMANTS_MS = 1 * SECOND
/** Listings the catalogue keeps, and how many of one publisher. */
export const CATALOGUE_MAX = 20_000
export const CATALOGUE_PER_PUBLISHER_MAX = 200
/** How long a peer that told nonsense, or does not tell at all, is not asked for listings, and peers whose cursors are remembered. */
export const CATALOGUE_DISTRUST_MS = 10 * MINUTE
export const CATALOGUE_CURSORS_MAX = 4_096
/** Between two rounds of asking some connected peers what is new, unasked, and how many. Announcements are what is quick. */
export const CATALOGUE_PULL_MS = 60 * SECOND
export const CATALOGUE_PULLED_PEERS = 4
/** After a peer connected, the pause before it is asked: connections come in crowds. */
export const CATALOGUE_SETTLE_MS = 250
/** How long a connected peer that had nothing new is not asked again: should it have some since, that is announced. */
export const CATALOGUE_QUIET_MS = 60 * SECOND
/** How long a peer that gave no answer is not asked again. */
export const CATALOGUE_SILENT_MS = 10 * SECOND
/** Records of one answer that may be refused before nothing more is believed: clocks differ, and peers pass on what others wrote. */
export const CATALOGUE_REFUSED_MAX = 16
/** Records in one answer of the catalogue exchange, and manifests asked for in one request. */
export const CATALOGUE_RECORDS_MAX = 256
export const CATALOGUE_WANTED_MAX = 64
/** A request of the catalogue exchange: names and hashes. */
export const CATALOGUE_REQUEST_BYTES_MAX = 4 * KiB
/** Requests of one peer: so many at once, and so many a second after that. */
export const CATALOGUE_REQUESTS_BURST = 256
export const CATALOGUE_REQUESTS_PER_SECOND = 16
/** A manifest that travels inside its announcement; a larger one is fetched by those who lack it. */
export const ANNOUNCED_MANIFEST_BYTES_MAX = 8 * KiB
/** An announcement: a record and such a manifest. */
export const ANNOUNCEMENT_BYTES_MAX = RECORD_BYTES_MAX + ANNOUNCED_MANIFEST_BYTES_MAX + 256
/** Announcements that one peer passes on, its own and others': so many at once, and so many a second after that. */
export const ANNOUNCEMENTS_PER_PEER_BURST = 400
export const ANNOUNCEMENTS_PER_PEER_PER_SECOND = 20
/** Announcements of one publisher: all its listings at once, and each again a few times an hour. */
export const ANNOUNCEMENTS_PER_PUBLISHER_BURST = 200
export const ANNOUNCEMENTS_PER_PUBLISHER_PER_SECOND = 1
/** An announcement older than this is passed on by nobody: it has been everywhere. */
export const ANNOUNCEMENT_AGE_MS = 5 * MINUTE
/** What waits for a slow neighbour before further announcements to it are dropped: it learns of them otherwise. */
export const GOSSIP_BUFFER_BYTES_MAX = 64 * ANNOUNCEMENT_BYTES_MAX
/** In one message of libp2p's gossip: topics (there is one), announcements, and ids of announcements. */
export const GOSSIP_TOPICS_MAX = 16
export const GOSSIP_MESSAGES_MAX = 500
export const GOSSIP_IDS_MAX = 5_000
/** Memory for the topics of one neighbour. */
export const GOSSIP_TOPIC_BYTES_MAX = 20 * KiB
/** Tags whose peers were asked lately. */
export const CATALOGUE_TAGS_MAX = 1_000
/** APIs of which this node remembers how its own calls went, and how long that waits for more to be written with it. */
export const QUALITY_APIS_MAX = 5_000
export const QUALITY_WRITE_MS = 5 * SECOND
/** What an owner says of its API is about so many days, today among them, and said from so many calls on: fewer have no p95. */
export const SELF_REPORT_DAYS = 7
export const SELF_REPORT_CALLS_MIN = 20
/** A manifest is not signed again for it sooner: each change goes to every node. */
export const SELF_REPORT_AGE_MS = 1 * HOUR
/** How long what is counted for it waits to be written. */
export const SELF_REPORT_WRITE_MS = 1 * MINUTE
/** A call that its caller ended counts as failed from here on: sooner, it was the caller's impatience. */
export const SELF_REPORT_PATIENCE_MS = 10 * SECOND
/** What such a report may say at most. */
export const SELF_REPORT_DAYS_MAX = 31
export const SELF_REPORT_CALLS_MAX = 10 ** 12
export const SELF_REPORT_MS_MAX = 10 * MINUTE
/** Between two probes of a node that probes, on average, and between two of the same API: a probe is an exchange, and may be a look-up. */
export const PROBE_PAUSE_MS = 30 * SECOND
export const PROBE_AGAIN_MS = 5 * MINUTE
/** An API is probed for so long after somebody called it or looked at it, and so many of them are. */
export const PROBE_INTEREST_MS = 1 * DAY
export const PROBED_APIS_MAX = 200
/** Between two looks for listings that have run out. */
export const CATALOGUE_PRUNE_MS = 5 * MINUTE
/** How old the catalogue may be before a search asks around first; and where what is new is announced anyway. */
export const CATALOGUE_FRESH_MS = 5 * SECOND
export const CATALOGUE_ANNOUNCED_FRESH_MS = 60 * SECOND
/** How long a search waits for that. */
export const CATALOGUE_REFRESH_MS = 2 * SECOND
/** Listings in one page of an exchange or a search. */
export const PAGE_MAX = 100
/** How long an owner that failed is only used when nobody else serves the API. */
export const OWNER_COOLDOWN_MS = 10 * SECOND
/** The dearest call: what `parseUsdc` takes at most, so that a price always survives being written and read. */
export const PRICE_ATOMS_MAX = 10n ** 15n
/** Addresses of one peer that are passed on: a node has a handful, a liar may claim thousands. */
export const ADDRESSES_PER_PEER_MAX = 16
/** Nodes that say they serve one API, as many as are listened to. */
export const SERVERS_MAX = 16
/** A request for manifests: a name, a provider id or a cursor. */
export const MANIFEST_REQUEST_BYTES_MAX = 1 * KiB
/** One answer of the manifest exchange: several, or one as large as allowed. */
export const MANIFEST_REPLY_BYTES_MAX = 1 * MiB
/** Signed bytes of all resolutions kept in memory, and of all listings in the catalogue, on disk: one flood must not take either. */
export const RESOLUTIONS_BYTES_MAX = 64 * MiB
export const CATALOGUE_BYTES_MAX = 256 * MiB
/** Peers asked in one refresh of the catalogue, as many at once, and the pages taken of each. */
export const CATALOGUE_PEERS_MAX = 64
export const CATALOGUE_PEERS_AT_ONCE = 16
export const CATALOGUE_PAGES_MAX = 64
/** How long the catalogue shows what it has not seen again: as long as a record lives. */
export const CATALOGUE_ENTRY_MS = 2 * HOUR
/**
 * Questions that a node asks the directory at once; each is up to three requests under way. A crowd of cold names that is asked all at
 * once ends with none of them answered in time.
 */
export const DIRECTORY_WALKS_MAX = 32
/** Words of one search. */
export const SEARCH_CHARS_MAX = 200
/** A word that is searched by; what is longer is known by its beginning. And the words of one listing, operations included. */
export const TERM_CHARS_MAX = 64
export const TERMS_PER_LISTING_MAX = 2_000
/** Announcements of one listing that run at the same time. */
export const ANNOUNCEMENTS_AT_ONCE = 4

// ── Names and texts ─────────────────────────────────────────────────────────────────────────────────────────────────

/** `[a-z0-9][a-z0-9-]{0,62}`: a DNS label's length. */
export const API_NAME_CHARS_MAX = 63
export const DESCRIPTION_CHARS_MAX = 2_000
export const TAGS_MAX = 16
export const TAG_CHARS_MAX = 32
/** Operations of one listing; the largest public WSDL seen has 1,500. */
export const OPERATIONS_MAX = 2_000

// ── Imports of descriptions ─────────────────────────────────────────────────────────────────────────────────────────

/** A pattern that a provider or a description sets, as text. */
export const PATTERN_CHARS_MAX = 4 * KiB
/** Its instructions and character ranges once repetitions are written out: compiling takes 10 µs for each, one character 20 ns for each. */
export const PATTERN_SIZE_MAX = 4_000
/** Unicode properties (`\p{…}`) in one pattern: compiling each one takes up to a millisecond. */
export const PATTERN_PROPERTIES_MAX = 64
/** Sizes of all patterns of one description: 100 MB of compiled programs if all of them are in use. */
export const PATTERNS_SIZE_MAX = 200_000

/** Reading one description (OpenAPI, WSDL, GraphQL) in its own process: the largest public ones take seconds. */
export const DESCRIPTION_READ_MS = 20 * SECOND
/** Heap of that process: checking an OpenAPI document of 5 MiB takes about half of it. */
export const DESCRIPTION_HEAP_MIB_MAX = 512
/** Descriptions that wait for it: reading is rare, and a restart reads `RESTORE_AT_ONCE_MAX` at once. */
export const DESCRIPTIONS_WAITING_MAX = 64
/** How long the process is kept without work: starting one takes a fifth of a second, and keeping it 50 MB. */
export const DESCRIPTION_IDLE_MS = 30 * SECOND

/** After a description met such a limit, how long it is not read again by itself: reading others would have to wait for it. */
export const DESCRIPTION_REST_MS = 10 * MINUTE

/** A WSDL with everything it imports. */
export const WSDL_FILES_MAX = 20
export const WSDL_BYTES_MAX = 5 * MiB
/** Entries of a zip with a WSDL in it: such bundles carry documents and samples, but are no archives. */
export const WSDL_ZIP_ENTRIES_MAX = 1_000
/** Definitions of all schemas of a WSDL: 5 MiB of schemas have 35,000 of ordinary length. A node indexes them when it starts. */
export const SCHEMA_DEFINITIONS_MAX = 50_000
/** Elements, attributes, enumerated values and members that the types of a WSDL come to, those inherited and included counted each time. */
export const SCHEMA_PARTS_MAX = 1_000_000
/** The same of one type: more is no type that anybody fills in, and one type is compiled in one go. */
export const SCHEMA_TYPE_PARTS_MAX = 20_000
/** Steps by which a type is derived from a built-in one, and groups within groups: real schemas have up to twenty. */
export const SCHEMA_DERIVATIONS_MAX = 100
/** An OpenAPI document, as text: the largest public ones have 10 MB, most a tenth of one. */
export const OPENAPI_BYTES_MAX = 5 * MiB
/** An OpenAPI document that is known by its address is read again at most so often, before a call is refused by it. */
export const OPENAPI_FRESH_MS = 60 * SECOND
/** A listing gets a new revision at most so often because its API describes itself anew. */
export const DESCRIPTION_RENEWED_MS = 60 * SECOND
/** Values of one in YAML, which can say a thing once and mean it a billion times: as many as that text could hold in JSON. */
export const OPENAPI_NODES_MAX = 1_000_000
/** All strings of one, names included, once anchors of YAML are resolved. */
export const OPENAPI_CHARS_MAX = 2 * OPENAPI_BYTES_MAX
/** Nesting of an OpenAPI document as JSON: a level of schema takes two or three, and real documents have a dozen. */
export const OPENAPI_NESTING_MAX = 200
/** Schemas of one OpenAPI document; real ones of 5 MiB have 40,000. */
export const OPENAPI_SCHEMAS_MAX = 100_000
/** How deep schemas without a name are nested in one another. */
export const OPENAPI_DEPTH_MAX = 64
/** Parameters of one operation, and members of its body that are fields of a call; a body with more is one field. */
export const OPERATION_FIELDS_MAX = 5_000
/** Schemas that a call of one operation is checked against, as JSON: checking more would need more code than is worth loading. */
export const CALL_SCHEMA_BYTES_MAX = 256 * KiB
/** Generated code that checks calls of one operation: ten times its schemas; and of all operations of an API that is kept. */
export const CALL_CHECK_CHARS_MAX = 4 * MiB
export const CALL_CHECKS_CHARS_MAX = 16 * MiB
/** Steps of checking one call where calls are answered, at about 20 ns each at worst; more takes place in a process of its own … */
export const CALL_CHECK_STEPS_MAX = 2_000_000
/** … for so long. The code that checks calls of one operation is made there as well. */
export const CALL_CHECK_MS = 2 * SECOND
/** After a check that took longer, how long calls of that API that need as much are refused at once: others need the process too. */
export const CALL_CHECK_REST_MS = 30 * SECOND
/** Heap of that process: a body of 10 MiB as JSON, several times. */
export const CALL_CHECK_HEAP_MIB_MAX = 384
/** Calls that wait to be checked there. */
export const CALL_CHECKS_WAITING_MAX = 32

/** An XML document's nesting: deeper is an attack or a bug. */
export const XML_DEPTH_MAX = 128
/** One tag of an XML document with its attributes: parsers are slow on endless ones, real ones have a few hundred characters. */
export const XML_TAG_CHARS_MAX = 64 * KiB
/** Operations with their JSON Schemas as a manifest takes them: leaves it room for everything else. */
export const API_DESCRIPTION_BYTES_MAX = 192 * KiB
/** A SOAP fault's detail as told to the consumer: it travels in an error, which is held whole at each hop. */
export const FAULT_DETAIL_BYTES_MAX = 8 * KiB
/** Shorter secrets of an API are not looked for in what it answers: "1" and "yes" are in every text. */
export const SECRET_CHARS_MIN = 4
/** A SOAP document up to this is translated at once: it takes about a millisecond, and a trip to a thread half of that. */
export const SOAP_INLINE_BYTES_MAX = 64 * KiB
/** Steps of a `Meter` that translating a small document may take on the main thread: 50 ms at worst. It then goes to the thread for large ones. */
export const SOAP_INLINE_STEPS_MAX = 5_000_000
/** The same in that thread, where no other API waits: five seconds at worst. */
export const SOAP_STEPS_MAX = 500_000_000
/** What is kept of a WSDL: its files, and where in them everything stands. A node reads it when it starts. */
export const SOAP_SNAPSHOT_CHARS_MAX = 16 * MiB
/** Nodes and characters that references of one SOAP-encoded answer may stand for: as large as the answer itself may be. */
export const SOAP_REFERENCED_MAX = 10 * MiB
/** Binary content of fewer bytes stays in the envelope where MTOM is used: a part of its own has as many of headers. */
export const SOAP_MTOM_BYTES_MIN = 512
/** Attachments of one SOAP message. */
export const SOAP_ATTACHMENTS_MAX = 1_000
/** Items that a SOAP-encoded array may skip at once: a sparse array is nulls in JSON. */
export const SOAP_ARRAY_GAP_MAX = 10_000
/** Tokens of one GraphQL document, unless its provider says otherwise: ten times what GraphiQL's own query has. */
export const GRAPHQL_TOKENS_MAX = 5_000
/** What a provider may raise them to: parsing and checking so many is what takes 100 ms. */
export const GRAPHQL_TOKENS_CEILING = 10_000
/** Nesting of one GraphQL document, fragments included: counted before anything recursive sees it. */
export const GRAPHQL_DEPTH_MAX = 64
/** Aliases of one GraphQL document: each may run a field of the API once more. */
export const GRAPHQL_ALIASES_MAX = 100
/** Up to so many selections it is checked here that fields merge, which takes their square; past it the API itself says so. */
export const GRAPHQL_MERGED_SELECTIONS_MAX = 300
/** Errors told of one GraphQL document. */
export const GRAPHQL_ERRORS_MAX = 10
/** A GraphQL schema in SDL; the largest public ones have 3 MB, most of it descriptions, and fewer tokens. Building takes 1 µs a token. */
export const GRAPHQL_SCHEMA_CHARS_MAX = 4 * MiB
export const GRAPHQL_SCHEMA_TOKENS_MAX = 250_000
/** Nesting of a schema in SDL: types of lists, and default values. */
export const GRAPHQL_SCHEMA_DEPTH_MAX = 64
/** One name of a schema, or of a document: names that are wrong are compared with others to suggest them. */
export const GRAPHQL_NAME_CHARS_MAX = 200
/** Types of one union or interface: documents that name two of them compare their types. */
export const GRAPHQL_MEMBERS_MAX = 5_000
/** Characters of all names that a wrong one is compared with, to suggest one; where there are more, none is suggested. */
export const GRAPHQL_SUGGESTED_CHARS_MAX = 50_000
/** A schema is read again before a document is refused by it, at most this often. */
export const GRAPHQL_SCHEMA_FRESH_MS = 10 * SECOND
/** Documents of one API that were checked before, and characters of them all: what its clients send again and again. */
export const GRAPHQL_DOCUMENTS_CACHED_MAX = 1_000
export const GRAPHQL_DOCUMENT_CHARS_CACHED_MAX = 4 * MiB
/** Documents that clients persisted under their hash (APQ); who is forgotten sends the text once more. */
export const GRAPHQL_PERSISTED_CHARS_MAX = 4 * MiB
/** How long an API may take to refuse a subscription before that counts as open, and is charged. */
export const GRAPHQL_OPENING_MS = 250
/** Events that may wait for a slow reader, and characters of them all: over a WebSocket nothing else slows their sender. */
export const GRAPHQL_EVENTS_WAITING_MAX = 1_000
export const GRAPHQL_EVENT_CHARS_WAITING_MAX = 4 * MiB
/** One event, or one part of an incremental answer, held whole. */
export const GRAPHQL_EVENT_BYTES_MAX = 1 * MiB
/** Event streams that carry many operations ("single connection mode"), in all and of one key: a browser's tabs share one. */
export const EVENT_STREAMS_MAX = 10_000
export const EVENT_STREAMS_PER_KEY_MAX = 100
/** Operations of one such stream at once. */
export const EVENT_STREAM_OPERATIONS_MAX = 100
/** How long a reserved stream waits for its reader. */
export const EVENT_STREAM_RESERVED_MS = 30 * SECOND
/** Comments in a quiet stream of events, so that proxies on the way let it live. */
export const EVENTS_HEARTBEAT_MS = 15 * SECOND

/** Events that one payment covers: few enough that little is promised ahead, many enough for a busy stream on a long way. */
export const EVENTS_PAID_AT_ONCE_MAX = 64
/** And what it promises at most, unless one event costs more. */
export const EVENTS_PAID_AT_ONCE_ATOMS = 10_000n
/** Without a limit of the consumer's own, a call pays for so many events. */
export const EVENTS_PAID_UNASKED_MAX = 1_000
/** An event waits for its payment so long; then the stream ends. */
export const EVENT_PAYMENT_MS = 15 * SECOND
/** A payment waits for an event so long; then its consumer makes another. */
export const EVENT_GRANT_MS = 60 * SECOND
/** Payments that a till refuses in a row before the stream ends. */
export const EVENT_REFUSALS_MAX = 3
/** Events that one opening may include. */
export const EVENTS_INCLUDED_MAX = 1_000_000
/** One event of an SSE API that is paid for by the event. */
export const SSE_EVENT_BYTES_MAX = 1 * MiB

// ── Storage ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A stored outcome keeps its response body up to this; larger ones follow the stream rule. */
export const STORED_BODY_BYTES_MAX = 256 * KiB
/** How long an outcome's response is kept for a repeat of the same call. */
export const STORED_RESPONSE_MS = 24 * HOUR
/**
 * Bodies of stored responses of all consumer nodes together; one of them gets half of what is free. Past it a response is answered and not
 * stored: its repeat hears `call_interrupted`, as that of a stream. A day of ten 4 KiB responses a second that nobody acknowledges.
 */
export const STORED_BYTES_MAX = 4 * 1024 * MiB
/** How long an idempotency key is answered with what its call was answered: as long as that is kept. */
export const IDEMPOTENCY_MS = 24 * HOUR
/** Keys that are kept; the oldest go first. Most of a day's, at ten calls with a key in each second. */
export const IDEMPOTENCY_KEYS_MAX = 1_000_000
/** A call with a key that another process runs, and that is not heard of after so long, broke off: as long as any may take. */
export const CLAIM_MS = UPSTREAM_TIMEOUT_MS_MAX + 30 * SECOND
/** Writes of one group commit. */
export const COMMIT_BATCH_MAX = 4_096
/** Bytes of one group commit: they are written while nothing else runs, so a burst of large responses is spread over turns. */
export const COMMIT_BATCH_BYTES_MAX = 8 * MiB
/** Calls, or postings, that the sums on disk may be behind by: a restart sums those up again, in some milliseconds. */
export const SUMS_BEHIND_MAX = 10_000
/** Stored responses dropped in one commit: each may be `STORED_BODY_BYTES_MAX`, and all its pages are touched. */
export const RESPONSES_DROPPED_AT_ONCE = 256
/**
 * Calls that cost something, ledger entries and receipts are kept for so many days where the operator says nothing: a tax year, and
 * a month to export it. The fewest: more than every repeat, dispute and withdrawal takes.
 */
export const KEEP_DAYS = 400
export const KEEP_DAYS_MIN = 30
export const KEEP_DAYS_MAX = 36_500
/** Calls that cost nothing are kept for so long: for looking into what went wrong, not for the books. */
export const KEEP_FREE_CALLS_MS = 30 * DAY
/** How far the clock that made a request id may be ahead of its owner's. An id from further ahead could outlive the record of its call. */
export const REQUEST_ID_AHEAD_MS = DAY
/** The oldest request id that is run: the record of an older call may be deleted, and nobody could tell a repeat from a new call. */
export const REQUEST_AGE_MS_MAX = KEEP_FREE_CALLS_MS - REQUEST_ID_AHEAD_MS
/** How often responses and documents that have expired are deleted, and how often old rows of the books are looked for. */
export const TRIM_ROUND_MS = 10 * MINUTE
export const TRIM_PASS_MS = DAY
/** Rows of one slice, a few milliseconds of work, and the pause after it: other work goes first. */
export const TRIM_ROWS = 256
export const TRIM_PAUSE_MS = 100
/**
 * SQLite's cache of pages: the inner nodes of the trees of ten million calls, with room. With its default of 2 MB a look-up reads some of
 * them from the file each time.
 */
export const SQLITE_CACHE_BYTES = 16 * MiB
/** Free space under which a store takes no new work: enough for the stored bodies of the calls that are under way, and their log. */
export const STORE_FREE_BYTES_MIN = 128 * MiB
/** How often that is looked at: a fast disk writes a good part of it in the meantime. */
export const FREE_SPACE_CHECK_MS = 250
/** When a client may try again where the disk is full: somebody has to make room first. */
export const STORAGE_RETRY_MS = 30 * SECOND
/** Names of ledger accounts, and of what an entry refers to: a channel or transaction id with words around it. */
export const ACCOUNT_CHARS_MAX = 200
/** Postings of one entry: a claim over many channels is booked as one entry for each. */
export const POSTINGS_MAX = 16
/** Connections of one process to PostgreSQL: one writes, the others read. Servers allow a hundred in all by default. */
export const POSTGRES_CONNECTIONS_MAX = 8
/** Connecting to it: an attempt that meets a dead host must not keep the next one waiting when the host is back. */
export const POSTGRES_CONNECT_MS = 3 * SECOND
/** How long it may take for one statement: past it the connection counts as cut. A server that waits for a busy disk answers sooner. */
export const POSTGRES_ANSWER_MS = 10 * SECOND
/** After this the server ends a transaction whose process says nothing more, so that its locks keep nobody waiting. */
export const POSTGRES_IDLE_TRANSACTION_MS = 10 * SECOND
/** How long a store that is closed waits for the server to say goodbye. */
export const POSTGRES_CLOSE_MS = 1 * SECOND
/** Between two attempts to connect again. The pause doubles up to two seconds, so that a node serves soon after the database is back. */
export const RECONNECT_MS_MIN = 50
export const RECONNECT_MS_MAX = 2 * SECOND
/** When a client that needs the database may try again while it is away: as often as the node itself does. */
export const STORE_RETRY_MS = 2 * SECOND
/** How long the outcome of a call waits for the database to come back: as long as the slowest API may take. */
export const STORE_WAIT_MS = 2 * MINUTE
/** How often it is looked whether one has waited too long. */
export const STORE_WAIT_SWEEP_MS = 1 * SECOND
/** How often a node that waits for its database at the start says so again. */
export const STORE_WAIT_SAID_MS = 1 * MINUTE
/** After this the row of a process that ended without removing it is removed. No outage lasts as long. */
export const WRITER_ROW_DAYS = 30
/** How often it is tried whether a pooler mixes up connections: one that takes turns among a few shows it at once. */
export const POOLER_ROUNDS = 3
/** Between two attempts to listen to a database whose connection broke. */
export const POSTGRES_LISTEN_MS = 1 * SECOND
/** How often a connection that listens is tried: as long as anything read from the store is kept. */
export const POSTGRES_LISTEN_BEAT_MS = 5 * SECOND
/** Peer and API names whose row ids are kept at hand; past it the cache starts again. */
export const NAMES_CACHED_MAX = 10_000

// ── The ingress and the admin API ───────────────────────────────────────────────────────────────────────────────────

/** Consumer keys of one node. */
export const KEYS_MAX = 100_000
/** Of one account: one for each program of a small company. Those that ended go first when there are more. */
export const KEYS_PER_ACCOUNT_MAX = 100
/** How often the keys of a node are counted: what is counted guards a disk, to which a few more are nothing. */
export const KEYS_COUNTED_MS = 10 * SECOND
/** APIs that a key is limited to by name. */
export const KEY_APIS_MAX = 100
/** How long a rotated key goes on working where nobody said otherwise, and the longest: time to change it everywhere. */
export const KEY_OVERLAP_MS = DAY
export const KEY_OVERLAP_MS_MAX = 30 * DAY
/** A key's label. */
export const LABEL_CHARS_MAX = 100
/**
 * Body of an admin request: a registration with an OpenAPI document in it, as a JSON string with room for what is escaped, or with
 * the files of a WSDL in base64.
 */
export const ADMIN_BODY_BYTES_MAX = 8 * MiB
/** Pages of a store that a backup copies at once, a mebibyte: what is written meanwhile waits for no more than that. */
export const BACKUP_STEP_PAGES = 256
/** How long a setup code of the console holds: enough to start a browser and type it. */
export const SETUP_CODE_MS = 15 * MINUTE
/** A request with one in it. Anybody on this machine may send it. */
export const SESSION_BODY_BYTES_MAX = 1 * KiB
/** Guesses at one of them: of 2^40 codes, ten find one in a hundred billion times. */
export const SETUP_CODE_TRIES_MAX = 10
/** How long a browser is let in by one. */
export const CONSOLE_SESSION_MS = 30 * DAY
/** How long a node that stops fetches what was earned: a few blocks of Base. */
export const SETTLE_ON_STOP_MS = 15 * SECOND
/** Connections of the admin API: one operator's browsers and scripts, and streams of events among them. */
export const ADMIN_CONNECTIONS_MAX = 1_024
/** How long running admin requests are waited for when a node stops: an operator is waiting in turn. */
export const ADMIN_DRAIN_MS = 2 * SECOND
/** Reading an upstream when it is registered: a WSDL of many files from a slow server still gets through. */
export const INSPECT_MS = 60 * SECOND
/** What a test call before publishing shows of an answer: a person looks at it. */
export const TRIAL_BODY_BYTES_MAX = 256 * KiB
/** How long a stream is listened to for that. */
export const TRIAL_READ_MS = 5 * SECOND
/** APIs announced at the same time when a node starts: waiting for one after the other would take minutes on a slow network. */
export const RESTORE_AT_ONCE_MAX = 8
/** Between two attempts to serve what could not be served at the start, such as a replica whose provider is not up yet. */
export const RESTORE_RETRY_MS = 15 * SECOND
/** One check of `souk doctor`: a person is waiting for all of them. */
export const DOCTOR_CHECK_MS = 10 * SECOND
/** Free space under which `souk doctor` warns: a busy node's books grow by less in a day. */
export const DISK_FREE_BYTES_MIN = 1024 * MiB
/** How far a busy port moves up before giving up. */
export const PORT_TRIES_MAX = 50
/** What owners ask of clients without a key: kept at hand, so briefly that a new price shows, and the most kept. */
export const OFFER_FRESH_MS = 5 * SECOND
export const OFFERS_CACHED_MAX = 10_000
/** Names whose subscriptions, or that there is none, are kept at hand: one for each account and API that is called. */
export const BINDINGS_CACHED_MAX = 20_000
/** Verified keys kept at hand, so that a busy key costs no look-up in the store. */
export const KEYS_CACHED_MAX = 10_000
/** Names that providers know consumers by, kept at hand: each is an HMAC. */
export const PSEUDONYMS_CACHED_MAX = 10_000
/** A key's last use is written down at most this often: a hint for people, not a record. */
export const KEY_USE_MS = 1 * MINUTE
/**
 * What is kept at hand of a store that processes share (keys, which subscription a call goes with) is read again after this; who changes
 * it waits so long at most for a process that does not say that it heard.
 */
export const SHARED_FRESH_MS = 5 * SECOND
/** Accounts that one host may open in a window, how long that is, and hosts counted: enough for an office, too few to fill a disk. */
export const ACCOUNTS_PER_HOST = 10
export const ACCOUNTS_PER_HOST_MS = 1 * HOUR
export const HOSTS_COUNTED_MAX = 10_000
/** Requests without a key, or with one that is none, of one host in a window: each costs a look at the store or an owner. */
export const STRANGERS_PER_HOST = 6_000
export const STRANGERS_PER_HOST_MS = 1 * MINUTE
/** Calls under way of one key: as many as one listing takes of a consumer. */
export const IN_FLIGHT_PER_KEY_MAX = 256
/** Calls under way at an ingress, of all keys: most of so many are streams, which wait more than they work. */
export const IN_FLIGHT_PER_INGRESS_MAX = 10_000
/** Calls under way of all who come without a key, and of one host of them: the rest of the places is for those with keys. */
export const IN_FLIGHT_STRANGERS_MAX = 2_500
export const IN_FLIGHT_PER_HOST_MAX = 256
/**
 * Bytes of request bodies, and of whole answers that clients have not read yet, which an ingress holds at once: a machine of 1 GiB still
 * has room. One key, one host, and all who come without a key have this part of it each; one host of the latter has the smaller part.
 */
export const HELD_BYTES_MAX = 256 * MiB
export const HELD_HOLDER_PART = 4
export const HELD_STRANGER_PART = 16
/** In each such time, so much of a body that is held has to arrive: slower than any link that is alive. */
export const BODY_WINDOW_MS = 10 * SECOND
export const BODY_WINDOW_BYTES_MIN = 16 * KiB
/** A whole answer is held until its client has read it: for so long, and for each mebibyte of it so much longer. */
export const ANSWER_READ_MS = 30 * SECOND
export const ANSWER_READ_MS_PER_MIB = 30 * SECOND
/** A client that takes nothing of what waits for it for so long is cut off. */
export const READER_STALL_MS = 60 * SECOND
/** Calls that one host makes with the public demo key in a window, and how long that is: enough to look around. */
export const DEMO_CALLS_PER_HOST = 60
export const DEMO_CALLS_PER_HOST_MS = 1 * HOUR
/** The front page: listings of one page, what is taken of each part of a query, and what is shown of a description. */
export const FRONT_PAGE_APIS = 20
export const FRONT_QUERY_CHARS_MAX = 1_000
export const FRONT_DESCRIPTION_CHARS_MAX = 400
/** An example of a call: what still looks like one. */
export const EXAMPLE_CHARS_MAX = 600
/** `/discovery/resources`: a page where nobody says, all that are told, and how often and how long owners are asked for their offers. */
export const BAZAAR_PAGE = 20
export const BAZAAR_RESOURCES_MAX = 500
export const BAZAAR_FRESH_MS = 1 * MINUTE
export const BAZAAR_READ_MS = 10 * SECOND
/** Owners asked at the same time, and the longest offer that is passed on. */
export const BAZAAR_ASKED_AT_ONCE = 16
export const BAZAAR_OFFER_CHARS_MAX = 8_192
/** Changes of keys that one host may ask for in a window, and how long that is: a whole office rotates all it has. */
export const KEY_CHANGES_PER_HOST = 240
export const KEY_CHANGES_PER_HOST_MS = 1 * HOUR
/** A body sent to `/v1/account` and `/v1/keys`: an amount, a label, a hundred ids of APIs. */
export const ACCOUNT_BODY_BYTES_MAX = 16 * KiB
/** What a domain stands for, and that it stands for nothing, is believed so long; so many domains are remembered. */
export const SCOPE_FRESH_MS = 5 * MINUTE
export const SCOPE_NEGATIVE_MS = 30 * SECOND
export const SCOPES_KNOWN_MAX = 1_000
/** Domains asked for at once, and how long the DNS may take for one: strangers choose the names. */
export const SCOPES_ASKED_AT_ONCE = 32
export const DNS_MS = 3 * SECOND
/** A segment of an ingress path: `name@provider` percent-encoded, with room. */
export const PATH_SEGMENT_CHARS_MAX = 256
/** All header lines of a request have arrived by then: what holds a socket open line by line is no client. */
export const HEADERS_RECEIVE_MS = 15 * SECOND
/** A whole request has arrived by then: ten megabytes over a slow mobile link. */
export const REQUEST_RECEIVE_MS = 120 * SECOND
/** An idle connection is kept this long: more than the 60 s after which common load balancers close theirs. */
export const KEEP_ALIVE_MS = 72 * SECOND
/** Connections of an HTTP server, each some 20 KiB; past it, idle ones make room. And those of one host: an office behind one address. */
export const HTTP_CONNECTIONS_MAX = 8_192
export const HTTP_CONNECTIONS_PER_HOST_MAX = 1_024
/**
 * Listening sockets of an ingress on its one port. The event loop takes one connection of each in a turn: with a single socket, a
 * thousand new clients of a busy node wait for seconds.
 */
export const ACCEPTORS_MAX = 64
/** What is left of a refused request up to this is read and thrown away to keep the connection; more ends it. */
export const DISCARD_BYTES_MAX = 64 * KiB
/** How long an ending connection still listens, so that a client in the middle of an upload reads the answer, not a reset. */
export const LINGER_MS = 2 * SECOND
/** While a server drains, connections that fell idle are closed this often. */
export const DRAIN_SWEEP_MS = 50

// ── Agents and events ────────────────────────────────────────────────────────────────────────────────────────────────

/** A tool's name, as the Model Context Protocol's clients and the models behind them take it. */
export const MCP_NAME_CHARS_MAX = 64
/** APIs whose operations are tools, tools of one of them, and of all: a model chooses badly among more, and pays for reading each. */
export const MCP_APIS_MAX = 32
export const MCP_TOOLS_PER_API_MAX = 64
export const MCP_TOOLS_MAX = 256
/** How long an API is looked up for a list of tools. The others do not wait longer for one that cannot be found. */
export const MCP_LOOKUP_MS = 5 * SECOND
/** How long a list of tools is good for, as clients are told: prices may change with every revision. */
export const MCP_LIST_FRESH_MS = 1 * MINUTE
/** A tool's description, and the outline of a GraphQL schema in one: what a model reads before every choice. */
export const MCP_DESCRIPTION_CHARS_MAX = 1_000
export const MCP_OUTLINE_CHARS_MAX = 6_000
/** A schema that is shown with its tool. Larger ones are shown when asked for. */
export const MCP_SCHEMA_BYTES_MAX = 32 * KiB
/** How deep, and how much, of a schema of answers is promised. */
export const MCP_SCHEMA_DEPTH_MAX = 16
export const MCP_SCHEMA_NODES_MAX = 1_000
/** An answer as the result of a tool: more than a model reads of it. */
export const MCP_ANSWER_BYTES_MAX = 256 * KiB
/** How long a tool waits for the end of an answer that comes as a stream. */
export const MCP_STREAM_MS = 30 * SECOND
/** A message of an agent: a call's body, and what the protocol puts around it. */
export const MCP_MESSAGE_BYTES_MAX = REQUEST_BYTES_MAX + 64 * KiB
/** Events that are told again to whoever lost the thread of them, and the same of calls. */
export const EVENTS_KEPT_MAX = 256
/** Requests that are kept for whoever wants to make them again, and the longest of them: a form, not a file. */
export const CAPTURED_CALLS_MAX = 100
export const CAPTURED_BODY_CHARS_MAX = 16 * KiB
/** Minutes, and quarters of an hour, of which a node remembers how its calls went: two hours to look at closely, and a week. */
export const SERIES_MINUTES_MAX = 120
export const SERIES_QUARTERS_MAX = 7 * 24 * 4
/** Readers of the stream of events at once: consoles and tails, all on one machine. */
export const EVENT_READERS_MAX = 16
/** Webhooks of one node; all of them are told of the same event at once. */
export const WEBHOOKS_MAX = 20
export const WEBHOOK_URL_CHARS_MAX = 2_000
/** Events that wait for one webhook: what a busy node tells of in the days until the webhook is given up. */
export const WEBHOOK_QUEUE_MAX = 1_000
/** Deliveries to one webhook at once. */
export const WEBHOOK_AT_ONCE = 4
/** How long one may take: Standard Webhooks has 15 to 30 s. */
export const WEBHOOK_TIMEOUT_MS = 20 * SECOND
/** Pauses between the attempts of a delivery, the schedule of Standard Webhooks: two days and a half in all. */
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
/** How often it is looked at least whether a delivery is due, and to how much it is known when one was taken. */
export const WEBHOOK_LOOK_MS = 1 * MINUTE
/** How long a webhook's former secret signs beside the new one. */
export const WEBHOOK_OVERLAP_MS = DAY
/** What is left of an account, and of a wallet that pays, when that is said: some calls more, and time to top it up. */
export const ACCOUNT_LOW_ATOMS = USDC / 10n
export const WALLET_LOW_ATOMS = USDC
/** Between two looks at a wallet and at what became final: one question to the chain. */
export const MONEY_LOOK_MS = 5 * MINUTE
/** Of a key's daily cap, in percent: what is said before it is reached. */
export const CAP_NEARLY_PERCENT = 85n

// ── Plans and subscriptions ──────────────────────────────────────────────────────────────────────────────────────────

/** Plans of one listing, closed ones included: more than anybody compares. */
export const PLANS_MAX = 16
export const PLAN_NAME_CHARS_MAX = 63
export const PLAN_DESCRIPTION_CHARS_MAX = 500
/** Prices that one plan's calls step through. */
export const PLAN_TIERS_MAX = 8
/** Calls that a period or a tier can count: what every format of ours holds. */
export const PLAN_CALLS_MAX = 1_000_000_000_000
/** A trial that is longer is a free plan. */
export const TRIAL_DAYS_MAX = 90
/** The highest major of a listing. */
export const MAJOR_MAX = 1_000
/** How long subscribers keep terms that the provider has changed, at the least. */
export const TERMS_KEPT_MS = 14 * DAY
/** Between the notice that a listing ends and its end, at the least. */
export const SUNSET_MS_MIN = 30 * DAY
/** How long the name of a retired listing is held, and its callers are told that it is gone. */
export const TOMBSTONE_MS = 180 * DAY
/** A link of a notice. */
export const LINK_CHARS_MAX = 500
/** What an owner is told of whose a subscription is. */
export const ACCOUNT_PSEUDONYM_CHARS_MAX = 64
/** Nodes that may call with one subscription beside the one that made it. */
export const SUBSCRIPTION_PEERS_MAX = 8
/** What a consumer and an owner say to each other of a subscription: a plan with all it may have, and a few names. */
export const SUBSCRIPTION_BODY_BYTES_MAX = 16 * KiB
/** A renewal within this part of a period after its end continues it; a later one begins anew. A day and a bit of a month. */
export const RENEWAL_GRACE_PART = 24
/** Subscriptions whose counts an owner, or whose records a consumer, keeps at hand. */
export const SUBSCRIPTIONS_CACHED_MAX = 10_000
/** How long what another process may have changed of a subscription is taken for true. */
export const SUBSCRIPTION_FRESH_MS = 1 * SECOND
/** Calls that one replica takes in hand at once of a quota that several share, and of what is left at most this part. */
export const QUOTA_SLICE_MAX = 64
export const QUOTA_SLICE_PART = 16
/** Times that a shared count is tried to be changed while others do the same. */
export const REPLACE_TRIES_MAX = 50

// ── Money ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The day of a daily cap, in UTC. */
export const DAY_MS = DAY
/** Slices that a daily cap is taken in: a restart costs one at most. */
export const CAP_LEASES = 10n
/** What a payer writes behind waits this long for more: after a crash the owner's books tell what was lost of it. */
export const PAYER_WRITE_MS = 100
/** Peers whose last voucher is kept as it came, so that the calls of a window are not read again and again. */
export const VOUCHERS_CACHED_MAX = 10_000
/**
 * Receipts of which the signatures are checked in one go, and the pause between two: of more, those are a sample. A signature
 * takes a fifth of a call's time, so these are a hundredth of a core.
 */
export const RECEIPTS_CHECKED_MAX = 16
export const RECEIPTS_CHECK_MS = 100
/**
 * A busy owner signs receipts once in so long, or when they are this part of the calls under way: a thousand signatures a second
 * are a twentieth of a core.
 */
export const RECEIPTS_SIGN_MS = 1
export const RECEIPTS_SIGNED_PART = 4
/** Splitters whose addresses are kept at hand. */
export const SPLITTERS_CACHED_MAX = 1_000
/** Entries that wait so at most. */
export const PAYER_ENTRIES_MAX = 1_024
/** Receipts of one page, and records looked at for one: calls that were free or failed have none. */
export const RECEIPTS_PAGE_MAX = 1_000
export const RECEIPT_RECORDS_READ_MAX = 20_000
/** After a channel could not be topped up, the pause before it is tried again behind the calls. */
export const TOP_UP_PAUSE_MS = 30 * SECOND
/** Calls, or atoms where that is less, that a payer signs for ahead: one signature for many calls of a busy link. */
export const WINDOW_CALLS = 20
export const WINDOW_ATOMS = USDC / 100n
/** What a payer lets one owner hold unearned, in flight and window together. */
export const EXPOSURE_ATOMS_MAX = 1n * USDC
/** The dearest call that is paid where nobody said otherwise. */
export const CALL_PRICE_ATOMS_MAX = USDC / 20n
/** What a node signs for in a day where nobody said otherwise: ten keys that spend all they may. */
export const DAILY_ATOMS_MAX = 10n * USDC
/** What the calls of one key cost in a day where nobody said otherwise. */
export const KEY_DAILY_ATOMS_MAX = 1n * USDC
/** The dearest call with the public demo key, and what all of them cost the house in a day: given away to strangers. */
export const DEMO_PRICE_ATOMS_MAX = USDC / 100n
export const DEMO_DAILY_ATOMS_MAX = USDC / 4n
/** Slices that a key's daily cap is taken in, each written down before it is spent: no call waits for the others. */
export const KEY_CAP_SLICES = 20n
/** A slice that is idle for so long is given back: others may want it. The pause after there was none to take ahead of need. */
export const SLICE_IDLE_MS = 5 * SECOND
export const SLICE_PAUSE_MS = 1 * SECOND
/** What one process takes of an account's balance at a time, out of others' reach: so much, and such a part of it, at most. */
export const ACCOUNT_SLICE_ATOMS_MAX = USDC / 4n
export const ACCOUNT_SLICE_PART = 8n
/** What is paid into an account at once, and the least out of it, unless it is all: each costs the house gas. */
export const ACCOUNT_DEPOSIT_ATOMS_MIN = USDC / 2n
export const ACCOUNT_DEPOSIT_ATOMS_MAX = 1_000n * USDC
export const ACCOUNT_WITHDRAWAL_ATOMS_MIN = USDC / 2n
/** Deposits of one account in a UTC day: the operator pays the gas of each, and only one of them is in a withdrawal's fee. */
export const ACCOUNT_DEPOSITS_MAX = 20
/** Withdrawals of all accounts in a UTC day that the operator pays the gas of, one an account: less than a dollar on Base. */
export const FREE_WITHDRAWALS_MAX = 100
/** How often a process says that it is there, and how long after the last time what it took counts as left behind. */
export const HOLDER_BEAT_MS = 10 * SECOND
export const HOLDER_MS = 1 * MINUTE
/** How long a channel's payer waits from wanting out to getting out: an owner's machine may be away for a night. */
export const WITHDRAW_DELAY_S = 24 * 60 * 60
/** The contract's own bounds of it. */
export const WITHDRAW_DELAY_S_MIN = 15 * 60
export const WITHDRAW_DELAY_S_MAX = 30 * 24 * 60 * 60
/** The longest a payer agrees to: so long an owner can keep its deposit from it. */
export const WITHDRAW_DELAY_AGREED_S_MAX = 7 * 24 * 60 * 60
/** A view of the chain counts for this part of a channel's delay: older, and a withdrawal begun meanwhile could be over. */
export const CHAIN_VIEW_PART = 4
/** A deposit, unless asked otherwise: bringing it in costs the owner gas. */
export const DEPOSIT_ATOMS_MIN = USDC / 2n
/** The largest first deposit that an owner can ask for. */
export const DEPOSIT_ATOMS_MAX = 20n * USDC
/** When a channel's rest falls below this part of its deposits, it is topped up behind the calls. */
export const TOP_UP_PART = 5n
/** How long a deposit may take to be mined before it is void, and how much of that has to be left when an owner gets it. */
export const DEPOSIT_VALID_MS = 1 * HOUR
export const DEPOSIT_MARGIN_MS = 2 * MINUTE
/** How long an owner waits for a deposit to be mined before it answers that it is on its way: a few blocks of Base. */
export const DEPOSIT_WAIT_MS = 10 * SECOND
/** One exchange about payments, with that wait in it. */
export const PAY_EXCHANGE_MS = 15 * SECOND
/** A message about payments: addresses, hashes and one signature, with room. */
export const PAY_MESSAGE_BYTES_MAX = 2 * KiB
/** Calls under way on a channel that is being closed: as long as any may take. */
export const CLOSE_CALLS_MS = UPSTREAM_TIMEOUT_MS_MAX + 5 * SECOND
/** How long a payer asks for a channel to be closed before it says that it was not: those calls, and some blocks. */
export const CLOSE_MS = CLOSE_CALLS_MS + 1 * MINUTE
/** While a channel is left: how often calls and the chain are looked at, … */
export const LEAVE_POLL_MS = 2 * SECOND
/** … how seldom where nothing can happen for long, and the pause after an attempt that failed. */
export const LEAVE_PAUSE_MS = 1 * MINUTE
/** Closed channels that an owner remembers, so that it can say so. Forgotten, they are as strange to it as any other. */
export const CLOSED_CHANNELS_KEPT_MAX = 10_000
/** How long a call waits for others of its owner to end when as much is in flight as may be. */
export const EXPOSURE_WAIT_MS = 5 * SECOND
/** Channels of one peer at one owner, as its providers differ; and of all peers. */
export const CHANNELS_PER_PEER_MAX = 8
export const CHANNELS_MAX = 100_000
/** A payer that lost its books may meet channels it has forgotten: so many counters of salts are tried for a new one. */
export const COUNTERS_TRIED_MAX = 100
/** Receipts signed together are leaves of one tree; as deep as a commit is large. */
export const RECEIPT_PATH_MAX = 12
/** Of a deposit in the newest block: so much of one channel counts at once, as a reorganisation can take it back … */
export const COUNTED_LATEST_ATOMS_MAX = 1n * USDC
/** … and so much over all channels of an owner. */
export const COUNTED_LATEST_OWNER_ATOMS_MAX = 20n * USDC
/** Of a deposit in a `safe` block, so much of one channel counts; what is above it waits for `finalized`. */
export const COUNTED_SAFE_ATOMS_MAX = 25n * USDC

/** The least price that is paid by a transaction of its own: on Base that costs about a tenth of a cent in gas. */
export const EXACT_ATOMS_MIN = USDC / 50n
/** How long a payment of x402 is signed for, and how much of that is left at least when its call begins: the longest call. */
export const PAYMENT_VALID_S = 300
export const PAYMENT_MARGIN_MS = 150 * SECOND
/** How long the answer to a call paid by x402 is kept for a repeat of the same payment. Its signature is public by then. */
export const PAYMENT_REPLAY_MS = 1 * HOUR
/** How long a call waits for its payment to be mined before it answers that it is on its way: a few blocks of Base. */
export const COLLECT_WAIT_MS = 10 * SECOND
/** After a payment could not be sent, for want of gas or an endpoint, the pause before the next attempt. */
export const COLLECT_RETRY_MS = 15 * SECOND
/** A transfer that somebody else sent counts for a payment that is new here, if it is not older: half of what is remembered. */
export const FOREIGN_TRANSFER_MS = PAYMENT_REPLAY_MS / 2
/** The same for a payment into an account, which is remembered for good: as far back as logs are read. */
export const DEPOSIT_LOOK_MS = 1 * DAY
/** An endpoint's logs may lag behind its state: so often a transfer is looked for before its payment counts as lost. */
export const TRANSFER_LOOKS_MAX = 5
/** Blocks that logs are read of at once, which public endpoints bound, and how many such reads at most: a day of Base in all. */
export const LOG_BLOCKS_MAX = 500n
export const LOG_READS_MAX = 100
/** Payments of x402 that are not collected yet; fewer than transactions may wait, so that claims find room. */
export const PAYMENTS_UNSETTLED_MAX = 200

// ── The chain ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** One request to a chain's endpoint. Public ones answer in well under a second or not at all. */
export const CHAIN_REQUEST_MS = 10 * SECOND
/** Requests made in one turn travel as one, so many at most: public endpoints refuse larger batches. */
export const CHAIN_BATCH_MAX = 50
/** Channels read in one call of the contract: 200 cost 2 million gas of the 50 million that endpoints allow. */
export const CHANNELS_PER_READ_MAX = 200
/** A revert's own words, as far as they are kept. */
export const REVERT_CHARS_MAX = 200
/** How long a transaction of an operator's command is waited for, and how often it is looked for: Base makes a block in 2 s. */
export const MINED_MS = 2 * MINUTE
export const MINED_POLL_MS = 1 * SECOND
/** Transactions on their way at once: endpoints keep 16 of one account for certain, and a stuck one holds up all after it. */
export const SUBMISSIONS_IN_FLIGHT_MAX = 8
/** Transactions that somebody waits for; at a block each two seconds these take minutes. */
export const SUBMISSIONS_WAITING_MAX = 256
/** Finished transactions that are remembered, so that a repeat hears of them. After that the contracts refuse repeats alone. */
export const SUBMISSIONS_KEPT_MAX = 1_000
/** How often transactions on their way are looked for, and how often those in blocks that can still be taken back. */
export const SUBMIT_POLL_MS = 1 * SECOND
export const FINAL_POLL_MS = 10 * SECOND
/** Of the latter, so many at one look: one request to the endpoint. */
export const RECHECKED_AT_ONCE = 40
/** The same bytes again: endpoints lose and restart their pools. */
export const REBROADCAST_MS = 15 * SECOND
/** A transaction that is in no block after so many blocks of Base waits for a higher fee. */
export const STUCK_MS = 30 * SECOND
/** How often it gets one: sixteen eighths are six times the first fee, or what the chain asks where that is more. */
export const FEE_BUMPS_MAX = 16
/** What is ever paid for gas, in wei each: a thousand times what Base asks, so that a lying endpoint cannot burn the account. */
export const FEE_WEI_MAX = 20_000_000_000n
/** On top of the quarter that a gas limit has to spare: for calls so small that others' changes cost more than a quarter. */
export const GAS_SPARE = 20_000n
/** Gas of one transaction, by EIP-7825. */
export const TRANSACTION_GAS_MAX = 2n ** 24n
/** Between two looks at channels on the chain. A withdrawal takes 15 minutes at least, a newcomer waits for his deposit. */
export const WATCH_POLL_MS = 5 * SECOND
/** Channels of one look: five calls of the contract. Where there are more, each look takes those not seen the longest. */
export const WATCHED_AT_ONCE = 1_000
/** Channels claimed in one transaction: 90 kB of the 128 kB that nodes take, 4.3 million gas. */
export const CLAIM_ROWS_MAX = 200
/** Claims tried in one round while rows that the contract refuses are looked for; what is left waits for the next round. */
export const CLAIM_TRIALS_MAX = 100
/** How long a channel whose row was refused stays out of other channels' claims. */
export const REFUSED_ROW_MS = 10 * MINUTE
/** A step that passed its trial and failed on chain is tried so often: something came in between. */
export const REDEEM_TRIES_MAX = 3
/** Money earned is fetched once it is as much, or as old: a whole round costs less than a cent on Base. */
export const REDEEM_ATOMS = 5n * USDC
export const REDEEM_AGE_MS = DAY
/** Between two looks at what is final of claims, settlements and payouts: the books are in no hurry. */
export const BOOKS_POLL_MS = 1 * MINUTE
/** Providers whose money is looked at in one turn: three questions each, of the batch that endpoints take. */
export const PROVIDERS_READ_AT_ONCE = 16
/** Transactions of a provider, and of all, that its earnings name. */
export const SETTLEMENTS_SHOWN_MAX = 10
/** Gas of the steps as their limits are set, with room: a claim of one row, each further row, settling, a first payout. */
export const CLAIM_GAS = 110_000n
export const CLAIM_ROW_GAS = 25_000n
export const SETTLE_GAS = 90_000n
export const DISTRIBUTE_GAS = 220_000n
/** Gas of bringing a deposit in, and of giving back what was not spent, as their limits are set. */
export const DEPOSIT_GAS = 150_000n
export const REFUND_GAS = 100_000n
/** Gas of a payment into the node's wallet by a signed authorization, and of one out of it, as their limits are set. */
export const WALLET_DEPOSIT_GAS = 86_000n
export const WALLET_TRANSFER_GAS = 65_000n
/** Gas of a withdrawal, beginning and end, as its limits are set. */
export const WITHDRAW_GAS = 260_000n
/** An owner opens a channel only with gas for so many claims. */
export const CLAIMS_IN_HAND_MIN = 3n
/**
 * An owner pays gas for a payer beyond what the payer's channel earned only within these, in a UTC day. Of one node and of one
 * payer address: two early departures, as a newcomer tries an API, leaves, and may err once.
 */
export const UNEARNED_STEPS_MAX = 2
/** Of an owner in all, at current fees: about 200 departures after one call at what Base usually asks. */
export const UNEARNED_GAS_ATOMS_MAX = 3n * USDC
/** However dear gas is, so many such steps of an owner are paid for: a newcomer may leave also where fees are high. */
export const UNEARNED_STEPS_MIN = 10
/** Nodes and payer addresses that are counted in a day. Past it the day's allowance is used up: each costs memory. */
export const UNEARNED_NAMES_MAX = 10_000
/** What an ether is taken to be worth when a step is weighed against its gas: rather too much, as waiting costs nothing. */
export const ETHER_ATOMS = 5_000n * USDC

// ── The process ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** How long the event loop may not turn before the watchdog ends the process. Nothing that a call runs takes a tenth of it. */
export const WATCHDOG_MS = 30 * SECOND
/** The longest limit that can be set, in seconds: a limit is for nodes that nobody watches. */
export const WATCHDOG_S_MAX = 3_600
/** Ticks of the watchdog in its limit: a hang is seen that part of the limit late, and one tick a second costs nothing. */
export const WATCHDOG_TICKS = 30
/** A tick that comes this many ticks after the last does not count: the process was stopped, or the machine slept. */
export const WATCHDOG_LATE_TICKS = 2
/** The limit while a node starts, in limits: a large database that gets a new schema blocks the loop for minutes. */
export const WATCHDOG_START_FACTOR = 20
/** How long the watchdog waits for the main thread's stack. Native code cannot be interrupted to get it. */
export const WATCHDOG_STACK_MS = 5 * SECOND
/** Frames of that stack which are written, innermost first, and the length of a function's name. */
export const WATCHDOG_FRAMES_MAX = 12
export const WATCHDOG_NAME_CHARS_MAX = 80
/** How long stderr may take the watchdog's lines and exit(3) may take, before the process is killed. */
export const WATCHDOG_EXIT_MS = 5 * SECOND
/** Heap of the watchdog thread: the inspector tells it of every script that the process has loaded. */
export const WATCHDOG_HEAP_MB_MAX = 32
/** A commit that takes this long is logged: an idle disk takes a hundredth of it, and each paid call waits for one. */
export const SLOW_COMMIT_MS = 250
/** Characters of an error in a log line: its safe text may quote a name that somebody else chose. */
export const LOGGED_REASON_CHARS_MAX = 500
/** Characters of `--log`: there are a dozen logs of Souk, and libp2p has some dozens. */
export const LOG_NAMES_CHARS_MAX = 1_000
