import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Figures, Plan } from './run.ts'

/** A node with its links takes about 2.5 MB, and V8 collects at three times as much. */
const HEAP_MB = 8_192
const YOUNG_MB = 384

export interface Report {
  readonly line?: string
  readonly figures?: Figures
}

/** Runs the simulation in a thread of its own, because it replaces the clock and the timers. */
export async function simulateDirectory(plan: Plan, say: (line: string) => void): Promise<Figures> {
  // Else V8 collects the whole heap of gigabytes after each 64 MB of buffers.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: plan,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB }
  })
  try {
    return await new Promise<Figures>((resolve, reject) => {
      worker.on('message', ({ line, figures }: Report) => {
        if (line !== undefined) say(line)
        if (figures !== undefined) resolve(figures)
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('the simulation ended without figures')))
    })
  } finally {
    await worker.terminate()
  }
}
