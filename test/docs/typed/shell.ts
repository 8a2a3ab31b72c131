import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { eventually, within } from '../../helpers/eventually.ts'

/** Time limit of one command. Installing the package takes longest. */
const COMMAND_MS = 60_000
const END_MS = 30_000

/** A bash process that runs typed commands one at a time. */
export class Shell {
  readonly #bash: ChildProcess
  readonly #output: string[] = []
  /** True while a command runs that ends only at Ctrl-C. */
  #isBusy = false

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    // The shell leads a process group, so that signals reach all its children.
    this.#bash = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit']
    })
    this.#bash.stdout?.setEncoding('utf8').on('data', (text: string) => this.#output.push(text))
    // As in a terminal, both streams are merged in order, and the shell survives Ctrl-C.
    this.#type('trap : INT; exec 2>&1')
  }

  /** The output of all commands so far. */
  get output(): string {
    return this.#output.join('')
  }

  /** Types a command and waits until it has ended. @returns its output and its exit code */
  async run(command: string): Promise<{ readonly output: string; readonly code: number }> {
    const progress = this.#begin(command)
    return eventually(command, COMMAND_MS, () => {
      const { output, code } = progress()
      return code === undefined ? undefined : { output, code }
    })
  }

  /** Types a long-running command, and waits until it has printed `upWhen`, or any text by default. */
  async start(command: string, upWhen: string | undefined): Promise<string> {
    const progress = this.#begin(command)
    this.#isBusy = true
    return eventually(`${command} to print ${upWhen ?? 'anything'}`, COMMAND_MS, () => {
      const { output, code } = progress()
      if (output.includes(upWhen ?? '\n')) return output
      assert.equal(code, undefined, `${command} ended before it printed ${upWhen ?? 'anything'}:\n${output}`)
      return undefined
    })
  }

  async close(): Promise<void> {
    if (this.#bash.exitCode === null && this.#bash.signalCode === null) {
      const ended = once(this.#bash, 'exit')
      this.#signal('SIGTERM')
      await within('the shell to end', END_MS, ended).catch(() => undefined)
    }
    // The shell may have background children.
    this.#signal('SIGKILL')
  }

  /** Types a command. @returns a function that returns its output so far, and its exit code after its end */
  #begin(command: string): () => { readonly output: string; readonly code: number | undefined } {
    this.#interrupt()
    const end = `end-of-command-${randomUUID()}`
    const from = this.output.length
    // The command must not read the next typed command as its input.
    this.#type(`{ ${command}\n} </dev/null; echo "${end} $?"`)
    return () => {
      const printed = this.output.slice(from)
      const code = new RegExp(`${end} (\\d+)\\n`).exec(printed)
      if (code !== null) return { output: printed.slice(0, code.index), code: Number(code[1]) }
      const { exitCode, signalCode } = this.#bash
      assert.equal(exitCode ?? signalCode, null, `The shell ended at: ${command}\n${this.output.slice(-4_000)}`)
      return { output: printed, code: undefined }
    }
  }

  /** Ends the running command by Ctrl-C. */
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
      // The whole process group has already ended.
    }
  }
}
