/** Limits: Finding the description of an API at its address (`souk sell`). */
import { KiB, MiB, SECOND } from './units.ts'

/** Requests to one address. The usual places of all protocols are about 50. */
export const DISCOVERY_REQUESTS_MAX = 64
/** Concurrent requests to one address. A small development server must stay responsive. */
export const DISCOVERY_AT_ONCE_MAX = 6
/** One request. A server that generates its description needs seconds for the first read. */
export const DISCOVERY_REQUEST_MS = 5 * SECOND
/** All requests to one address. The user waits for them. */
export const DISCOVERY_MS = 20 * SECOND
/** All responses together: three of the largest descriptions. */
export const DISCOVERY_BYTES_MAX = 15 * MiB
/** Part of a web page that is searched for links to a description. They are in its head. */
export const DISCOVERY_PAGE_BYTES_MAX = 256 * KiB
/** JSON that may be a GraphQL response or a catalog of APIs. More takes this process a long turn to parse. */
export const DISCOVERY_JSON_CHARS_MAX = 64 * KiB
/** Descriptions that are imported, best first. One import takes seconds for a large document. */
export const DISCOVERY_IMPORTS_MAX = 4
/** A proposed API name. Longer ones are hard to type. */
export const PROPOSED_NAME_CHARS_MAX = 40
