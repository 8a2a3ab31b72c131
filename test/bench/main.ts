import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Summary } from './page.ts'
import type { Suite, SuiteResult } from './suite.ts'
import { DEFAULT_SUITES, SUITES } from './suites.ts'
import { renderRatios, renderTable } from './table.ts'

/** `npm run bench -- [suite…] [--json]`: a table for people; with `--json` the last line of standard output is the result. */
const USAGE = `usage: npm run bench -- [suite…] [--json]\nsuites: ${[...SUITES.keys()].join(', ')}`
/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64

async function run({ suites, json }: Asked): Promise<void> {
  // Only the result goes to standard output.
  const say = (line: string) => (json ? console.error(line) : console.log(line))
  const results: Record<string, SuiteResult> = {}
  const directory = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const leave = () => {
    rmSync(directory, { recursive: true, force: true })
    // The suite's processes end when this one does.
    process.exit(1)
  }
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    for (const suite of suites) {
      const result = await suite.run({ directory, say: (line) => console.error(`${suite.name}: ${line}`) })
      results[suite.name] = result
      say(`\n${renderTable(result.table)}\n\n${renderRatios(result.ratios)}\n\n${result.notes.join('\n')}`)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  if (json) console.log(JSON.stringify(summary(results)))
}

interface Asked {
  readonly suites: readonly Suite[]
  readonly json: boolean
}

/** Undefined for invalid arguments. */
function readArguments(): Asked | undefined {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } })
    const asked = positionals.length > 0 ? positionals : DEFAULT_SUITES
    const suites = [...new Set(asked)].map((name) => SUITES.get(name))
    return suites.includes(undefined)
      ? undefined
      : { suites: suites.filter((suite) => suite !== undefined), json: values.json ?? false }
  } catch {
    return undefined
  }
}

/** Ratios of all suites share one object. `reports` are for `page.ts`. */
function summary(results: Readonly<Record<string, SuiteResult>>): Summary {
  const ratios = Object.values(results).flatMap((result) =>
    result.ratios.map(({ name, value }) => [name, round(value)])
  )
  const suites = Object.entries(results).map(([name, { details }]) => [name, details])
  const reports = Object.entries(results).map(([name, { details: _, ...report }]) => [name, report])
  return {
    ratios: Object.fromEntries(ratios),
    suites: Object.fromEntries(suites),
    reports: Object.fromEntries(reports),
    machine: { node: process.version, cpu: cpus()[0]?.model ?? '', cores: availableParallelism() }
  }
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

const asked = readArguments()
if (asked === undefined) {
  console.error(USAGE)
  process.exitCode = EXIT_USAGE
} else {
  await run(asked)
}
