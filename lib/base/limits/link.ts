/** Limits: The link between nodes. */
import { HEADER_BYTES_MAX, PATH_BYTES_MAX, PAYMENT_CHARS_MAX } from './call.ts'
import { KiB, MiB, MINUTE, SECOND } from './units.ts'

/** Body sent inside its frame. A larger body gets its own stream, so that it cannot stall other calls. */
export const INLINE_BODY_BYTES_MAX = 64 * KiB
/** One frame: an inline body, all headers, a path, a payment, and 8 KiB for the rest. */
export const FRAME_BYTES_MAX = INLINE_BODY_BYTES_MAX + HEADER_BYTES_MAX + PATH_BYTES_MAX + PAYMENT_CHARS_MAX + 8 * KiB
/** Frames of one turn are written together. From this size on they are written at once. */
export const BATCH_BYTES_MAX = 64 * KiB
/** Frames that do not wait for more. Their message takes little more CPU time than a message of one frame. */
export const BATCH_FRAMES_MIN = 8
/** Longest wait of a frame for others, in turns of the event loop. Under load these turns bring the frames of several calls. */
export const BATCH_TURNS_MAX = 4
/** Running calls of a link from which its frames wait more than one turn. With fewer calls, the wait brings no other frames. */
export const BATCH_CALLS_MIN = 16
/** Queue of a slow link. New calls on it are refused above this size. */
export const LINK_QUEUE_BYTES_MAX = 4 * MiB
/** libp2p's own buffer. libp2p resets the stream above it, so our queue must stop first. */
export const LINK_BUFFER_BYTES_MAX = 8 * MiB
/** Yamux window of one stream: unacknowledged bytes of a streamed body. */
export const LINK_WINDOW_BYTES_MAX = 4 * MiB
/** Chunk of a streamed body: large enough to be cheap, small enough to share the link fairly. */
export const BULK_CHUNK_BYTES_MAX = 64 * KiB
/** Tag of a Noise message. ChaCha20-Poly1305, RFC 8439. */
export const NOISE_TAG_BYTES = 16
/** Plaintext of a Noise message: 65,535 bytes less the tag. */
export const NOISE_TEXT_BYTES_MAX = 65_535 - NOISE_TAG_BYTES
/** Chunk as sent: with its length and the yamux header it fills one Noise message. A longer one needs two. */
export const BULK_CHUNK_BYTES_SENT = NOISE_TEXT_BYTES_MAX - 12 - 3
/** Unsent bytes of a TCP socket at which its writers wait: four chunks, which one system call sends. */
export const SOCKET_BUFFER_BYTES = 256 * KiB
/** Unsent bytes of a full connection at which it is closed. Bodies wait in their streams, so these are responses that the peer does not read. */
export const CONNECTION_UNSENT_BYTES_MAX = 256 * KiB
/** Tag of a bulk stream: a request id and a few bytes. */
export const BULK_TAG_BYTES_MAX = 64
/** Unsent responses to one peer before its calls are refused: two of the largest, with room for others. */
export const UNSENT_PER_PEER_BYTES_MAX = 32 * MiB
/** Unsent responses to all peers. Above it, a peer that has not read its own gets no new calls: as many bytes as bodies may have. */
export const UNSENT_BYTES_MAX = 256 * MiB
/** Received bytes of bodies that wait for their readers, from all peers: 512 slow readers. Above it, the largest waiting bodies are aborted. */
export const UNREAD_BYTES_MAX = 256 * MiB
/** Such bytes above which windows of slow readers do not stay grown, because each may hold `LINK_WINDOW_BYTES_MAX`. */
export const UNREAD_BYTES_MANY = 64 * MiB
/** Such bytes of one body that show a slow reader: what is queued for it, and some of the window. */
export const UNREAD_BODY_BYTES_MANY = 384 * KiB
/** Time between two sums of these bytes. A link of 1 Gbit/s brings a tenth of the limit meanwhile. */
export const UNREAD_CHECK_MS = 100
/** Concurrent bulk streams with one peer: as many as calls, so that slow readers of some responses do not break others. */
export const BULK_STREAMS_PER_PEER_MAX = 1_024
/** Bulk streams of one peer that no frame has announced. Both are sent at the same time. */
export const BULK_STREAMS_WAITING_PER_PEER_MAX = 128
/** Lines of one selection of a protocol by multistream-select. libp2p offers a few protocols, one a line. */
export const SELECT_LINES_MAX = 64
/** One line of multistream-select, as libp2p limits it. */
export const SELECT_BYTES_MAX = 1 * KiB
/** Bytes of the length before a message. Five hold every message that a peer accepts; libp2p reads on without a limit. */
export const LENGTH_BYTES_MAX = 5
/** Messages of one stream of the directory or an exchange that wait for a response. Peers send one, and await its response. */
export const MESSAGES_UNANSWERED_MAX = 16
/** Bytes that one stream moves into its connection at once, before the next one has its turn: a chunk of a body. */
export const STREAM_TURN_BYTES_MAX = 64 * KiB
/** Time for the frames of all connections in one turn of the event loop. Longer than `LOAD_LATE_MS`, so that load shedding sees an overload. */
export const FRAMES_TURN_MS = 200
/** Frames of all peers in one turn. The response to a ping takes 12 µs. Bodies need few frames: each has up to 64 KiB. */
export const FRAMES_PER_TURN_MAX = 256
/** Frames of each peer in one turn, also after others have sent `FRAMES_PER_TURN_MAX`. */
export const FRAMES_PER_TURN_SHARE = 16
/** A frame that opens a stream counts as so many. A stream costs about 0.2 ms, and more with its first message. */
export const OPENING_FRAME_COUNT = 4
/** Streams of one connection whose protocol the peer has not named. With more, those that have none after `UNNAMED_STREAMS_MS` are aborted. */
export const UNNAMED_STREAMS_MAX = 128
/** Time for the names of too many streams. Peers send the name with the stream. */
export const UNNAMED_STREAMS_MS = 1 * SECOND
/** Streams of one connection, each way: bulk streams, unnamed ones, and those of all other protocols. */
export const STREAMS_PER_CONNECTION_MAX = 1_280
/** Open control streams of one peer: one each way, and one more each while it is replaced. */
export const CONTROL_STREAMS_PER_PEER_MAX = 4
/** Time from dialling to the peer's hello. */
export const HELLO_MS = 5 * SECOND
/** Time for a test network's nodes to connect. Test machines are often busy. */
export const TESTNET_JOIN_MS = 60 * SECOND
/** Wait for a bulk stream that a frame announced. A busy machine may handle the frames of many calls before their streams. */
export const BULK_OPEN_MS = 20 * SECOND
/** Software name in a node's hello. */
export const AGENT_CHARS_MAX = 64
/** Time for the response of an exchange, such as a manifest, while no bytes pass on the connection. After them, the peer has `HEARTBEAT_ANSWER_MS`. */
export const EXCHANGE_MS = 3 * SECOND
/** Longest exchange on a connection where bytes pass: two of the largest responses on a link of 280 kbit/s. */
export const EXCHANGE_MS_MAX = 2 * MINUTE
/** Longest pause between two attempts to reconnect a node without peers. */
export const REJOIN_MS = 2 * SECOND
/** First pause between two attempts to reconnect. It doubles up to `REJOIN_MS`. */
export const REJOIN_FIRST_MS = 250
/** Neighbours that send this node announcements. With fewer, it looks for others: a third of them may be dead, and not noticed yet. */
export const NEIGHBOURS_MIN = 10
/** Time between two checks of their number. A check takes under 1 ms. */
export const NEIGHBOURS_CHECK_MS = 2 * SECOND
/** First pause between two searches for neighbours. It doubles while they find none. */
export const NEIGHBOURS_SEARCH_FIRST_MS = 4 * SECOND
/** Longest pause between two such searches. In a network with fewer nodes each one is in vain, and costs a DHT query. */
export const NEIGHBOURS_SEARCH_MS = 5 * MINUTE
/** Time between two checks of the network interfaces. A check takes under 1 ms. */
export const INTERFACES_CHECK_MS = 5 * SECOND
/** Time between two checks for peers that send nothing while calls wait. Two of them and a probe are below a call's default timeout. */
export const SILENCE_CHECK_MS = 5 * SECOND
/** Time for a peer to respond to a ping after its silence, or after an interface of this machine changed. */
export const LINK_PROBE_MS = 5 * SECOND
/** Longest time between two pings of a connection. A dead peer is noticed after this time and `HEARTBEAT_ANSWER_MS` at the latest. */
export const HEARTBEAT_MS = 30 * SECOND
/** Range of the random times of pings, so that 500 are not sent in one turn. The end that dialled pings this much earlier. */
export const HEARTBEAT_SPREAD_MS = 3 * SECOND
/** Time between two pings of yamux itself. The first one measures the round trip, which sizes its windows. */
export const LINK_RTT_MS = 10 * MINUTE
/** Time for a peer to respond to a ping. Closing a busy peer's connection would load it more. */
export const HEARTBEAT_ANSWER_MS = 10 * SECOND
/** Wait for the network at start, and of a lookup if all known peers refuse. A node whose peers are all offline continues alone. */
export const JOIN_MS = 2 * SECOND
/** Time after its first peer in which a node repeats lookups that find nothing. Below `LOOKUP_MS`. */
export const JOINING_MS = 3 * SECOND
/** Pause between two such lookups. One costs a few messages to the peers known so far. */
export const JOINING_RETRY_MS = 200
/** Time for which a lost peer is expected back, because it or its router may have restarted, and in which a silent network may respond. */
export const RETURN_MS = 15 * SECOND
/** Longest pause between two lookups meanwhile. */
export const RETURN_RETRY_MS = 1 * SECOND
/** Peers whose disconnection is remembered for so long. */
export const RETURNS_MAX = 1_024
/** Time between two checks whether the nodes of a test network know each other. */
export const READY_POLL_MS = 5
/** Wait for the node's own ports at start. Opening them takes a few ms, but a port may be taken, and then never opens. */
export const LISTEN_MS = 1 * SECOND
/** Peers whose addresses are stored over a restart. */
export const CACHED_PEERS_MAX = 64
/** Time to send queued frames when a link stops, and again for the peers to read them. */
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
/** Connections in handshake. With one more, the oldest of the site with the most ends. */
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
/** Addresses dialled per DNS name. A malicious peer may name addresses of others here as well. */
export const DIALS_PER_NAME_MAX = 4
/** Concurrent dials. A directory lookup dials a few at a time. */
export const DIALS_AT_ONCE = 32
/** Dials waiting in the queue. */
export const DIALS_WAITING_MAX = 256
/** Time for a dialled address to connect, and again for its handshake. A silent address looks the same as a slow network. */
export const DIAL_ADDRESS_MS = 3 * SECOND
/** Lead of each address of a peer over its next one: the Connection Attempt Delay of RFC 8305. */
export const DIAL_STAGGER_MS = 250
/** Dial time per peer: its last address starts after all others, connects and has its handshake. */
export const DIAL_PEER_MS = 2 * DIAL_ADDRESS_MS + (DIALS_PER_PEER_MAX - 1) * DIAL_STAGGER_MS
/** Addresses dialled at once, of all peers. Above it, a peer's next address waits until another one fails. */
export const DIALLED_ADDRESSES_MAX = 64
/**
 * Peers whose addresses libp2p keeps in memory. Identities are free to create, so the least recently seen is dropped.
 */
