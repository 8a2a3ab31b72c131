import type { ComponentLogger, Logger } from '@libp2p/interface'

const silent: Logger = Object.assign(() => {}, {
  error: () => {},
  trace: () => {},
  enabled: false,
  newScope: () => silent
})

/** The log of one simulated node. It keeps lines only while a lookup runs. */
export class LookupLog implements ComponentLogger {
  readonly #now: () => number
  #lines: string[] | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  start(): void {
    this.#lines = []
  }

  /** The lines since the start. */
  end(): readonly string[] {
    const lines = this.#lines ?? []
    this.#lines = undefined
    return lines
  }

  forComponent(name: string): Logger {
    if (!name.startsWith('souk:')) return silent
    const log = (text: unknown, ...args: unknown[]) => {
      this.#lines?.push(`${Math.round(this.#now())} ${name} ${filled(String(text), args)}`)
    }
    const rest = { error: log, trace: () => {}, newScope: (scope: string) => this.forComponent(`${name}:${scope}`) }
    const isEnabled = () => this.#lines !== undefined
    return Object.defineProperty(Object.assign(log, rest, { enabled: false }), 'enabled', { get: isEnabled })
  }
}

function filled(text: string, args: readonly unknown[]): string {
  const rest = args.map((arg) => (arg instanceof Uint8Array ? `${arg.byteLength} bytes` : String(arg)))
  return text.replaceAll(/%[a-zA-Z]/g, () => rest.shift() ?? '')
}
