import { type Profiler, Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The functions of Souk that calls ran in one process: `file:name@position`, with the number of runs. */
export type Passage = Readonly<Record<string, number>>

const ROOT = `${pathToFileURL(join(import.meta.dirname, '..', '..')).href}/`
const OURS = /^(?:lib|node|protocols)\//

/** Counts the runs of functions from now on, by V8's precise coverage. Returns a function that ends the count. */
export async function watchPassage(): Promise<() => Promise<Passage>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  // Drops the counts of the past.
  await session.post('Profiler.takePreciseCoverage')
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    return Object.fromEntries(result.flatMap(runsOf))
  }
}

function runsOf({ url, functions }: Profiler.ScriptCoverage): Array<[name: string, runs: number]> {
  const file = url.startsWith(ROOT) ? url.slice(ROOT.length) : ''
  if (!OURS.test(file)) return []
  return functions.flatMap(
    ({ functionName, ranges: [whole] }): Array<[string, number]> =>
      whole === undefined || whole.count === 0 ? [] : [[`${file}:${functionName}@${whole.startOffset}`, whole.count]]
  )
}
