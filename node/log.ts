type Facts = Readonly<Record<string, unknown>>

/** Messages of a node to its operator. They contain no keys, tokens or bodies. */
export interface Log {
  readonly info: (message: string, facts?: Facts) => void
  readonly warn: (message: string, facts?: Facts) => void
  readonly error: (message: string, facts?: Facts) => void
}

/** Writes lines such as `warning: a response could not be sent request_id=01…`, and a cause with its stack. */
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
