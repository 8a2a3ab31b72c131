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
  type SoukProcesses
} from './souk-process.ts'
import { testTerminal } from './test-terminal.ts'

/** Two nodes starting at once on a busy machine. */
const READY_MS = 20_000
const END_MS = 15_000

/** What `souk up --json` prints when it is ready. */
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
  /** What it said so far, by line. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  isRunning(): boolean
  /** Ends it as Ctrl-C does. */
  end(): Promise<CommandRun>
}

interface Node {
  readonly ready: Ready
  readonly peer: string
  /** URL of the ingress; empty without one. */
  readonly ingress: string
  readonly p2p: readonly string[]
  /** Runs a command of this node's profile with `--json`, and gives what it printed. Fails when the command does. */
  cli<View = unknown>(command: string, ...args: string[]): Promise<View>
}

/** `souk up` on a profile, ready, in the process of the test. */
export interface HomeNode extends RunningCommand, Node {}

/** `souk up` on a profile, ready, in a process of its own. */
export interface NodeProcess extends SoukProcess, Node {}

/**
 * A `SOUK_HOME` of its own, with everything that runs on it. Commands and nodes run in the process of the test, because a
 * start of Node.js costs more than most commands. `asProcess` is for what a process alone can show: signals, kill -9, exit codes.
 */
export interface SoukHome {
  readonly directory: string
  /** Starts a node. Ports are free ones, the same again after a restart. */
  up(profile: string, ...flags: string[]): Promise<HomeNode>
  /** A command is split at its spaces; arguments that hold spaces come behind it. */
  run(command: string, args?: readonly string[], options?: RunOptions): Promise<CommandRun>
  start(command: string, ...args: string[]): RunningCommand
  readonly asProcess: SoukProcesses & { up(profile: string, ...flags: string[]): Promise<NodeProcess> }
  /** What everything that was started said to its operator: it tells why a test failed. */
  log(): string
  /** Ends what still runs, and removes the directory. */
  close(): Promise<void>
}

/** @param parent where its directory is made */
export async function soukHome(parent = tmpdir()): Promise<SoukHome> {
  const directory = await mkdtemp(join(parent, 'souk-home-'))
  const processes = soukProcesses(directory)
  const running = new Set<RunningCommand>()
  const logs: Array<readonly [string, { readonly stderr: readonly string[] }]> = []

  const run = async (
    command: string,
    args: readonly string[] = [],
    { stdin = '', env = {}, boundMs = READY_MS }: RunOptions = {}
  ): Promise<CommandRun> => {
    const terminal = testTerminal({ env: { SOUK_HOME: directory, SOUK_WATCHDOG: '0', ...env }, stdin })
    const code = await within(`souk ${command}`, boundMs, main([...command.split(' '), ...args], terminal))
    return { code, stdout: terminal.stdout(), stderr: terminal.stderr() }
  }

  const start = (command: string, ...args: string[]): RunningCommand => {
    const started = startCommand(directory, [...command.split(' '), ...args], () => running.delete(started))
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

/** The command that starts a node, and the ports it needs: a profile remembers those it got. */
function upCommand(directory: string, profile: string, flags: readonly string[]): [string, string[]] {
  const isKnown = existsSync(join(directory, profile, 'profile.json'))
  const ports = isKnown ? [] : ['--p2p-port', '0', '--admin-port', '0']
  if (!isKnown && !flags.includes('--no-ingress')) ports.push('--ingress-port', '0')
  // Most tests are not about money; a later flag overrides this one.
  return [`up --network dev --till metered --no-input --json --profile ${profile}`, ports]
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

/** Shows what was said on a home when a test failed. */
export function tellWhenFailed(home: () => SoukHome): void {
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(home().log())
  })
}
