import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ROOT } from '../docs/markdown.ts'
import type { Row, Specs } from './rows.ts'

export interface RowResult {
  readonly ok: boolean
  readonly figures: Readonly<Record<string, number>>
  /** Why it failed, and the last output of the process. */
  readonly why: string
}

/** Time for a timed-out row to end its processes. */
const GRACE_MS = 20_000
const WHY_LINES = 40
const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const NODE = ['--conditions=development']

/** Runs a row in a separate process, and ends it after its time limit. */
export async function runRow(row: Row, isShort: boolean): Promise<RowResult> {
  const { run, atMost = {} } = row
  const startedAt = performance.now()
  const { said, problem, ...rest } = 'specs' in run ? await runSpecs(row, run, isShort) : await runProgram(row, isShort)
  const figures = { ...rest.figures, seconds: Math.round((performance.now() - startedAt) / 1_000) }
  const over = Object.entries(atMost).filter(([name, most]) => !((figures[name as 'seconds'] ?? Number.NaN) <= most))
  const why = problem ?? over.map(([name, most]) => `${name} is not at most ${most}`).join(', ')
  const last = said.trimEnd().split('\n').slice(-WHY_LINES).join('\n')
  return { ok: why === '', figures, why: why === '' ? '' : `${why}\n${last}` }
}

interface Outcome {
  readonly figures: Record<string, number>
  readonly problem?: string
  readonly said: string
}

async function runProgram({ run, minutesMax }: Row, isShort: boolean): Promise<Outcome> {
  if ('specs' in run) throw new TypeError('Specs are run by mocha.')
  const args =
    'measure' in run
      ? ['test/faults/roles/measure.ts', run.measure]
      : [run.program, ...(isShort ? run.short : run.args)]
  const { stdout, said, problem } = await inProcess([...NODE, ...args], {}, minutesMax)
  if (problem !== undefined) return { figures: {}, problem, said }
  if ('measure' in run) return { figures: rounded(JSON.parse(stdout) as Record<string, number>), said }
  const groups = run.figures.exec(stdout)?.groups
  if (groups === undefined) return { figures: {}, problem: 'It printed no figures.', said }
  return { figures: Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, Number(value)])), said }
}

async function runSpecs({ minutesMax }: Row, { specs, longer = {} }: Specs, isShort: boolean): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'souk-faults-'))
  try {
    const files = specs.flatMap((spec) => globSync(spec, { cwd: ROOT }))
    const output = join(directory, 'report.json')
    const env = isShort ? {} : longer
    const options = [
      '--reporter',
      'json',
      '--reporter-option',
      `output=${output}`,
      '--timeout',
      isShort ? '60000' : '0'
    ]
    const { said, problem } = await inProcess([MOCHA, ...options, ...files], env, minutesMax)
    const report = await readFile(output, 'utf8').catch(() => undefined)
    if (report === undefined) return { figures: {}, problem: problem ?? 'It wrote no report.', said }
    const { stats, failures } = JSON.parse(report) as Report
    const cases = env['FUZZ_RUNS'] === undefined ? {} : { cases_of_each: Number(env['FUZZ_RUNS']) }
    const failed = failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`).join('\n')
    return {
      figures: { ...cases, tests: stats.passes, failed: stats.failures },
      ...((problem ?? failed) !== '' && { problem: failed === '' ? problem : failed }),
      said: failed === '' ? said : ''
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Report {
  readonly stats: { readonly passes: number; readonly failures: number }
  readonly failures: ReadonlyArray<{ readonly fullTitle: string; readonly err: { readonly message: string } }>
}

async function inProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  minutesMax: number
): Promise<{ stdout: string; said: string; problem?: string }> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate group, so that its children end with it.
    detached: true
  })
  const kill = () => end(child, 'SIGKILL')
  process.once('exit', kill)
  let isLate = false
  const timers = [
    setTimeout(() => {
      isLate = true
      end(child, 'SIGINT')
    }, minutesMax * 60_000),
    setTimeout(kill, minutesMax * 60_000 + GRACE_MS)
  ]
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  for (const timer of timers) clearTimeout(timer)
  process.off('exit', kill)
  const said = `${stdout}\n${stderr}`
  if (isLate) return { stdout, said, problem: `It was not done after ${minutesMax} minutes.` }
  if (code !== 0) return { stdout, said, problem: `It ended with ${signal ?? code}.` }
  return { stdout, said }
}

function end(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // It has ended already.
  }
}

function rounded(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      Math.abs(value) < 10 ? Number(value.toFixed(1)) : Math.round(value)
    ])
  )
}
