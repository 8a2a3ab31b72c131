/** Limits: GraphQL. */
import { KiB, MiB, SECOND } from './units.ts'

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
/** Faults of a schema that a warning quotes. The rest are counted. */
export const GRAPHQL_SCHEMA_NOTES_MAX = 5
/** Characters of a schema that a process parses between two turns of its event loop: a few milliseconds. */
export const GRAPHQL_SCHEMA_SLICE_CHARS = 32 * KiB
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
/** Answering one introspection of a schema with hidden parts. GitHub's takes 1 s. */
export const GRAPHQL_INTROSPECTION_MS = 5 * SECOND
/** Heap of the process that answers introspections: the largest schema, and a response of `RESPONSE_BYTES_MAX`. */
export const GRAPHQL_INTROSPECTION_HEAP_MIB_MAX = 384
/** Introspections queued for that process. Each API has one there at a time. */
export const GRAPHQL_INTROSPECTIONS_WAITING_MAX = 32
