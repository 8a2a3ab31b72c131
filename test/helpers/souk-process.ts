import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { eventually, within } from './eventually.ts'

const MAIN = resolve(import.meta.dirname, '../../node/main.ts')
/** Two processes of this repository starting at once on a busy machine. */
const READY_MS = 20_000
const END_MS = 15_000

/** What `souk up --json` prints when it is ready. */
interface Ready {
  readonly peer: string
  readonly ingress: string | null
  readonly p2p: readonly string[]
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** From the signal that asked for it. */
  readonly ms: number
}

/** One command, run to its end. */
export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A `souk` command that goes on until it is told to end. */
export interface SoukProcess {
  readonly pid: number
  isRunning(): boolean
  /** What it said so far. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Asks it to end, and waits for that. As a group, it is asked with all its children at once, as by Ctrl-C. */
  end(signal: NodeJS.Signals, asGroup?: 'group'): Promise<Ended>
}

/** `souk up` on a profile, ready. */
export interface NodeProcess extends SoukProcess {
  readonly peer: string
  /** URL of the ingress; empty without one. */
  readonly ingress: string
  readonly p2p: readonly string[]
  /** Runs a command of this node's profile with `--json`, and gives what it printed. Fails when the command does. */
  cli<View = unknown>(command: string, ...args: string[]): Promise<View>
}

/** A `SOUK_HOME` of its own, with everything that runs on it. */
export interface SoukHome {
  readonly directory: string
  /** Starts a node. Ports are free ones, the same again after a restart. */
  up(profile: string, ...flags: string[]): Promise<NodeProcess>
  /** A command is split at its spaces; what holds spaces itself comes behind it. */
  start(command: string, ...args: string[]): SoukProcess
  /** Process ids of everything that was started here or by what was, however far removed. Linux only. */
  processes(): Promise<number[]>
  run(command: string, args?: readonly string[], boundMs?: number): Promise<CommandRun>
  /** What everything that was started said to its operator, for whoever has to find out why a test failed. */
  log(): string
  /** Ends what still runs, by its process id, and removes the directory. */
  close(): Promise<void>
}

export async function soukHome(): Promise<SoukHome> {
  const directory = await mkdtemp(join(tmpdir(), 'souk-e2e-'))
  const running = new Set<ChildProcess>()
  const groups = new Set<number>()
  const logs = new Map<string, readonly string[]>()
  // Each leads a group of its own, so that what it started ends with it; nothing may outlive a test that failed.
  const killAll = () => running.forEach((child) => killGroup(child))
  process.once('exit', killAll)

  const spawnSouk = (command: string, args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [MAIN, ...command.split(' '), ...args], {
      env: { ...process.env, SOUK_HOME: directory, TMPDIR: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
    running.add(child)
    groups.add(child.pid!)
    child.once('exit', () => running.delete(child))
    return child
  }

  const run = async (command: string, args: readonly string[] = [], boundMs = READY_MS): Promise<CommandRun> => {
    const child = spawnSouk(command, args)
    const closed = once(child, 'close')
    const output = Promise.all([text(child.stdout!), text(child.stderr!), closed])
    const [stdout, stderr, [code]] = await within(`souk ${command}`, boundMs, output)
    return { code: code as number | null, stdout, stderr }
  }

  const start = (command: string, ...args: string[]): SoukProcess => {
    const started = soukProcess(spawnSouk(command, args))
    logs.set(`${started.pid} souk ${command}`, started.stderr)
    return started
  }

  const up = async (profile: string, ...flags: string[]): Promise<NodeProcess> => {
    // A profile remembers the ports it got.
    const isKnown = existsSync(join(directory, profile, 'profile.json'))
    const ports = isKnown ? [] : ['--p2p-port', '0', '--admin-port', '0']
    if (!isKnown && !flags.includes('--no-ingress')) ports.push('--ingress-port', '0')
    // Most of what is tested has nothing to do with money; a flag behind it says otherwise.
    const command = `up --network dev --till metered --no-input --json --profile ${profile}`
    const node = start(command, ...ports, ...flags)
    const info = JSON.parse(await firstLine(node, `souk ${command}`)) as Ready
    return {
      ...node,
      peer: info.peer,
      ingress: info.ingress ?? '',
      p2p: info.p2p,
      async cli<View>(command: string, ...args: string[]) {
        const { code, stdout, stderr } = await run(`--profile ${profile} --json ${command}`, args)
        assert.equal(code, 0, `souk ${command} exited with ${code}:\n${stderr}`)
        return JSON.parse(stdout) as View
      }
    }
  }

  return {
    directory,
    run,
    up,
    processes: () => processesOf(groups),
    start,
    log: () => [...logs].map(([what, lines]) => `${what}\n  ${lines.join('\n  ')}`).join('\n'),
    async close() {
      process.off('exit', killAll)
      const ended = [...running].map((child) => once(child, 'exit'))
      killAll()
      await Promise.all(ended)
      if (process.platform === 'linux') for (const orphan of await processesOf(groups)) process.kill(orphan, 'SIGKILL')
      await rm(directory, { recursive: true, force: true })
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

async function firstLine(started: SoukProcess, what: string): Promise<string> {
  return eventually(what, READY_MS, () => {
    if (!started.isRunning()) assert.fail(`${what} ended:\n${started.stderr.join('\n')}`)
    return started.stdout[0]
  })
}

/** Those of the given process groups. A parent may be gone, and its id given away; the group stays. */
async function processesOf(groups: ReadonlySet<number>): Promise<number[]> {
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

/** Shows what the processes of a home said when a test failed. */
export function tellWhenFailed(home: () => SoukHome): void {
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(home().log())
  })
}
