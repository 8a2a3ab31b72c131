/** Limits: Agents (MCP). */
import { REQUEST_BYTES_MAX } from './call.ts'
import { KiB, MiB, SECOND, MINUTE } from './units.ts'

/** Name of an MCP tool. Clients and models accept no longer ones. */
export const MCP_NAME_CHARS_MAX = 64
/** APIs whose operations become tools. A model chooses badly among more. */
export const MCP_APIS_MAX = 32
/** Tools of one API that the agent did not name. */
export const MCP_TOOLS_PER_API_MAX = 64
/** All tools. A model pays for reading each. */
export const MCP_TOOLS_MAX = 1_024
/** Patterns of operations that an agent names. */
export const MCP_PATTERNS_MAX = 64
/** Resolving one API for the list of tools. A slow API is left out. */
export const MCP_LOOKUP_MS = 5 * SECOND
/** Cache time of the list of tools, sent to clients. Prices may change with each revision. */
export const MCP_LIST_FRESH_MS = 1 * MINUTE
/** Description of a tool, which a model reads before every choice. */
export const MCP_DESCRIPTION_CHARS_MAX = 1_000
/** Outline of a GraphQL schema in a description. */
export const MCP_OUTLINE_CHARS_MAX = 6_000
/** Input schemas of all tools together. Many tools get a smaller schema each. */
export const MCP_LIST_BYTES_MAX = 2 * MiB
/** Lists of tools that are kept for the next agent with the same APIs: some of the largest. */
export const MCP_LISTS_CACHED_BYTES_MAX = 16 * MiB
/** Name of an argument. Model vendors accept no longer ones. */
export const MCP_ARGUMENT_CHARS_MAX = 64
/** Schema shown with its tool. Larger ones are shown on request. */
export const MCP_SCHEMA_BYTES_MAX = 32 * KiB
/** Depth of a declared schema. Model vendors accept 10 levels of objects. */
export const MCP_SCHEMA_DEPTH_MAX = 10
/** Values of an enumeration, or alternatives, of a declared schema. A model reads no more. */
export const MCP_SCHEMA_CHOICES_MAX = 100
/** Nodes of a declared schema. */
export const MCP_SCHEMA_NODES_MAX = 1_000
/** Response as a tool result: more than a model reads. */
export const MCP_ANSWER_BYTES_MAX = 256 * KiB
/** Wait of a tool for the end of a streamed response. */
export const MCP_STREAM_MS = 30 * SECOND
/** Messages of a batch. Revisions before 2025-06-18 have batches. */
export const MCP_BATCH_MAX = 50
/** Message of an agent: a call's body and the protocol around it. */
export const MCP_MESSAGE_BYTES_MAX = REQUEST_BYTES_MAX + 64 * KiB
/** Message that `souk mcp` reads. The node responds to messages over `MCP_MESSAGE_BYTES_MAX` with an error. */
export const MCP_STDIO_BYTES_MAX = 16 * MiB
/** Entries in a page of the list of resources. Clients read pages one after another. */
export const MCP_RESOURCES_PAGE = 200
/** One resource: documents of an API. A model reads no more. */
export const MCP_RESOURCE_BYTES_MAX = 256 * KiB
/** Suggested values of an argument. The protocol allows no more. */
export const MCP_COMPLETIONS_MAX = 100
/** An argument of a prompt, such as a task in a user's words. */
export const MCP_PROMPT_ARGUMENT_CHARS_MAX = 4_000
/** Between two notifications about the progress of a call. A user interface shows no more. */
export const MCP_PROGRESS_MS = 100
/** New items of a stream in one notification. The result has all of them. */
export const MCP_PROGRESS_CHARS_MAX = 4_000
