import assert from 'node:assert/strict'

/** CPU time of `reference` on the machine for which the bounds of the tests are written. */
const REFERENCE_MS = 10
export const RUNS_MAX = 3
const ROWS = JSON.stringify(Array.from({ length: 4_000 }, (_, id) => ({ id, name: `name ${(id * 7_919) % 4_000}` })))

/** Work of the kinds that the tests measure: parsing, sorting, hashing, matching and arithmetic. */
function reference(): number {
  const rows = JSON.parse(ROWS) as Array<{ id: number; name: string }>
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  let sum = new Map(rows.map((row) => [row.name, row])).size
  for (let n = 0; n < 2_000_000; n++) sum = Math.imul(sum, 31) + n
  return sum + ROWS.replaceAll(/[a-z]+ (\d+)/g, '$1').length
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** CPU time of this thread for the work, in milliseconds. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}

/**
 * A CPU time to compare with a bound: if it is not below, the time that the same work would take on the machine of the bounds. Here
 * it may take longer, and for some moments much longer, because other processes use the same core and its caches.
 */
export function commonMs(ms: number, maxMs: number): number {
  if (ms < maxMs) return ms
  const before = cpuMs()
  reference()
  return ms / Math.max(1, (cpuMs() - before) / REFERENCE_MS)
}

/**
 * Fails if the work takes this thread `maxMs` of CPU time or more in each of several runs, also after a conversion to the time of
 * a common machine. So a test fails for what the work does, and not for where it runs.
 */
export async function assertCpuBelow(maxMs: number, work: () => unknown): Promise<void> {
  let leastMs = Infinity
  for (let run = 0; run < RUNS_MAX && leastMs >= maxMs; run++) {
    leastMs = Math.min(leastMs, commonMs(await cpuMsOf(work), maxMs))
  }
  assert.ok(leastMs < maxMs, `It takes ${Math.round(leastMs)} ms of CPU time on a common machine, not below ${maxMs}.`)
}
