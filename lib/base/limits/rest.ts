/** Limits: REST. */
import { KiB, MiB, MINUTE, SECOND } from './units.ts'

/** An OpenAPI document as text. GitHub’s has 13 MB, most others have a tenth of that. */
export const OPENAPI_BYTES_MAX = 16 * MiB
/** Files of one OpenAPI document. DigitalOcean’s has 1,900. */
export const OPENAPI_FILES_MAX = 4_000
/** Files of one OpenAPI document that are read at once. */
export const OPENAPI_FILES_AT_ONCE_MAX = 8
/** Reading all files of one OpenAPI document. The largest has 240 batches of files. Each depth of references parses all of them again. */
export const OPENAPI_FILES_MS = 2 * MINUTE
/** Shortest time between two reads of an OpenAPI document from its URL, before it rejects a call. */
export const OPENAPI_FRESH_MS = 60 * SECOND
/** Values of an OpenAPI document after YAML anchors are expanded, which can multiply a billion times. */
export const OPENAPI_NODES_MAX = 1_000_000
/** Characters of all strings of an OpenAPI document after YAML anchors are expanded. */
export const OPENAPI_CHARS_MAX = 2 * OPENAPI_BYTES_MAX
/** Nesting of an OpenAPI document as JSON. Real documents have a dozen schema levels of two or three each. */
export const OPENAPI_NESTING_MAX = 200
/** Lines of a YAML document whose indentation is corrected. Each correction parses the document again. */
export const OPENAPI_REINDENTED_MAX = 50
/** Schemas of one OpenAPI document. Real ones of 16 MiB have 130,000. */
export const OPENAPI_SCHEMAS_MAX = 300_000
/** Characters of an example as JSON. Every listing publishes them, so larger ones are left out. */
export const OPENAPI_EXAMPLE_CHARS_MAX = 200
/** Members of a body’s example that are published, each as a small example. */
export const OPENAPI_EXAMPLE_MEMBERS_MAX = 50
/** Nesting of unnamed schemas. */
export const OPENAPI_DEPTH_MAX = 64
/** Schemas that one schema is composed of, where a call is written. Each call looks them up for each of its members. */
export const COMPOSED_PARTS_MAX = 64
/** Values of a refused call that are compared with their schemas once more, as the texts that they become. */
export const TEXT_VALUES_MAX = 1_000
/** Nesting of a `deepObject` parameter. Each level repeats the names above it. */
export const DEEP_OBJECT_DEPTH_MAX = 32
/** Nesting of lists in a parameter of OpenAPI 2.0. Real ones have two levels. */
export const PARAMETER_LISTS_MAX = 8
/** Nesting of an XML body, as of its JSON (`JSON_DEPTH_MAX`). */
export const XML_BODY_DEPTH_MAX = 64
/** References in a row to a parameter, a body or a response. More are a cycle or a mistake. */
export const OPENAPI_HOPS_MAX = 10
/** Parameters and body members of one operation. A body with more members becomes one field. */
export const OPERATION_FIELDS_MAX = 5_000
/** Schemas that check one operation's calls, as JSON. Larger ones generate too much code. */
export const CALL_SCHEMA_BYTES_MAX = 256 * KiB
/** Generated code that checks one operation's calls: ten times its schemas. */
export const CALL_CHECK_CHARS_MAX = 4 * MiB
/** Generated code that is cached for one API. */
export const CALL_CHECKS_CHARS_MAX = 16 * MiB
/** Steps of a schema check in the main process, 20 ns each at worst. Larger checks run in the check process. */
export const CALL_CHECK_STEPS_MAX = 2_000_000
/** Time limit of one schema check in the check process. Generating its code counts too. */
export const CALL_CHECK_MS = 2 * SECOND
/** After a schema check timed out, calls of its operation that need as many steps are refused for this time. */
export const CALL_CHECK_REST_MS = 30 * SECOND
/** While so many operations of an API are refused for that, all slow schema checks of the API are. */
export const CALL_CHECKS_RESTING_MAX = 4
/** Heap of the check process: a body of 10 MiB as JSON, several times. */
export const CALL_CHECK_HEAP_MIB_MAX = 384
/** Schema checks queued for the check process. */
export const CALL_CHECKS_WAITING_MAX = 32
