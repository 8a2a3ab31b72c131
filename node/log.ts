type Facts = Readonly<Record<string, unknown>>

/** What a node tells its operator. Never a key, a token or a body. */
export interface Log {
  readonly info: (message: string, facts?: Facts) => void
  readonly warn: (message: string, facts?: Facts) => void
  readonly error: (message: string, facts?: Facts) => void
}

/** Lines such as `warning: a response could not be sent request_id=01…`; a cause is told with its stack. */
export function createLog(write: (line: string) => void): Log {
  const tell =
    (level: string) =>
    (message: string, facts: Facts = {}) => {
      const { cause, ...rest } = facts
      const words = Object.entries(rest).map(
        ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
      )
      write(`${level}${message}${words.join('')}`)
      if (cause instanceof Error) write(`  ${cause.stack ?? cause.message}`)
    }
  return { info: tell(''), warn: tell('warning: '), error: tell('error: ') }
}
