import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { within } from './eventually.ts'

export const MAIN = fileURLToPath(new URL('../../node/main.ts', import.meta.url))
const READY_MS = 20_000
const END_MS = 15_000

/** One command, run to its end. */
export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  /** Added to `SOUK_HOME`. */
  readonly env?: Readonly<Record<string, string>>
  /** The command fails when it takes longer. */
  readonly boundMs?: number
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** From the signal that asked for it. */
  readonly ms: number
}

/** A `souk` command in a process of its own. */
export interface SoukProcess {
  readonly pid: number
  isRunning(): boolean
  /** What it said so far, by line. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Sends the signal, and waits for the end. With `group` it goes to all children at once, as by Ctrl-C. */
  end(signal: NodeJS.Signals, asGroup?: 'group'): Promise<Ended>
}

export interface ProcessOptions extends RunOptions {
  /** A module to load first, as `--import` takes it. */
  readonly preload?: string
}

/** Runs `souk` commands as processes. */
export interface SoukProcesses {
  run(command: string, args?: readonly string[], options?: ProcessOptions): Promise<CommandRun>
  start(command: string, ...args: string[]): SoukProcess
  /** Ids of all processes that were started here or by these, however far removed. Linux only. */
  pids(): Promise<number[]>
  /** Ends what still runs, by its process id. */
  close(): Promise<void>
}

export function soukProcesses(home: string): SoukProcesses {
  const running = new Set<ChildProcess>()
  const groups = new Set<number>()
  // Each leads a group of its own, so that what it started ends with it. Nothing may outlive a test that failed.
  const killAll = () => running.forEach((child) => killGroup(child))
  process.once('exit', killAll)

  const spawnSouk = (command: string, args: readonly string[], { preload, env }: ProcessOptions): ChildProcess => {
    const options = preload === undefined ? [] : ['--import', preload]
    const child = spawn(process.execPath, [...options, MAIN, ...command.split(' '), ...args], {
      // A test machine may be busier than any node; a test of the watchdog asks for it by its flag.
      env: { ...process.env, SOUK_HOME: home, TMPDIR: home, SOUK_WATCHDOG: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true
    })
    running.add(child)
    groups.add(child.pid!)
    child.once('exit', () => running.delete(child))
    return child
  }

  return {
    async run(command, args = [], options = {}) {
      const child = spawnSouk(command, args, options)
      const closed = once(child, 'close')
      child.stdin!.end(options.stdin ?? '')
      const output = Promise.all([text(child.stdout!), text(child.stderr!), closed])
      const [stdout, stderr, [code]] = await within(`souk ${command}`, options.boundMs ?? READY_MS, output)
      return { code: code as number | null, stdout, stderr }
    },
    start(command, ...args) {
      const child = spawnSouk(command, args, {})
      child.stdin!.end()
      return soukProcess(child)
    },
    pids: () => processesOf(groups),
    async close() {
      process.off('exit', killAll)
      const ended = [...running].map((child) => once(child, 'exit'))
      killAll()
      await Promise.all(ended)
      if (process.platform === 'linux') for (const orphan of await processesOf(groups)) process.kill(orphan, 'SIGKILL')
    }
  }
}

function soukProcess(child: ChildProcess): SoukProcess {
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    pid: child.pid!,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stdout: linesOf(child.stdout!),
    stderr: linesOf(child.stderr!),
    async end(signal, asGroup) {
      const startedAt = performance.now()
      if (asGroup === undefined) child.kill(signal)
      else process.kill(-child.pid!, signal)
      const [code, by] = await within(`the end of process ${child.pid} after ${signal}`, END_MS, exited)
      return { code, signal: by, ms: performance.now() - startedAt }
    }
  }
}

/** Those of the given process groups. A parent may be gone, and its id given away; the group stays. */
async function processesOf(groups: ReadonlySet<number>): Promise<number[]> {
  if (groups.size === 0) return []
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // proc(5): behind the name in parentheses come state, parent and process group; a zombie has ended.
  const fields = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '))
  return pids.map(Number).filter((_, index) => fields[index]?.[0] !== 'Z' && groups.has(Number(fields[index]?.[2])))
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // It ended in between.
  }
}

function linesOf(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}
