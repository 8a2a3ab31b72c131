import { once } from 'node:events'
import { Writable } from 'node:stream'
import { type Environment, processEnvironment } from '../../config.ts'
import { tuneCollector, collectBuffers, collectStartGarbage } from './collect-garbage.ts'
import { EXIT } from './exit-code.ts'
import { openInBrowserOf } from './open-in-browser.ts'
import { stopSignal } from './stop-signal.ts'
import { safeText } from './text.ts'
import { UsageError } from './usage-error.ts'

/** Interface between commands and the process, so that tests can run commands without a process. */
export interface Terminal {
  /** Environment variables. They also set the folder of profiles. */
  readonly env: Environment
  /** Resolves when a long-running command must stop: at a signal, or when its output cannot be written any more. */
  stopped(): Promise<void>
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Resolves when stdout can accept more. */
  write(data: string | Uint8Array): Promise<void>
  /** True if a person sees stdout, so that it must not contain control characters of others. */
  readonly isTerminal: boolean
  /** Width of the terminal that shows stdout. Absent in a pipe. */
  readonly columns?: number | undefined
  /** Writes one line to stderr, if anybody still reads it. */
  readonly note: (line: string) => void
  /** Replaces the progress line; '' removes it. Absent if stderr is no terminal. */
  readonly progress?: (text: string) => void
  /** Opens a page in the user's browser. False if there is no display. */
  openInBrowser?(url: string): Promise<boolean>
  /**
   * Returns the garbage of a start to the system. From then on, it collects the buffers of large bodies while they are young, and new
   * objects are allocated in the young generation. Absent if the process runs other commands too.
   */
  collectGarbage?(): void
  /** True if the command can ask the user. */
  readonly canAsk: boolean
  ask(question: string): Promise<string>
  /** Asks without showing the typed text. */
  askSecret(question: string): Promise<string>
}

/** ECMA-48: go to the start of the line, and erase it. */
const ERASE = '\r\u001b[K'

export function processTerminal(): Terminal {
  const stdout = process.stdout
  const stderr = process.stderr
  // Nobody reads the notes any more: Ctrl-C in `souk up 2>&1 | tee log` ends `tee` first. The command continues.
  stderr.on('error', () => {})
  const outputLost = lostOutput()
  let isLongRunning = false
  void outputLost.then(() => {
    if (!isLongRunning) process.exit()
  })
  let shown = ''
  let isAsking = false
  const show = (text: string) => {
    // Do not write progress over a question.
    if (isAsking || text === shown) return
    stderr.write(`${shown === '' ? '' : ERASE}${text}`)
    shown = text
  }
  const asked = async (question: string, output: NodeJS.WritableStream): Promise<string> => {
    show('')
    isAsking = true
    try {
      return await answerTo(question, output)
    } finally {
      isAsking = false
    }
  }
  return {
    env: processEnvironment(),
    stopped() {
      isLongRunning = true
      return Promise.race([stopSignal(), outputLost])
    },
    ...(stderr.isTTY ? { progress: show } : {}),
    stdin: process.stdin,
    isTerminal: stdout.isTTY,
    // A terminal of unknown size, such as that of a container, has 0.
    get columns() {
      return stdout.isTTY && stdout.columns > 0 ? stdout.columns : undefined
    },
    write: (data) => new Promise((resolve) => stdout.write(data, () => resolve())),
    note(line) {
      const behind = shown
      show('')
      stderr.write(`${safeText(line)}\n`)
      show(behind)
    },
    openInBrowser: openInBrowserOf(processEnvironment()),
    collectGarbage() {
      tuneCollector()
      collectStartGarbage()
      collectBuffers()
    },
    canAsk: process.stdin.isTTY && process.stderr.isTTY,
    async ask(question) {
      return (await asked(question, stderr)).trim()
    },
    async askSecret(question) {
      show('')
      stderr.write(question)
      try {
        return await asked('', new Writable({ write: (_chunk, _encoding, done) => done() }))
      } finally {
        stderr.write('\n')
      }
    }
  }
}

/** Resolves when a write to stdout fails. Node.js reports each failed write. */
function lostOutput(): Promise<void> {
  return new Promise((resolve) => {
    let isLost = false
    process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (isLost) return
      isLost = true
      // In `souk … | head` the reader stops early. This is not an error.
      if (code !== 'EPIPE') {
        process.stderr.write(`souk: The output cannot be written: ${message}.\n`)
        process.once('exit', () => (process.exitCode = EXIT.storage))
      }
      resolve()
    })
  })
}

/** Readline echoes typed text to `output`; the terminal does not. */
async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  // Readline takes Ctrl-C from the terminal. It ends the command by its signal, so that scripts and shells see it.
  lines.once('SIGINT', () => {
    lines.close()
    process.stderr.write('\n')
    process.kill(process.pid, 'SIGINT')
  })
  try {
    // After Ctrl-D, `question` alone would wait for ever.
    const silence = once(lines, 'close').then(() => undefined)
    const answer = await Promise.race([lines.question(question).catch(() => undefined), silence])
    if (answer === undefined) throw new UsageError('The input ended without an answer.')
    return answer
  } finally {
    lines.close()
  }
}
