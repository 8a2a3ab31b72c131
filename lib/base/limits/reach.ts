/** Limits: Reach: how peers connect to this node, directly or through relays. */
import { HOUR, KiB, MiB, MINUTE, SECOND } from './units.ts'

/** Time between two checks of this node's own reach. Each check asks `REACH_ASKED_MAX` peers to dial back. */
export const REACH_CHECK_MS = 60 * SECOND
/** Pause after a change of peers or addresses before the next check, so that one check covers all of them. */
export const REACH_SETTLE_MS = 250
/** Longest time by which further changes postpone that check. A peer can cause changes all the time. */
export const REACH_SETTLE_MS_MAX = 4 * REACH_SETTLE_MS
/** Age from which a peer's verdict is replaced at once when the peer sees this node at another address. */
export const REACH_MOVED_MS = 5 * SECOND
/** Peers asked in one check. Two of them at different hosts confirm an address, or one bootstrap peer. */
export const REACH_ASKED_MAX = 3
/** Hosts whose peers have to confirm an address. One host alone may lie, with many keys; the network's bootstrap peers are trusted. */
export const REACH_CONFIRMATIONS_MIN = 2
/** Time for one dial-back: twice `DIAL_ADDRESS_MS` for each address, all at once, and the response. */
export const DIAL_BACK_MS = 9 * SECOND
/** Ports in one request: one listening port for each transport, and one mapped by a router. */
export const DIAL_BACK_PORTS_MAX = 4
/** Addresses in one request to be dialled over a relay. Each one costs a dial to an address that is not proved. */
export const DIAL_BACK_ADDRESSES_MAX = 4
/** Length of a multiaddr in a request. */
export const DIAL_BACK_ADDRESS_CHARS_MAX = 256
/** Size of a dial-back request or response. */
export const DIAL_BACK_BYTES_MAX = 4 * KiB
/** Dial-backs of one peer at once. A stranger must not make this node scan ports. */
export const DIAL_BACK_BURST = 4
/** Time until one more dial-back of the same peer: a few for each of its checks. */
export const DIAL_BACK_REFILL_MS = 15 * SECOND
/** Dial-backs for all peers at once. */
export const DIAL_BACKS_AT_ONCE = 8
/** Time between two checks of a connection that only proved an address, or came second. It is closed once it carries no stream. */
export const UNUSED_CONNECTION_MS = 2 * SECOND
/** Requests to dial back for one relayed channel. A peer allows `DIAL_BACK_BURST`, and one more by the time of the last. */
export const REVERSALS_ASKED_MAX = 5
/** Pause before the second request. It doubles each time, so the last one comes 15 s after the first, or later. */
export const REVERSAL_RETRY_FIRST_MS = 1 * SECOND
/** Peers whose dial-backs are counted. */
export const DIAL_BACK_PEERS_MAX = 4_096

