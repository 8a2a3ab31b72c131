import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
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
  /** What it said so far. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Asks it to end, and waits for that. */
  end(signal: NodeJS.Signals): Promise<Ended>
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
  run(command: string, ...args: string[]): Promise<CommandRun>
  /** Ends what still runs, by its process id, and removes the directory. */
  close(): Promise<void>
}

export async function soukHome(env: NodeJS.ProcessEnv = {}): Promise<SoukHome> {
  const directory = await mkdtemp(join(tmpdir(), 'souk-e2e-'))
  const running = new Set<ChildProcess>()
  // Mocha may be stopped in the middle of a test; nothing may outlive it.
  const killAll = () => running.forEach((child) => child.kill('SIGKILL'))
  process.once('exit', killAll)

  const spawnSouk = (command: string, args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [MAIN, ...command.split(' '), ...args], {
      env: { ...process.env, ...env, SOUK_HOME: directory },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }

  const run = async (command: string, ...args: string[]): Promise<CommandRun> => {
    const child = spawnSouk(command, args)
    const closed = once(child, 'close')
    const output = Promise.all([text(child.stdout!), text(child.stderr!), closed])
    const [stdout, stderr, [code]] = await within(`souk ${command}`, READY_MS, output)
    return { code: code as number | null, stdout, stderr }
  }

  const up = async (profile: string, ...flags: string[]): Promise<NodeProcess> => {
    // A profile remembers the ports it got.
    const isKnown = existsSync(join(directory, profile, 'profile.json'))
    const ports = isKnown ? [] : ['--p2p-port', '0', '--admin-port', '0']
    if (!isKnown && !flags.includes('--no-ingress')) ports.push('--ingress-port', '0')
    const command = `up --network dev --no-input --json --profile ${profile}`
    const node = soukProcess(spawnSouk(command, [...ports, ...flags]))
    const info = JSON.parse(await firstLine(node, `souk ${command}`)) as Ready
    return {
      ...node,
      peer: info.peer,
      ingress: info.ingress ?? '',
      p2p: info.p2p,
      async cli<View>(command: string, ...args: string[]) {
        const { code, stdout, stderr } = await run(`--profile ${profile} --json ${command}`, ...args)
        assert.equal(code, 0, `souk ${command} exited with ${code}:\n${stderr}`)
        return JSON.parse(stdout) as View
      }
    }
  }

  return {
    directory,
    run,
    up,
    start: (command, ...args) => soukProcess(spawnSouk(command, args)),
    async close() {
      process.off('exit', killAll)
      const ended = [...running].map((child) => once(child, 'exit'))
      killAll()
      await Promise.all(ended)
      await rm(directory, { recursive: true, force: true })
    }
  }
}

function soukProcess(child: ChildProcess): SoukProcess {
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    pid: child.pid!,
    stdout: linesOf(child.stdout!),
    stderr: linesOf(child.stderr!),
    async end(signal) {
      const startedAt = performance.now()
      child.kill(signal)
      const [code, by] = await within(`the end of process ${child.pid} after ${signal}`, END_MS, exited)
      return { code, signal: by, ms: performance.now() - startedAt }
    }
  }
}

async function firstLine(started: SoukProcess, what: string): Promise<string> {
  return eventually(what, READY_MS, () => {
    if (!isRunning(started.pid)) assert.fail(`${what} ended:\n${started.stderr.join('\n')}`)
    return started.stdout[0]
  })
}

/** There is a process of this id. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function linesOf(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}
