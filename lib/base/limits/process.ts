/** Limits: The process. */
import { MiB, SECOND } from './units.ts'

/** One check of `souk doctor`. */
export const DOCTOR_CHECK_MS = 10 * SECOND
/** Free space below which `souk doctor` warns: more than a busy node writes in a day. */
export const DISK_FREE_BYTES_MIN = 1024 * MiB
/** Time the event loop may block before the watchdog ends the process. No call takes a tenth of it. */
export const WATCHDOG_MS = 30 * SECOND
/** Longest watchdog limit that can be set, in seconds. */
export const WATCHDOG_S_MAX = 3_600
/** Watchdog ticks per limit: one a second. */
export const WATCHDOG_TICKS = 30
/** A tick later than this many ticks is ignored: the process was stopped or the machine slept. */
export const WATCHDOG_LATE_TICKS = 2
/** Factor of the limit at start. A schema migration of a large database blocks for minutes. */
export const WATCHDOG_START_FACTOR = 20
/** Wait for the main thread's stack. Native code cannot be interrupted. */
export const WATCHDOG_STACK_MS = 5 * SECOND
/** Innermost stack frames that are logged. */
export const WATCHDOG_FRAMES_MAX = 12
/** Length of a function name in that log. */
export const WATCHDOG_NAME_CHARS_MAX = 80
/** Time for stderr and exit(3) before the process is killed. */
export const WATCHDOG_EXIT_MS = 5 * SECOND
/** Heap of the watchdog thread. The inspector reports every loaded script to it. */
export const WATCHDOG_HEAP_MB_MAX = 32
/** A commit that takes longer is logged. An idle disk takes a hundredth of it, and each paid call waits for one. */
export const SLOW_COMMIT_MS = 250
/** Characters of an error in a log line. Its text may contain a name from outside. */
export const LOGGED_REASON_CHARS_MAX = 500
/** Characters of `--log`. Souk has a dozen logs and libp2p some dozens. */
export const LOG_NAMES_CHARS_MAX = 1_000
