import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Terminal } from '../../node/cli/terminal/terminal.ts'

/** A terminal for commands in the test's process. It records their output. */
export interface TestTerminal extends Terminal {
  stdout(): string
  stderr(): string
  /** The output by line, while the command runs. */
  readonly lines: { readonly stdout: readonly string[]; readonly stderr: readonly string[] }
  /** The questions to the user, and whether the answer would be visible. */
  readonly asked: ReadonlyArray<{ readonly question: string; readonly isShown: boolean }>
  /** The pages that the command opened in a browser. */
  readonly opened: readonly string[]
  /** Ends the command like Ctrl-C. */
  stop(): void
}

export interface TestTerminalInit {
  /** The environment; the test's own is not added. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Answers in the order of the questions. Without them, no question is possible. */
  readonly answers?: readonly string[]
  /** Default false: stdout is a pipe. */
  readonly isTerminal?: boolean
  /** Width of the terminal. */
  readonly columns?: number
}

export function testTerminal({
  env = {},
  stdin,
  answers,
  isTerminal = false,
  columns
}: TestTerminalInit = {}): TestTerminal {
  const [stdout, stderr] = [new Output(), new Output()]
  const asked: Array<{ question: string; isShown: boolean }> = []
  const opened: string[] = []
  const stopped = Promise.withResolvers<void>()
  const answer = async (question: string, isShown: boolean) => {
    const next = answers?.[asked.length] ?? assert.fail(`there is no answer to: ${question}`)
    asked.push({ question, isShown })
    return next
  }
  return {
    env,
    stdin: Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]),
    isTerminal,
    columns,
    write: async (data) => stdout.add(data),
    note: (line) => stderr.add(`${line}\n`),
    canAsk: answers !== undefined,
    ask: (question) => answer(question, true),
    askSecret: (question) => answer(question, false),
    stopped: () => stopped.promise,
    async openInBrowser(url) {
      opened.push(url)
      return true
    },
    opened,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    lines: { stdout: stdout.lines, stderr: stderr.lines },
    asked,
    stop: stopped.resolve
  }
}

class Output {
  text = ''
  readonly lines: string[] = []
  readonly #decoder = new TextDecoder()
  #unfinished = ''

  add(data: string | Uint8Array): void {
    const text = typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true })
    this.text += text
    const [first = '', ...rest] = text.split('\n')
    this.#unfinished += first
    for (const next of rest) {
      this.lines.push(this.#unfinished)
      this.#unfinished = next
    }
  }
}
