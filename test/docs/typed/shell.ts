import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { eventually, within } from '../../helpers/eventually.ts'

/** One command as a page has it. Installing the package takes longest. */
const COMMAND_MS = 240_000
const END_MS = 30_000

/** A terminal with bash in it, which runs what is typed, one command after the other. */
export class Shell {
  readonly #bash: ChildProcess
  readonly #output: string[] = []
  /** A command that goes on until Ctrl-C. */
  #isBusy = false

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    // It leads a process group, so that Ctrl-C and the end reach everything that was started in it.
    this.#bash = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit']
    })
    this.#bash.stdout?.setEncoding('utf8').on('data', (text: string) => this.#output.push(text))
    // A terminal shows both streams in order, and its shell survives the Ctrl-C that ends a command.
    this.#type('trap : INT; exec 2>&1')
  }

  /** Everything printed so far, by all commands. */
  get output(): string {
    return this.#output.join('')
  }

  /** Types a command, and waits until it has ended. @returns what it printed, and its exit code */
  async run(command: string): Promise<{ readonly output: string; readonly code: number }> {
    this.#interrupt()
    const end = `end-of-command-${randomUUID()}`
    const from = this.output.length
    // What the command reads is not what is typed next.
    this.#type(`{ ${command}\n} </dev/null; echo "${end} $?"`)
    return eventually(command, COMMAND_MS, () => {
      const printed = this.output.slice(from)
      const code = new RegExp(`${end} (\\d+)\\n`).exec(printed)
      if (code !== null) return { output: printed.slice(0, code.index), code: Number(code[1]) }
      this.#assertAlive(command)
      return undefined
    })
  }

  /** Types a command that goes on, and waits until it printed `upWhen`, or anything. */
  async start(command: string, upWhen: string | undefined): Promise<string> {
    this.#interrupt()
    const from = this.output.length
    this.#type(`{ ${command}\n} </dev/null`)
    this.#isBusy = true
    return eventually(`${command} to print ${upWhen ?? 'anything'}`, COMMAND_MS, () => {
      const printed = this.output.slice(from)
      if (printed.includes(upWhen ?? '\n')) return printed
      this.#assertAlive(command)
      return undefined
    })
  }

  async close(): Promise<void> {
    if (this.#bash.exitCode === null && this.#bash.signalCode === null) {
      const ended = once(this.#bash, 'exit')
      this.#signal('SIGTERM')
      await within('the shell to end', END_MS, ended).catch(() => undefined)
    }
    // What the shell started in the background.
    this.#signal('SIGKILL')
  }

  /** Ends the command that runs, as a reader does who wants to type the next one. */
  #interrupt(): void {
    if (this.#isBusy) process.kill(-this.#bash.pid!, 'SIGINT')
    this.#isBusy = false
  }

  #type(line: string): void {
    this.#bash.stdin?.write(`${line}\n`)
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#bash.pid!, signal)
    } catch {
      // All of the group has ended.
    }
  }

  #assertAlive(command: string): void {
    if (this.#bash.exitCode !== null) assert.fail(`The shell ended at: ${command}\n${this.output.slice(-4_000)}`)
  }
}
