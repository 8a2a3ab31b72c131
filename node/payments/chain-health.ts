import { asSoukError, limits, sleep } from '../../lib/index.ts'
import type { Chain, Clock } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'

export interface ChainHealthInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly log: Log
  /** What the operator can do about a chain that does not respond. */
  readonly hint: string
}

/**
 * Whether the chain can be used. An endpoint that fails is reported in one line, and again when it recovers: every loop that reads the chain
 * fails while it is away, and their errors say nothing new.
 */
export class ChainHealth {
  readonly #init: ChainHealthInit
  /** Why the chain cannot be used; undefined if it can. */
  #problem: string | undefined
  #isChecking = false
  #pauseMs: number = limits.CHAIN_RETRY_MS_MIN
  readonly #stopped = new AbortController()
  /** The last other warning, and its time. */
  #told: { readonly text: string; readonly at: number } | undefined

  constructor(init: ChainHealthInit) {
    this.#init = init
  }

  get hint(): string {
    return this.#init.hint
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** The first check. The node does not wait long for it. */
  async start(): Promise<void> {
    await Promise.race([this.#check(), sleep(this.#init.clock, limits.CHAIN_START_MS)])
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** Takes an error of the payment code. */
  failed(error: Error): void {
    if (asSoukError(error).code !== 'settlement_unavailable') {
      this.#warn(error)
      return
    }
    // While the chain is away, the retries decide. Otherwise find out whether it is the chain.
    if (this.#problem === undefined) void this.#check(error)
  }

  /** @param error reported if the chain turns out to be usable */
  async #check(error?: Error): Promise<void> {
    if (this.#isChecking || this.#stopped.signal.aborted) return
    this.#isChecking = true
    const problem = await problemOf(this.#init.chain)
    this.#isChecking = false
    if (this.#stopped.signal.aborted) return
    if (problem === undefined && error !== undefined) this.#warn(error)
    this.#tell(problem)
    if (problem !== undefined) this.#retry()
  }

  #tell(problem: string | undefined): void {
    const { log, hint } = this.#init
    if (problem === this.#problem) return
    this.#problem = problem
    if (problem === undefined) {
      log.info(`The chain responds again: ${this.#host}.`)
      this.#pauseMs = limits.CHAIN_RETRY_MS_MIN
    } else {
      log.warn(
        `The chain at ${this.#host} cannot be used, so paid calls fail. The node retries. ${problem} Try: ${hint}`
      )
    }
  }

  #retry(): void {
    const { clock } = this.#init
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * pauseMs, limits.CHAIN_RETRY_MS_MAX)
    sleep(clock, pauseMs, this.#stopped.signal).then(
      () => this.#check(),
      () => undefined
    )
  }

  /** An unexpected error keeps its stack. A known one is a line, not repeated while nothing else happens. */
  #warn(error: Error): void {
    const { log, clock } = this.#init
    const { code, message } = asSoukError(error)
    if (code === 'internal_error') {
      log.warn(message, { cause: error.cause })
      return
    }
    const text = error.cause instanceof Error ? `${message} ${error.cause.message}` : message
    const at = clock.elapsed()
    if (this.#told?.text === text && at - this.#told.at < limits.CHAIN_WARNING_MS) return
    this.#told = { text, at }
    log.warn(text.slice(0, limits.LOGGED_REASON_CHARS_MAX).replaceAll(/\s+/g, ' '))
  }

  /** The endpoint’s host: its URL may contain an access key. */
  get #host(): string {
    return new URL(this.#init.chain.parameters.rpcUrl).host
  }
}

async function problemOf(chain: Chain): Promise<string | undefined> {
  try {
    await chain.verify()
    return undefined
  } catch (error) {
    return asSoukError(error).message
  }
}
