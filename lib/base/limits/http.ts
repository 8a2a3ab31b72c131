/** Limits: HTTP servers. */
import { KiB, SECOND } from './units.ts'

/** Higher ports tried where a port is in use. */
export const PORT_TRIES_MAX = 50
/** Time for all headers of a request. Slower clients are attacks. */
export const HEADERS_RECEIVE_MS = 15 * SECOND
/** Time for a whole request: 10 MB over a slow mobile link. */
export const REQUEST_RECEIVE_MS = 120 * SECOND
/** Idle time of a kept connection. Common load balancers close theirs after 60 s. */
export const KEEP_ALIVE_MS = 72 * SECOND
/** Connections of an HTTP server, 20 KiB each; at most half of the files that its process may open. Idle ones are closed first. */
export const HTTP_CONNECTIONS_MAX = 8_192
/** HTTP connections of one host: an office behind one address. At most half of all. */
export const HTTP_CONNECTIONS_PER_HOST_MAX = 1_024
/**
 * Requests of one connection whose responses are not complete. More close the connection: 1,900 requests fit in the 64 KiB
 * that a server reads at once.
 */
export const PIPELINED_REQUESTS_MAX = 32
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
