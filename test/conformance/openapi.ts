/**
 * `npm run conformance:openapi -- DIR|LIST`: reads each OpenAPI document as a registration does, in the same worker with the same
 * limits. DIR is searched for documents; LIST is a text file with one path a line. Prints the failures of each document; the last
 * line is `{"total", "loaded", "operations", "mapped", "described", …}` as JSON.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { readSnapshot } from '../../protocols/rest/snapshot.ts'
import { descriptionWorker } from '../../protocols/description-worker/description-worker.ts'

const DOCUMENT = /(?:^|[{,\s])["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d/
/** The documents' own servers are not contacted. */
const ENDPOINT = 'http://conformance.invalid'

function pathsIn(given: string): string[] {
  if (!statSync(given).isDirectory()) {
    const lines = readFileSync(given, 'utf8').split('\n')
    return lines.filter((line) => line.trim() !== '').map((line) => resolve(dirname(given), line.trim()))
  }
  const names = readdirSync(given, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names.filter((name) => /\.(?:json|ya?ml)$/i.test(name)).map((name) => join(given, name))
  return files.filter((file) => statSync(file).isFile() && DOCUMENT.test(readFileSync(file, 'utf8')))
}

/** The largest resident size of the worker so far, where the system tells it. */
function peakMib(): number {
  try {
    const status = readFileSync(`/proc/${descriptionWorker.pid}/status`, 'utf8')
    return Math.ceil(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}

const given = resolve(process.argv[2] ?? '.')
const counts = { total: 0, loaded: 0, operations: 0, mapped: 0, described: 0, slowestMs: 0, slowest: '', peakMib: 0 }
for (const file of pathsIn(given)) {
  const shown = relative(statSync(given).isDirectory() ? given : dirname(given), file)
  counts.total++
  const startedAt = performance.now()
  try {
    const text = readFileSync(file, 'utf8')
    const { servers } = await descriptionWorker.run('outlineOpenapi', { text })
    // As a provider would register it: at its own address, with all of its servers.
    const terms = { endpoint: servers[0] ?? ENDPOINT, origins: servers.map((server) => new URL(server).origin) }
    const { snapshot, description, warnings } = await descriptionWorker.run('importOpenapi', { text, ...terms })
    const operations = readSnapshot(snapshot)?.api.operations.length ?? 0
    const leftOut = warnings.filter((warning) => warning.includes('left out'))
    counts.loaded++
    counts.mapped += operations
    counts.operations += operations + leftOut.length
    counts.described += description.operations.filter(({ input }) => input !== undefined).length
    for (const warning of leftOut) console.log(`${shown}: ${warning}`)
  } catch (error) {
    console.log(`${shown}: refused: ${error instanceof Error ? error.message : String(error)}`)
  }
  counts.peakMib = Math.max(counts.peakMib, peakMib())
  const ms = Math.round(performance.now() - startedAt)
  if (ms > counts.slowestMs) Object.assign(counts, { slowestMs: ms, slowest: shown })
}
descriptionWorker.close()
console.log(JSON.stringify(counts))
