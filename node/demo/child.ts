import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../setup-error.ts'

/** Time for a process to become ready. On a machine that compiles meanwhile it may take a minute; one that ends is noticed at once. */
const READY_MS = 120_000
/** Time to exit when asked. */
const STOP_MS = 15_000
/** Number of stderr lines shown when a process fails. */
const STDERR_LINES_MAX = 20

/** A demo process that is ready. */
export interface Child {
  readonly name: string
  /** The JSON line with which the process reported that it is ready. */
  readonly info: Record<string, unknown>
  /** Resolves with the reason if the process exits without being asked. */
  readonly died: Promise<string>
  stop(): Promise<void>
}

export interface ChildInit {
  readonly name: string
  /** Module in this directory, without extension: `.ts` in a checkout, `.js` when built. */
  readonly module: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/**
 * Starts a module of this package as its own process and waits for its first line of JSON.
 * @throws SetupError `start_failed`, with the last stderr lines, if it does not become ready
 */
export async function startChild(init: ChildInit): Promise<Child> {
  const process = spawnModule(init, ['ignore', 'pipe', 'pipe', 'ipc'])
  const stderr = lastLines(process)
  let isStopping = false
  const died = once(process, 'exit').then(
    ([code, signal]) => `${init.name} ended (${code ?? signal}).\n${stderr.join('\n')}`
  )
  const stop = async () => {
    isStopping = true
    if (process.exitCode !== null || process.signalCode !== null) return
    process.kill('SIGTERM')
    const force = setTimeout(() => process.kill('SIGKILL'), STOP_MS)
    await died
    clearTimeout(force)
  }
  try {
    const info = await firstJson(process, died)
    return { name: init.name, info, stop, died: died.then((why) => (isStopping ? new Promise<string>(() => {}) : why)) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Runs a module to completion. @returns its exit code and its output */
export async function runModule(init: ChildInit): Promise<{ code: number; stdout: string; stderr: string }> {
  const process = spawnModule(init, ['ignore', 'pipe', 'pipe'])
  const stderr = lastLines(process)
  const chunks: string[] = []
  process.stdout?.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  const [code] = (await once(process, 'close')) as [number | null]
  return { code: code ?? 1, stdout: chunks.join(''), stderr: stderr.join('\n') }
}

function spawnModule({ module, args, env }: ChildInit, stdio: StdioOptions): ChildProcess {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const path = fileURLToPath(new URL(module + ending, import.meta.url))
  // Not detached: Ctrl-C reaches the whole group, and each process exits cleanly by itself.
  return spawn(process.execPath, [path, ...args], { env, stdio })
}

function lastLines(process: ChildProcess): string[] {
  const lines: string[] = []
  if (process.stderr === null) return lines
  createInterface({ input: process.stderr }).on('line', (line) => {
    lines.push(line)
    if (lines.length > STDERR_LINES_MAX) lines.shift()
  })
  return lines
}

async function firstJson(process: ChildProcess, died: Promise<string>): Promise<Record<string, unknown>> {
  const line = new Promise<string>((resolve, reject) => {
    if (process.stdout !== null) createInterface({ input: process.stdout }).once('line', resolve)
    died.then((why) => reject(new SetupError('start_failed', why)), reject)
    setTimeout(
      () => reject(new SetupError('start_failed', 'A process of the demo did not become ready in time.')),
      READY_MS
    ).unref()
  })
  const info: unknown = JSON.parse(await line)
  return typeof info === 'object' && info !== null ? { ...info } : {}
}
