import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { within } from './eventually.ts'

/** The words of a command. The folder of temporary files is part of a word, although its path may contain spaces. */
export function wordsOf(command: string): string[] {
  const words = command.replaceAll(tmpdir(), '\0').split(' ')
  return words.map((word) => word.replaceAll('\0', tmpdir()))
}

export const MAIN = fileURLToPath(new URL('../../node/main.ts', import.meta.url))
const READY_MS = 20_000
const END_MS = 15_000

/** A finished command. */
export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  /** Added to `SOUK_HOME`. */
  readonly env?: Readonly<Record<string, string>>
  /** The command fails if it takes longer. */
  readonly boundMs?: number
}

/** The end of a process. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Time since the signal. */
  readonly ms: number
}

/** A `souk` command in a separate process. */
export interface SoukProcess {
  readonly pid: number
  isRunning(): boolean
  /** Output so far, by line. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Sends the signal, and waits for the end. With `group`, all children get the signal at the same time, as by Ctrl-C. */
  end(signal: NodeJS.Signals, asGroup?: 'group'): Promise<Ended>
}

export interface ProcessOptions extends RunOptions {
  /** A module to load first, as for `--import`. */
  readonly preload?: string
}

/** Runs `souk` commands as processes. */
export interface SoukProcesses {
  run(command: string, args?: readonly string[], options?: ProcessOptions): Promise<CommandRun>
  start(command: string, ...args: string[]): SoukProcess
  /** Ids of all processes that were started here, directly or indirectly. Linux only. */
  pids(): Promise<number[]>
  /** Ends all running processes by process id. */
  close(): Promise<void>
}

/** @param openFiles the files that each process may open. Default: as many as the system allows */
export function soukProcesses(home: string, openFiles?: number): SoukProcesses {
  const running = new Set<ChildProcess>()
  const groups = new Set<number>()
  // Each leads its own process group, so that its children end with it, even after a failed test.
  const killAll = () => running.forEach((child) => killGroup(child))
  process.once('exit', killAll)

  const spawnSouk = (command: string, args: readonly string[], { preload, env }: ProcessOptions): ChildProcess => {
    const options = preload === undefined ? [] : ['--import', preload]
    const limited = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`]
    const [program, ...given] = [...limited, process.execPath, ...options, MAIN, ...wordsOf(command), ...args]
    const child = spawn(program!, given, {
      // Off, because a test machine may be very busy. A test of the watchdog enables it by its flag.
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

/** The processes of the given process groups. A group remains even if the parent has ended and its id is reused. */
async function processesOf(groups: ReadonlySet<number>): Promise<number[]> {
  if (groups.size === 0) return []
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // proc(5): state, parent and process group follow the name in parentheses. A zombie has ended.
  const fields = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '))
  return pids.map(Number).filter((_, index) => fields[index]?.[0] !== 'Z' && groups.has(Number(fields[index]?.[2])))
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

function linesOf(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}
