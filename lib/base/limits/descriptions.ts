/** Limits: Imports of descriptions. */
import { KiB, MiB, SECOND, MINUTE } from './units.ts'

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
/** Shortest wall-clock limit of a task. Its process has a low priority, so on a busy machine it may need 20 s to start. */
export const TASK_CLOCK_MS_MIN = 60 * SECOND
/** Memory of the idle process. After a larger task it ends at once, because this process needs memory for the result. */
export const TASK_PROCESS_KEPT_BYTES = 128 * MiB
/** Result of one task: four times the largest document. This process reads and stores it. */
export const TASK_RESULT_CHARS_MAX = 64 * MiB
/** Warnings about one description, for its provider. Real documents have up to 150. */
export const DESCRIPTION_WARNINGS_MAX = 200
/** One warning or error about a description. The longest names five parts of a document. */
export const DESCRIPTION_NOTE_CHARS_MAX = 4 * KiB
/** A description that exceeded a limit is not reread automatically for this time, because others queue behind it. */
export const DESCRIPTION_REST_MS = 10 * MINUTE
/** Shortest time between two revisions of a listing because its API's description changed. */
export const DESCRIPTION_RENEWED_MS = 60 * SECOND
/** Schemas whose check code is generated when a document is read, to warn where that fails. Takes 0.5 s, 3 s at worst. */
export const CALL_CODES_TRIED_BYTES_MAX = 64 * KiB
/** Operations and JSON Schemas inside a manifest. A larger description becomes documents that peers fetch on demand. */
export const INLINE_DESCRIPTION_BYTES_MAX = 16 * KiB
/** Names of operations inside a manifest with documents, for peers that cannot read documents. */
export const INLINE_NAMES_BYTES_MAX = 16 * KiB
/** Documentation of one operation. Longer texts are guides, which belong on the provider's own pages. */
export const OPERATION_TEXT_CHARS_MAX = 8_000
/** Operations on one page of names and summaries. Part of the protocol. */
export const OPERATIONS_PER_PAGE = 100
/** One-line summary of an operation. 100 of them fit a page that every node reads. */
export const SUMMARY_CHARS_MAX = 120
/** Name of an operation in a description. Longest public ones have about 200. */
export const SUMMARIZED_NAME_CHARS_MAX = 500
/** One document of a description. The largest public schema of one type has 300 KiB. */
export const DESCRIPTION_DOCUMENT_BYTES_MAX = 1 * MiB
/** One page of names and summaries: 100 of the longest, escaped. Every node reads these pages. */
export const DESCRIPTION_PAGE_BYTES_MAX = 384 * KiB
/** One part of an SDL. Peers fetch several in one reply. */
export const SDL_PART_BYTES_MAX = 128 * KiB
/** Parts of an SDL: twice the largest schema that can be registered. */
export const SDL_PARTS_MAX = 128
/** Documents of one listing: 2,000 operations and their shared schemas. */
export const DESCRIPTION_DOCUMENTS_MAX = 65_536
/** All documents of one listing at its owner. Operations above it are described without schemas. */
export const LISTING_DESCRIPTION_BYTES_MAX = 32 * MiB
/** Shared schemas of one schema. Stripe's largest has 900. */
export const DESCRIBED_PARTS_MAX = 2_000
/** One schema with its shared schemas. A reader that needs more reads the provider's own documentation. */
export const DESCRIBED_SCHEMA_BYTES_MAX = 1 * MiB
/** Requests whose operations with their schemas are assembled at the same time. Others wait. */
export const DESCRIPTIONS_ASSEMBLED_AT_ONCE = 4
/** One API as an OpenAPI document. Programs that generate code read larger ones poorly. */
export const OPENAPI_VIEW_BYTES_MAX = 16 * MiB
/** TypeScript of one API. The compiler takes seconds for it; Kubernetes needs 5 MiB. */
export const TYPES_CHARS_MAX = 32 * MiB
/** Levels of a schema inside another one, in TypeScript. Deeper ones are `unknown`. */
export const TYPES_DEPTH_MAX = 40
/** Alternatives of one TypeScript union. The compiler compares each with each. */
export const TYPES_ALTERNATIVES_MAX = 1_000
/** Documentation of one name in TypeScript, as editors show it beside the code. */
export const TYPES_COMMENT_CHARS_MAX = 1_000
/** OpenAPI documents of APIs made at the same time at an ingress. */
export const OPENAPI_VIEWS_MADE_AT_ONCE = 3
/** OpenAPI documents of APIs kept at an ingress, because each takes up to a second to make. */
export const OPENAPI_VIEWS_BYTES_MAX = 32 * MiB
/** All schemas of a description as the console and `souk api check` show it before it is published. */
export const SHOWN_DESCRIPTION_BYTES_MAX = 4 * MiB
/** Documents of peers in memory. The least recently used ones are dropped. */
export const DESCRIPTIONS_CACHE_BYTES_MAX = 64 * MiB
/** Documents that are parsed or written in one turn. Small values parse at 50 ns a byte, so this takes 15 ms at worst. */
export const DESCRIPTION_TURN_BYTES = 256 * KiB
/** Descriptions whose names are kept parsed. Each has up to 2,000. */
export const DESCRIPTIONS_PARSED_MAX = 64
/** Hashes that prove one document: the height of a tree of `DESCRIPTION_DOCUMENTS_MAX` leaves. */
export const DESCRIPTION_PROOF_HASHES_MAX = 16
/** Documents in one request. */
export const DESCRIPTIONS_WANTED_MAX = 512
/** A request for documents: a root and numbers. */
export const DESCRIPTIONS_REQUEST_BYTES_MAX = 4 * KiB
/** A reply with documents: two of the largest. */
export const DESCRIPTIONS_REPLY_BYTES_MAX = 2 * MiB + 64 * KiB
/** Concurrent requests for documents to one peer. */
export const DESCRIPTIONS_PER_PEER_MAX = 4
/** Requests for documents from one peer at once: a whole large description. */
export const DESCRIPTIONS_REQUESTS_BURST = 128
/** Requests for documents from one peer per second, after the burst. */
export const DESCRIPTIONS_REQUESTS_PER_SECOND = 8
/** Peers whose requests for documents are counted. */
export const DESCRIPTIONS_PEERS_MAX = 4_096
/** Shorter secrets are not redacted in responses, because they occur in any text ("1", "yes"). */
export const SECRET_CHARS_MIN = 4
