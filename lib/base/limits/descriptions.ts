/** Limits: Imports of descriptions. */
import { KiB, SECOND, MINUTE } from './units.ts'

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
/** Shortest time between two revisions of a listing because its API's description changed. */
export const DESCRIPTION_RENEWED_MS = 60 * SECOND
/** Schemas whose check code is generated when a document is read, to warn where that fails. Takes 0.5 s, 3 s at worst. */
export const CALL_CODES_TRIED_BYTES_MAX = 64 * KiB
/** Operations and JSON Schemas in a manifest. The manifest needs the rest. */
export const API_DESCRIPTION_BYTES_MAX = 192 * KiB
/** Shorter secrets are not redacted in responses, because they occur in any text ("1", "yes"). */
export const SECRET_CHARS_MIN = 4
