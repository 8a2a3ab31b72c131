/** Limits: Network files. */
import { HOUR, KiB, MINUTE, SECOND } from './units.ts'

/** A network file: a kilobyte, and each bootstrap address and handover adds a hundred bytes. */
export const NETWORK_FILE_BYTES_MAX = 16 * KiB
/** An invitation: a network file in base64, and a few addresses. */
export const INVITATION_CHARS_MAX = 32 * KiB
/** Time to fetch a network file, redirects included. */
export const NETWORK_FETCH_MS = 10 * SECOND
/** Time a start waits for a newer network file. The node has one already. */
export const NETWORK_REFRESH_MS = 3 * SECOND
/** Time between two looks of a running node for a newer network file. New bootstrap peers are seldom urgent. */
export const NETWORK_REREAD_MS = 1 * HOUR
/** First pause after a failed look. Each further failure doubles it, up to `NETWORK_REREAD_MS`. */
export const NETWORK_RETRY_MS = 1 * MINUTE
/** Characters of an ETag that is sent back. */
export const ETAG_CHARS_MAX = 256
/** Redirects of a network file: a host that moved, and its canonical name. */
export const NETWORK_REDIRECTS_MAX = 3
/** Bootstrap addresses in a network file. A node needs one that responds. */
export const NETWORK_BOOTSTRAP_MAX = 16
/** Characters of one bootstrap address. */
export const NETWORK_ADDRESS_CHARS_MAX = 256
/** Characters of the name of a network. With the founder's id, the name on the wire has 32. */
export const NETWORK_TITLE_CHARS_MAX = 19
/** Characters of the founder's id in a network's name: 48 bits of a hash; the signature, not the name, is the proof. */
export const FOUNDER_ID_CHARS = 12
/** Handovers of a network to another key. Each proves the next. */
export const NETWORK_HANDOVERS_MAX = 8
/** Most confirmations that a network may require: minutes on Base. */
export const CONFIRMATIONS_MAX = 64
/** Characters of `--network`: a name, a path or a URL. */
export const NETWORK_CHOICE_CHARS_MAX = 2_000
/** Time for a chain on this machine to respond, when a new profile chooses its network. */
export const LOCAL_CHAIN_MS = 1 * SECOND