/** Lead of direct addresses over relayed ones, because an address without a host costs `DIAL_ADDRESS_MS`. */
export const RELAYED_DIAL_DELAY_MS = 250
/** Relayed addresses of one peer that are dialled at the same time. */
export const RELAYED_DIALS_MAX = 4
/** Direct links to public peers that a node without direct reach keeps: bootstrap peers, and ingresses that it served. */
export const KEPT_LINKS_WANTED = 4
/** Time between two checks of these links. A lost link starts a check at once. */
export const KEPT_LINKS_CHECK_MS = 5 * SECOND
/** A peer that responds later may be cut off, so all other connections are pinged too. */
export const KEPT_LINK_SLOW_MS = 1 * SECOND
/** Pause before a peer that was not reached is dialled again. It doubles up to `KEPT_LINK_RETRY_MS`. */
export const KEPT_LINK_RETRY_FIRST_MS = 1 * SECOND
/** Longest pause between two such dials. A peer that moved is found again by its announcements. */
export const KEPT_LINK_RETRY_MS = 5 * MINUTE
/** Age at which the stored time of the last call of a peer is written again. */
export const SERVED_STORED_MS = 1 * HOUR
/** Relays that a node without direct reach keeps. The second takes over at once when the first goes. */
export const RELAYS_WANTED = 2
/** Time between two checks of the reservations. A relay's failure closes its connection, which starts a check at once. */
export const RELAY_CHECK_MS = 20 * SECOND
/** Renewals in a row that a relay may leave without a response. A busy relay is slow, and its link carries more. */
export const RELAY_RENEWALS_MISSED_MAX = 2
/** Time between two searches while this node has fewer than `RELAYS_WANTED`. New peers start a search at once. */
export const RELAY_SEARCH_MS = 2 * SECOND
/** Pause before a relay that refused or failed is asked again. */
export const RELAY_RETRY_MS = 30 * SECOND
/** Wait for the first relay before a node is ready, or its new API is. It then continues without one. */
export const RELAY_READY_MS = 3 * SECOND
/** Time to get a reservation. */
export const RELAY_RESERVE_MS = 5 * SECOND
/** Relays that failed, remembered until `RELAY_RETRY_MS` has passed. */
export const RELAYS_FAILED_MAX = 1_024
/** Reservations that one relay gives. Each holds a connection, so this is half of `CONNECTIONS_MAX`. */
export const RELAY_RESERVATIONS_MAX = 256
/** Validity of a reservation. Its holder renews it every `RELAY_CHECK_MS`. */
export const RELAY_RESERVATION_MS = 1 * HOUR
/** Bytes that one circuit may carry, both ways. libp2p's 128 KiB end it after 58 calls; this one carries over 100,000. */
export const RELAY_CIRCUIT_BYTES_MAX = 256 * MiB
/** Duration of one circuit. Its calls then continue over the next one. */
export const RELAY_CIRCUIT_MS = 1 * HOUR
/** Bytes of a circuit that wait for its receiver, each way, while its sender goes on: as those that wait for the reader of a body. */
export const RELAYED_QUEUE_BYTES_MAX = 256 * KiB
/** Bytes of all circuits that wait for their receivers. Above it, the largest waiting circuits are aborted. */
export const RELAYED_BYTES_MAX = 128 * MiB
/** Circuits that one peer has open through this relay: one for each owner that it calls. */
export const RELAY_CIRCUITS_PER_PEER_MAX = 16
/** Circuits to one holder of a reservation: its consumers. */
export const RELAY_CIRCUITS_PER_HOLDER_MAX = 64
/** Circuits that one peer opens at once. */
export const RELAY_CIRCUITS_BURST = 16
/** Time until the same peer may open one more circuit: at most 19 GiB of traffic in its first hour. */
export const RELAY_CIRCUIT_REFILL_MS = 1 * MINUTE
/** Size of a relay's response: a status, limits and, to a reservation, its addresses. */
export const HOP_BYTES_MAX = 4 * KiB
/** Time to set up one circuit. */
export const RELAY_HOP_MS = 5 * SECOND

/** Time between two checks whether a replaced channel is idle. A running call is never cut by the move to another link. */
export const REPLACED_CHANNEL_CHECK_MS = 1 * SECOND

/** Lifetime of a port that the router forwards. A node that was killed leaves it so long. */
export const PORT_MAPPING_MS = 1 * HOUR
/** Time between two renewals, and between two searches for a router. A router forgets its ports when it restarts. */
export const PORT_MAPPING_CHECK_MS = 10 * MINUTE
/** Requests for one port: others of the same number belong to other machines. */
export const PORT_MAPPING_TRIES_MAX = 4
/** Time of a search for UPnP routers. They respond within 1 second. */
export const ROUTER_SEARCH_MS = 1_500
/** Time for a router to respond to one request. */
export const ROUTER_ANSWER_MS = 3 * SECOND
/** Pause before a NAT-PMP request is sent again (RFC 6886). It doubles each time. */
export const NAT_PMP_REPEAT_MS = 250
/** UPnP routers asked in one network. Any machine there can claim to be one. */
export const ROUTERS_ASKED_MAX = 4
/** Size of a router's description or response. Real descriptions have a few kilobytes. */
export const ROUTER_DOCUMENT_BYTES_MAX = 64 * KiB
