import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { limits } from '../../lib/index.ts'
import type { WatchdogInit } from './watchdog-thread.ts'

const { WATCHDOG_MS, WATCHDOG_START_FACTOR, WATCHDOG_TICKS } = limits

export interface WatchdogOptions {
  /** The process ends if its event loop does not turn for this time. Default `WATCHDOG_MS`. */
  readonly limitMs?: number
  /** Exit code if the watchdog ends the process. */
  readonly exitCode: number
  /** Called if the watchdog itself fails. The process then continues without one. */
  readonly onFailure: (error: unknown) => void
}

export interface Watchdog extends AsyncDisposable {
  /** The start is over, so the limit applies. Before that, a multiple of it does. */
  ready(): void
}

/**
 * Watches this process’s event loop from a thread. If the loop does not turn within the limit, the thread writes the main thread’s stack to
 * stderr and ends the process, so that a supervisor restarts it.
 * The thread counts its own ticks instead of using a clock: while the process is stopped (SIGSTOP) or the machine sleeps, it does not tick
 * either. A pause in a debugger does not count.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { limitMs = WATCHDOG_MS, exitCode, onFailure } = options
  const tickMs = limitMs / WATCHDOG_TICKS
  const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const [beats, ticksMax] = [0, 1]
  // Opening a large database or migrating its schema may block the loop longer than any call.
  shared[ticksMax] = WATCHDOG_TICKS * WATCHDOG_START_FACTOR
  const timer = setInterval(() => Atomics.add(shared, beats, 1), tickMs)
  timer.unref()

  // The thread gets `gc`, to collect the garbage of its start.
  setFlagsFromString('--expose-gc')
  // The thread’s file is beside this one, as source or built.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./watchdog-thread.${extension}`, import.meta.url), {
    name: 'watchdog',
    workerData: {
      shared,
      tickMs,
      exitCode,
      lateTicks: limits.WATCHDOG_LATE_TICKS,
      stackMs: limits.WATCHDOG_STACK_MS,
      framesMax: limits.WATCHDOG_FRAMES_MAX,
      nameCharsMax: limits.WATCHDOG_NAME_CHARS_MAX,
      exitMs: limits.WATCHDOG_EXIT_MS
    } satisfies WatchdogInit,
    resourceLimits: { maxOldGenerationSizeMb: limits.WATCHDOG_HEAP_MB_MAX, maxYoungGenerationSizeMb: 1 },
    // Preloaded modules are for the main thread, and one of them may cause the hang.
    execArgv: []
  })
  worker.unref()
  worker.once('online', () => setFlagsFromString('--no-expose-gc'))
  worker.on('error', onFailure)
  return {
    ready: () => void Atomics.store(shared, ticksMax, WATCHDOG_TICKS),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await worker.terminate()
    }
  }
}
