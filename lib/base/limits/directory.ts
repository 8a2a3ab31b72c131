/** Limits: Manifests, the directory and the catalogue. */
import { RETURN_MS } from './link.ts'
import { KiB, MiB, SECOND, MINUTE, HOUR, DAY } from './units.ts'

/** Directory records stored for other nodes: 40 MB at 2 KiB each. */
export const DHT_RECORDS_MAX = 20_000
/** Provider claims stored for other nodes. */
export const DHT_CLAIMS_MAX = 50_000
/** Provider claims stored for one key. */
export const DHT_CLAIMS_PER_KEY_MAX = 256
/** Provider claims stored for one peer. */
export const DHT_CLAIMS_PER_PEER_MAX = 4_000
/** Key of a provider claim: a hash, and what names its kind. */
export const DHT_KEY_BYTES_MAX = 128
/** A request to the DHT: the addresses of its sender, or a record. */
export const DHT_REQUEST_BYTES_MAX = 32 * KiB
/** Requests of one peer to the DHT that wait. Peers send one on a stream, and open 32 streams at most. */
export const DHT_REQUESTS_PER_PEER_MAX = 64
/** Time for requests of all peers to the DHT in one turn of the event loop. Most take under a millisecond. */
export const DHT_TURN_MS = 5
/** Addresses of providers in one response, shared by them: eight for each of 256 providers, and 120 KB. */
export const PROVIDER_ADDRESSES_MAX = 2_048
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
/** Pause before APIs are announced again after this node's addresses changed. Several may change together. */
export const ANNOUNCE_MOVED_MS = 0.5 * SECOND
/** Peers that store each record. Kademlia's usual 20 costs twice the messages. */
export const RECORD_COPIES = 10
/** Pause between two announcements of all APIs because a peer that left came back: it may have lost its records. */
export const ANNOUNCE_RETURNED_MS = 10 * SECOND
/** First pause after an announcement that no peer accepted. It doubles each time. */
export const ANNOUNCE_RETRY_MS = 1 * SECOND
/** Accepted clock difference: how far in the future a record may be issued. */
export const CLOCK_SKEW_MS = 5 * MINUTE
/** Peers with whose clocks this node's is compared. */
export const PEER_CLOCKS_MAX = 64
/** Time between two looks at whether the machine's clock was set, or the machine slept. */
export const CLOCK_CHECK_MS = 10 * SECOND
/** Change of the clock after which manifests and records are signed and announced again. */
export const CLOCK_CHANGE_MS = 1 * MINUTE
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
/** All lookups of one API that follow each other: `RETURN_MS`, and the last one. */
export const LOOKUPS_MS = RETURN_MS + LOOKUP_MS
/** Time for one peer of the DHT to be dialled, and again to respond. Three silent ones must not use up a lookup. */
export const DHT_ANSWER_MS = 1.5 * SECOND
/** The same where round trips are long, for both together. Below `LOOKUP_MS`, so that a lookup without a response is repeated. */
export const DHT_ANSWER_MS_MAX = 4 * SECOND
/** Round trips for which a peer of the DHT is awaited: dialling takes up to three, and a response one. */
export const DHT_ANSWER_ROUND_TRIPS = 4
/** Peers of the DHT that one query asks at once, without the silent ones. More made lookups slower, at 50 nodes. */
export const DHT_ASKED_AT_ONCE = 3
/** Peers of the DHT that one query asks at once, with the silent ones. Each silent peer may hold a dial. */
export const DHT_ASKED_AT_ONCE_MAX = 16
/** Shortest time after which a peer of the DHT counts as silent: a dial and a response within a continent. */
export const DHT_SILENCE_MS_MIN = 100
/** Longest time after which a peer of the DHT counts as silent. A late response is still used, so a wrong guess costs one request. */
export const DHT_SILENCE_MS_MAX = 500
/** Silent peers that are remembered. */
export const DHT_SILENT_PEERS_MAX = 4_096
/** Time for which a silent peer is asked after all others. */
export const DHT_SILENT_PEERS_MS = 60 * SECOND
/** Each time this many of the peers that one peer named turn out to be silent, its other ones are asked later. */
export const DHT_MISSES_PER_RANK = 3
/** Peers of one response that a lookup uses at once. The others follow while no response comes. */
export const PROVIDERS_AT_FIRST_MAX = 6
/** Claimants of one bare name that are asked. Claims are free, so most may be false. */
export const CLAIMANTS_MAX = 64
/** APIs of this name of one claimant: it may serve several providers. */
export const CLAIMANTS_PER_PEER_MAX = 16
/** Claimants asked at once. One that is silent for `CLAIMANTS_MS_MIN` no longer counts. */
export const CLAIMANTS_AT_ONCE = 16
/** Longest wait for further claimants after one has sent its API: several round trips. */
export const CLAIMANTS_MS = 1 * SECOND
/** Shortest wait for them. In between it is as long as the first one took. */
export const CLAIMANTS_MS_MIN = 0.25 * SECOND
/** Listings in the catalogue. */
export const CATALOGUE_MAX = 20_000
/** Listings of one publisher in the catalogue. */
export const CATALOGUE_PER_PUBLISHER_MAX = 200
/** Nodes of a provider that are asked for its listings, one after the other. */
export const PROVIDER_NODES_ASKED_MAX = 3
/** Pages of a provider's listings that one search reads: 1,000 APIs. A further search continues there. */
export const PROVIDER_PAGES_MAX = 10
/** Time for which a peer that sent invalid listings, or supports no catalogue, is not queried. */
export const CATALOGUE_DISTRUST_MS = 10 * MINUTE
/** Peers whose catalogue cursors are remembered. */
export const CATALOGUE_CURSORS_MAX = 4_096
/** The epoch of a peer's catalogue, which is remembered for each of them. Souk's own has at most 32 characters. */
export const CATALOGUE_EPOCH_CHARS_MAX = 64
/** Time between two rounds of background queries. Announcements are faster. */
export const CATALOGUE_PULL_MS = 60 * SECOND
/** One query of a peer's catalogue, all its pages, on a slow link. The next one continues where it ended. */
export const CATALOGUE_READ_MS = 60 * SECOND
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
/** Announcements of this size are declined at the other neighbours of a node that has them. Declining a smaller one costs as much as receiving it. */
export const GOSSIP_DECLINED_BYTES_MIN = 1 * KiB
/** Seconds for which a node offers an announcement to neighbours outside its mesh. A busy one may miss the first offer. */
export const GOSSIP_OFFERS = 3
/** Percentage of these neighbours to which it is offered each second. */
export const GOSSIP_OFFERED_PERCENT = 100
/** Topics in one gossip message. Souk uses one. */
export const GOSSIP_TOPICS_MAX = 16
/** Announcements in one gossip message. */
export const GOSSIP_MESSAGES_MAX = 500
/** Gossip messages of one neighbour in one turn of the event loop. A turn of empty ones takes under 1 ms. */
export const GOSSIP_TURN_MESSAGES_MAX = 256
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
/** Manifest requests of one peer at once. An ingress that starts asks for each API that its consumers call. */
export const MANIFEST_REQUESTS_BURST = 1_000
/** Manifest requests of one peer per second, after the burst. */
export const MANIFEST_REQUESTS_PER_SECOND = 100
/** Peers whose manifest requests are counted. */
export const MANIFEST_PEERS_MAX = 4_096
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
/** Peers that a provider asks whether they know its API. One that does is enough. */
export const REACH_PEERS_MAX = 8
/** Indexed words of one operation: its name and its summary. */
export const OPERATION_TERMS_MAX = 64
/** Indexed operations of one publisher: 200 APIs of 50 operations. */
export const OPERATIONS_PER_PUBLISHER_MAX = 10_000
/** Indexed operations of all listings: 30 MB on disk. A search for a common word takes up to 80 ms. */
export const OPERATIONS_INDEXED_MAX = 100_000
/** Operations written in one transaction. Takes about 2 ms, so that calls are not delayed. */
export const OPERATIONS_PER_WRITE = 100
/** Pause between two such writes. */
export const OPERATIONS_WRITE_PAUSE_MS = 50
/** Listings whose operations are fetched concurrently. */
export const OPERATIONS_FETCHED_AT_ONCE = 4
/** Fetching the operations of one listing from all peers that may have them. */
export const OPERATIONS_FETCH_MS = 15 * SECOND
/** Pause after each fetch. Four of them together stay within `DESCRIPTIONS_REQUESTS_PER_SECOND`. */
export const OPERATIONS_FETCH_PAUSE_MS = 0.5 * SECOND
/** Longest pause before the sender of a listing is asked again, and then its owner: it may still fetch them itself. */
export const OPERATIONS_SENDER_MS = 2 * SECOND
/** Time between two checks for listings whose operations are missing, and before an unreachable provider is asked again. */
export const OPERATIONS_RETRY_MS = 60 * SECOND
/** Wait of a search for the operations of listings that arrived a moment ago. */
export const OPERATIONS_SETTLE_MS = 1 * SECOND
/** Matching operations of one listing that are compared to show the best ones. */
export const OPERATIONS_COMPARED_MAX = 40
/** Matching operations shown with a result. */
export const OPERATIONS_SHOWN_PER_LISTING_MAX = 5
