import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects the garbage of the start and returns its memory to the system, about 60 MB. It takes 0.1 s, so it runs before the node is
 * announced as ready. V8 alone would return the memory seconds after its next full collection, which an idle process never runs.
 */
export function collectStartGarbage(): void {
  // Node.js exposes the collector only by this flag. It affects new contexts only.
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  // Other flavors keep the pages for later objects.
  gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}
