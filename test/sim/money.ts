import { parseArgs } from 'node:util'
import { BUGS } from './bugs.ts'
import { run } from './run.ts'

const { values } = parseArgs({
  options: {
    /** One seed, line by line. */
    seed: { type: 'string' },
    /** The number of seeds, and the first of them. */
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    /** A mistake of `bugs.ts`, counted from 1. */
    bug: { type: 'string' }
  }
})
const bug = values.bug === undefined ? {} : { bug: BUGS[Number(values.bug) - 1] }
const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** The error of the run; undefined if there is none. */
async function replay(seed: number): Promise<unknown> {
  try {
    const { digest, ...totals } = await run(seed, { ...bug, onLine: print })
    return print(`${JSON.stringify(totals)} ${digest}`)
  } catch (error) {
    return error
  }
}

async function search(from: number, count: number): Promise<number> {
  const startedAt = performance.now()
  const totals = { captured: 0, delivered: 0, deaths: 0, onCredit: 0 }
  let failures = 0
  for (let seed = from; seed < from + count; seed++) {
    try {
      const { captured, delivered, deaths, onCredit } = await run(seed, bug)
      totals.captured += captured
      totals.delivered += delivered
      totals.deaths += deaths
      totals.onCredit += onCredit
    } catch (error) {
      failures++
      print(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}; npm run sim -- --seed ${seed}`)
    }
  }
  const ms = (performance.now() - startedAt) / count
  print(`${count} seeds, ${failures} of them wrong, ${ms.toFixed(1)} ms each; ${JSON.stringify(totals)}`)
  return failures
}

if (values.seed === undefined) {
  process.exitCode = (await search(Number(values.from), Number(values.seeds))) > 0 ? 1 : 0
} else {
  const error = await replay(Number(values.seed))
  if (error instanceof Error) {
    print(error.stack ?? error.message)
    process.exitCode = 1
  }
}
