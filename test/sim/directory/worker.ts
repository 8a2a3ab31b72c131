import { parentPort, workerData } from 'node:worker_threads'
import type { Report } from './simulate.ts'
import type { Plan } from './run.ts'
import { VirtualTime } from './virtual-time.ts'

const time = new VirtualTime()
time.install()
// Libraries create an error for each ended timeout, and nobody reads its stack.
Error.stackTraceLimit = 0
// Libraries keep small parts of Node's shared buffers for long. Each would keep 8 KiB.
Buffer.poolSize = 256
// Only now, because libraries may keep the timers that they find.
const { run } = await import('./run.ts')
const { verifyOnce } = await import('./verify-once.ts')
await verifyOnce()
const tell = (report: Report): void => parentPort?.postMessage(report, [])
tell({ figures: await run(time, workerData as Plan, (line) => tell({ line })) })
