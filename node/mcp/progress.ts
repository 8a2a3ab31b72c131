import { limits, type Timer, utf8 } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { OnProgress } from './agent.ts'
import { plainText } from './plain-text.ts'
import type { Splitter } from './stream-items.ts'

const LINE_END = utf8('\n')

/** Reports the items of a stream as they arrive, at most once per `MCP_PROGRESS_MS`. Each report has all items since the last one. */
export class Progress {
  readonly #clock: Clock
  readonly #split: Splitter
  readonly #report: OnProgress
  #items = 0
  #newest = ''
  #reportedAt = -Infinity
  #reported = 0
  #timer: Timer | undefined

  constructor(clock: Clock, split: Splitter, report: OnProgress) {
    this.#clock = clock
    this.#split = split
    this.#report = report
  }

  push(chunk: Uint8Array): void {
    for (const item of this.#split(chunk)) {
      if (item === '') continue
      this.#items++
      if (this.#newest.length > limits.MCP_PROGRESS_CHARS_MAX) continue
      this.#newest += `${this.#newest === '' ? '' : '\n'}${item}`
    }
    if (this.#items === this.#reported || this.#timer !== undefined) return
    const waitMs = this.#reportedAt + limits.MCP_PROGRESS_MS - this.#clock.elapsed()
    if (waitMs <= 0) void this.#send()
    else this.#timer = this.#clock.after(waitMs, () => void this.#send())
  }

  /** Reports the rest, before the result. */
  async end(): Promise<void> {
    // The last line of a stream may lack its end.
    this.push(LINE_END)
    if (this.#items > this.#reported) await this.#send()
    this.#timer?.cancel()
  }

  async #send(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#reported = this.#items
    this.#reportedAt = this.#clock.elapsed()
    const newest = plainText(this.#newest, limits.MCP_PROGRESS_CHARS_MAX)
    this.#newest = ''
    // The agent disconnected. That ends the call elsewhere.
    await this.#report(this.#items, newest).catch(() => undefined)
  }
}
