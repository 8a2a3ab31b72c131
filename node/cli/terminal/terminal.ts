import { once } from 'node:events'
import { Writable } from 'node:stream'
import { type Environment, processEnvironment } from '../../config.ts'
import { stopSignal } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

/** The process as a command sees it, so that commands can be run without one. */
export interface Terminal {
  /** The environment variables, which also say where profiles are. */
  readonly env: Environment
  /** Resolves when a command that runs until it is stopped has to end. */
  stopped(): Promise<void>
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Resolves when the reader has room for more. */
  write(data: string | Uint8Array): Promise<void>
  /** One line to stderr. */
  readonly note: (line: string) => void
  /** Shows this in place of what it showed before, until '' takes it away. Absent where nobody looks on. */
  readonly progress?: (text: string) => void
  /** Somebody sits there who can be asked. */
  readonly canAsk: boolean
  ask(question: string): Promise<string>
  /** Shows nothing of what is typed. */
  askSecret(question: string): Promise<string>
}

/** ECMA-48: back to the start of the line, and erase it. */
const ERASE = '\r\u001b[K'

export function processTerminal(): Terminal {
  // `souk … | head`: whoever reads has enough, which is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  const stderr = process.stderr
  let shown = ''
  let isAsking = false
  const show = (text: string) => {
    // Nothing is written over a question.
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
    stopped: stopSignal,
    ...(stderr.isTTY ? { progress: show } : {}),
    stdin: process.stdin,
    write: (data) => new Promise((resolve) => process.stdout.write(data, () => resolve())),
    note(line) {
      const behind = shown
      show('')
      stderr.write(`${line}\n`)
      show(behind)
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

/** What is typed is echoed to `output` by readline, not by the terminal. */
async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    // Ctrl-C and Ctrl-D end the conversation, and `question` alone would wait for ever.
    const silence = once(lines, 'close').then(() => undefined)
    const answer = await Promise.race([lines.question(question).catch(() => undefined), silence])
    if (answer === undefined) throw new UsageError('Nothing was answered.')
    return answer
  } finally {
    lines.close()
  }
}
