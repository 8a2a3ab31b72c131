import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Buffers outside of the heap after which the young ones are collected. V8 collects the whole heap at 64 MB. */
const BUFFER_BYTES = 24 * 2 ** 20
/** Time between two looks at them. */
const LOOK_MS = 50
/** The same while large bodies pass. They make up to 1 MB of buffers in a millisecond. */
const LOOK_MS_BUSY = 10
/** A change between two looks from which on large bodies pass. */
const BUSY_BYTES = 2 ** 20

/**
 * Collects the garbage of the start and returns its memory to the system, about 60 MB. It takes 0.1 s, so it runs before the node is
 * announced as ready. V8 alone would return the memory seconds after its next full collection, which an idle process never runs.
 */
export function collectStartGarbage(): void {
  // Other flavors keep the pages for later objects.
  collector()({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}

/**
 * Sets how V8 collects the garbage of a busy node. It sets:
 *
 * - `--no-allocation-site-pretenuring`: all objects are allocated in the young generation. By default, optimised code allocates an object
 *   in the old generation if earlier objects from the same line of code lived long. They do while hundreds of calls run. Each object in the
 *   old generation, dead or not, keeps the whole call that it refers to until V8 collects the whole heap. So one call of eight was copied
 *   twice, and a collection paused the node for 17 ms instead of 4 ms.
 * - `--heap-growing-percent`: V8 collects the whole heap when the old generation with its buffers is four times as large as after the last
 *   collection. By default, this factor depends on the speed of earlier collections, and is at most four too. For a small heap it is far
 *   less, so large bodies had the whole heap collected several times a second.
 */
export function tuneCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=300')
}

/**
 * Collects the buffers of large bodies while they are young. They die young, but V8 collects the whole heap because of them, which takes
 * half of a node's time.
 * @returns ends it
 */
export function collectBuffers(): () => void {
  let collect: NodeJS.GCFunction | undefined
  let before = bufferBytes()
  let least = before
  const look = () => {
    let bytes = bufferBytes()
    const isBusy = Math.abs(bytes - before) > BUSY_BYTES
    least = Math.min(least, bytes)
    if (bytes - least >= BUFFER_BYTES) {
      collect ??= collector()
      collect({ type: 'minor' })
      bytes = least = bufferBytes()
    }
    before = bytes
    timer = setTimeout(look, isBusy ? LOOK_MS_BUSY : LOOK_MS).unref()
  }
  let timer = setTimeout(look, LOOK_MS).unref()
  return () => clearTimeout(timer)
}

const bufferBytes = (): number => getHeapStatistics().external_memory

function collector(): NodeJS.GCFunction {
  // Node.js exposes the collector only by this flag. It affects new contexts only.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  return collect
}
