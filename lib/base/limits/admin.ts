/** Limits: The admin API and the console. */
import { KiB, MiB, SECOND, MINUTE, DAY } from './units.ts'

/** Body of an admin request: an escaped OpenAPI document of `OPENAPI_BYTES_MAX`, or WSDL files in base64. */
export const ADMIN_BODY_BYTES_MAX = 32 * MiB
/** Validity of a console setup code: time to open a browser and type it. */
export const SETUP_CODE_MS = 15 * MINUTE
/** Body of a request with a setup code. Anybody on this machine may send one. */
export const SESSION_BODY_BYTES_MAX = 1 * KiB
/** Keys or accounts per page: a megabyte of JSON at most. */
export const ADMIN_PAGE_MAX = 1_000
/** Attempts per setup code. Ten guesses at 2^40 codes succeed once in a hundred billion. */
export const SETUP_CODE_TRIES_MAX = 10
/** Lifetime of a console session. */
export const CONSOLE_SESSION_MS = 30 * DAY
/** Time for a stopping node to claim earnings: a few blocks of Base. */
export const SETTLE_ON_STOP_MS = 15 * SECOND
/** Connections of the admin API: one operator's browsers, scripts and event streams. */
export const ADMIN_CONNECTIONS_MAX = 1_024
/** Wait for running admin requests when a node stops. */
export const ADMIN_DRAIN_MS = 2 * SECOND
/** Reading an upstream at registration. A WSDL of many files from a slow server must pass. */
export const INSPECT_MS = 60 * SECOND
/** Part of a response that a test call shows. */
export const TRIAL_BODY_BYTES_MAX = 256 * KiB
/** Time for which a test call reads a stream. */
export const TRIAL_READ_MS = 5 * SECOND
/** APIs announced concurrently at start. One after the other would take minutes on a slow network. */
export const RESTORE_AT_ONCE_MAX = 8
/** Pause before an API that failed at start is tried again, such as a replica without its provider. */
export const RESTORE_RETRY_MS = 15 * SECOND
