import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main } from '../../node/cli/program.ts'
import { eventually, within } from './eventually.ts'
import {
  type CommandRun,
  type RunOptions,
  type SoukProcess,
  soukProcesses,
  wordsOf,
  type SoukProcesses
} from './souk-process.ts'
import { testTerminal } from './test-terminal.ts'

/** Enough for two nodes that start in parallel on a busy machine. */
const READY_MS = 20_000
const END_MS = 15_000

/** The output of `souk up --json` when the node is ready. */
export interface Ready {
  readonly peer: string
  readonly network: string
  readonly profile: string
  readonly admin: string
  readonly ingress: string | null
  readonly p2p: readonly string[]
}

/** A `souk` command that runs until it is stopped. */
export interface RunningCommand {
  /** Its output so far, by line. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  isRunning(): boolean
  /** Ends it like Ctrl-C. */
  end(): Promise<CommandRun>
}

interface Node {
  readonly ready: Ready
  readonly peer: string
  /** URL of the ingress; empty without one. */
  readonly ingress: string
  readonly p2p: readonly string[]
  /** Runs a command of this node's profile with `--json`, and returns its output. Fails if the command fails. */
  cli<View = unknown>(command: string, ...args: string[]): Promise<View>
}

/** `souk up` on a profile, ready, in the test's process. */
export interface HomeNode extends RunningCommand, Node {}

/** `souk up` on a profile, ready, in a separate process. */
export interface NodeProcess extends SoukProcess, Node {}

/**
 * A separate `SOUK_HOME` with everything that runs on it. Commands and nodes run in the test's process, because starting Node.js
 * takes longer than most commands. `asProcess` is for tests that need a process: signals, kill -9, exit codes.
 */
export interface SoukHome {
  readonly directory: string
  /** Starts a node. It uses free ports, and the same ones after a restart. */
  up(profile: string, ...flags: string[]): Promise<HomeNode>
  /** The command is split at its spaces; arguments that contain spaces are in `args`. */
  run(command: string, args?: readonly string[], options?: RunOptions): Promise<CommandRun>
  start(command: string, ...args: string[]): RunningCommand
  readonly asProcess: SoukProcesses & { up(profile: string, ...flags: string[]): Promise<NodeProcess> }
  /** The operator output of all started commands, which explains a failed test. */
  log(): string
  /** Ends all running commands, and removes the directory. */
  close(): Promise<void>
}

export interface SoukHomeInit {
  /** The parent of its directory. Default: the one for temporary files. */
  readonly parent?: string
  /** The files that each process may open. Default: as many as the system allows. */
  readonly openFiles?: number
}

export async function soukHome({ parent = tmpdir(), openFiles }: SoukHomeInit = {}): Promise<SoukHome> {
  const directory = await mkdtemp(join(parent, 'souk-home-'))
  const processes = soukProcesses(directory, openFiles)
  const running = new Set<RunningCommand>()
  const logs: Array<readonly [string, { readonly stderr: readonly string[] }]> = []

  const run = async (
    command: string,
    args: readonly string[] = [],
    { stdin = '', env = {}, boundMs = READY_MS }: RunOptions = {}
  ): Promise<CommandRun> => {
    const terminal = testTerminal({ env: { SOUK_HOME: directory, SOUK_WATCHDOG: '0', ...env }, stdin })
    const code = await within(`souk ${command}`, boundMs, main([...wordsOf(command), ...args], terminal))
    return { code, stdout: terminal.stdout(), stderr: terminal.stderr() }
  }

  const start = (command: string, ...args: string[]): RunningCommand => {
    const started = startCommand(directory, [...wordsOf(command), ...args], () => running.delete(started))
    running.add(started)
    logs.push([`souk ${command}`, started])
    return started
  }

  const upOf =
    <Started extends SoukProcess | RunningCommand>(startIt: (command: string, ...args: string[]) => Started) =>
    async (profile: string, ...flags: string[]): Promise<Started & Node> => {
      const [command, ports] = upCommand(directory, profile, flags)
      const started = startIt(command, ...ports, ...flags)
      const ready = JSON.parse(await firstLine(started, `souk ${command}`)) as Ready
      const cli = async <View>(line: string, ...args: string[]): Promise<View> => {
        const { code, stdout, stderr } = await run(`--profile ${profile} --json ${line}`, args)
        assert.equal(code, 0, `souk ${line} exited with ${code}:\n${stderr}`)
        return JSON.parse(stdout) as View
      }
      return { ...started, ready, peer: ready.peer, ingress: ready.ingress ?? '', p2p: ready.p2p, cli }
    }

  const startProcess = (command: string, ...args: string[]): SoukProcess => {
    const started = processes.start(command, ...args)
    logs.push([`${started.pid} souk ${command}`, started])
    return started
  }

  return {
    directory,
    run,
    start,
    up: upOf(start),
    asProcess: { ...processes, start: startProcess, up: upOf(startProcess) },
    log: () => logs.map(([what, { stderr }]) => `${what}\n  ${stderr.join('\n  ')}`).join('\n'),
    async close() {
      await Promise.all([processes.close(), ...[...running].map((command) => command.end())])
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/** The command that starts a node, and its port flags. A profile remembers its ports. */
function upCommand(directory: string, profile: string, flags: readonly string[]): [string, string[]] {
  const isKnown = existsSync(join(directory, profile, 'profile.json'))
  const ports = isKnown ? [] : ['--p2p-port', '0', '--admin-port', '0']
  if (!isKnown && !flags.includes('--no-ingress')) ports.push('--ingress-port', '0')
  // Most tests need no money. A later flag overrides this one.
  return [`up --network dev --payment-scheme metered --no-input --json --profile ${profile}`, ports]
}

function startCommand(directory: string, argv: readonly string[], onEnd: () => void): RunningCommand {
  const terminal = testTerminal({ env: { SOUK_HOME: directory, SOUK_WATCHDOG: '0' } })
  let isRunning = true
  const ended = main(argv, terminal).finally(() => {
    isRunning = false
    onEnd()
  })
  return {
    ...terminal.lines,
    isRunning: () => isRunning,
    async end() {
      terminal.stop()
      const code = await within(`the end of souk ${argv.join(' ')}`, END_MS, ended)
      return { code, stdout: terminal.stdout(), stderr: terminal.stderr() }
    }
  }
}

async function firstLine(started: SoukProcess | RunningCommand, what: string): Promise<string> {
  return eventually(what, READY_MS, () => {
    if (!started.isRunning()) assert.fail(`${what} ended:\n${started.stderr.join('\n')}`)
    return started.stdout[0]
  })
}

/** Prints the output of a home when a test or a hook failed. */
export function tellWhenFailed(home: () => SoukHome | undefined): void {
  const tell = () => console.log(home()?.log() ?? '')
  afterEach(function () {
    if (this.currentTest?.state === 'failed') tell()
  })
  // Mocha runs no `afterEach` after a failed `before`, and a failed hook of a test does not make the test itself fail.
  after(function () {
    if (hooksOf(this.test!.parent!).some(({ state }) => state === 'failed')) tell()
  })
}

/** `getHooks` is absent from the types of mocha. */
function hooksOf(suite: Mocha.Suite): Mocha.Hook[] {
  const { suites } = suite
  const known = suite as Mocha.Suite & { getHooks(name: string): Mocha.Hook[] }
  const own = ['beforeAll', 'beforeEach', 'afterEach'].flatMap((name) => known.getHooks(name))
  return [...own, ...suites.flatMap(hooksOf)]
}