export const PEERS_STORED_MAX = 4_096
/** Stored addresses of one peer. A machine has a few for each of its networks, and some at relays. */
export const PEER_ADDRESSES_MAX = 64
/** One stored address. The longest ones name a relay, and the hashes of two certificates. */
export const PEER_ADDRESS_BYTES_MAX = 256
/** Stored protocols of one peer. A node of Souk supports 15. */
export const PEER_PROTOCOLS_MAX = 128
/** Streams opened before a connection's setup is complete. */
export const EARLY_STREAMS_MAX = 64
/** Redials of a lost peer. */
export const RECONNECTS_MAX = 10
/** Time for a judged peer to respond. Machines of tests are busy. */
export const CONFORMANCE_ANSWER_MS = 10 * SECOND
/** Time for a judged peer to reset an invalid stream. */
export const CONFORMANCE_RESET_MS = 3 * SECOND
/** Wait for the next call of a judged consumer, which a person may start. */
export const CONFORMANCE_CALLS_MS = 60 * SECOND
/** A judged consumer that resets a stream does so within this time. */
export const CONFORMANCE_QUIET_MS = SECOND / 2
/** Time between two queries for peers on the LAN. A peer that starts is found at once, because it asks itself. */
export const LAN_QUERY_MS = 10 * SECOND
/** Dials at once to peers on the LAN. Any machine there can name addresses, and must not make this node scan ports. */
export const LAN_DIALS_AT_ONCE = 4
/** Pause before the same peer on the LAN is dialled again. */
export const LAN_DIAL_PAUSE_MS = 30 * SECOND
/** Peers on the LAN whose last dial is remembered. */
export const LAN_PEERS_MAX = 1_024
/** WebSocket message of a peer. Noise's largest is 64 KiB; some libraries send several in one. */
export const WEBSOCKET_MESSAGE_BYTES_MAX = 1 * MiB
/** WebSocket message of this node, so that a full buffer does not become one message. */
export const WEBSOCKET_SENT_BYTES_MAX = 256 * KiB
/** Head of the HTTP request that opens a WebSocket. Proxies add their headers. */
export const WEBSOCKET_HEAD_BYTES_MAX = 16 * KiB
