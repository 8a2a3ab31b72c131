import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Time after the start until its garbage is collected. */
const START_MS = 10_000
/** A busier event loop makes V8 collect by itself, and should not pause. */
const BUSY_SHARE = 0.1

/**
 * Collects the garbage of the start, if the node is idle. The start fills V8's young generation, about 50 MB. V8 returns that memory some
 * seconds after a full collection, which an idle process never runs.
 */
export function collectStartGarbage(afterMs = START_MS): void {
  const before = performance.eventLoopUtilization()
  const timer = setTimeout(() => {
    if (performance.eventLoopUtilization(before).utilization < BUSY_SHARE) collect()
  }, afterMs)
  timer.unref()
}

function collect(): void {
  // Node.js exposes the collector only by this flag. It affects new contexts only.
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  gc()
}
