import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { afterLimit, type Clock, type Timer } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { STREAM_IDLE_MS } from '../../lib/base/limits/call.ts'
import { BULK_CHUNK_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { ChunkQueue } from './chunk-queue.ts'
import { failureOf, interruption } from './failure.ts'

export interface ExchangeInit {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The time limit for the head, and for a body that is read as a whole. */
  readonly timeoutMs: number
  /** `host:port`, for error texts. */
  readonly where: string
}

export interface ResponseHead {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/**
 * One request in progress: undici pushes into it, and a single reader pulls from it. The socket is paused while the reader is
 * behind. It is destroyed if the exchange fails, its signal aborts or its reader leaves.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #init: ExchangeInit
  readonly #head = Promise.withResolvers<ResponseHead>()
  readonly #onAbort: () => void
  readonly #timer: Timer
  #hurried = true
  #idle: Timer | undefined
  #controller: Dispatcher.DispatchController | undefined
  readonly #chunks = new ChunkQueue()
  #queuedBytes = 0
  /** The socket is paused when more bytes are queued. */
  #queueMax = BULK_CHUNK_BYTES_MAX - 1
  #ended = false
  #failure: SoukError | undefined
  #onSettled: (() => void) | undefined
  #wake: (() => void) | undefined

  constructor(init: ExchangeInit) {
    this.#init = init
    this.#onAbort = () => this.fail(interruption(init.signal))
    init.signal.addEventListener('abort', this.#onAbort, { once: true })
    // A map of running exchanges with one timer costs more: V8 keeps the keys of a map after they are deleted.
    this.#timer = afterLimit(init.clock, init.timeoutMs, () => this.#onLate())
    if (init.signal.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#init.signal
  }

  get clock(): Clock {
    return this.#init.clock
  }

  get head(): Promise<ResponseHead> {
    return this.#head.promise
  }

  /** True if the exchange has ended or failed. */
  get settled(): boolean {
    return this.#ended || this.#failure !== undefined
  }

  /** Calls `task` when the exchange has ended or failed. */
  whenSettled(task: () => void): void {
    if (this.settled) task()
    else this.#onSettled = task
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The request was aborted while it waited for a connection; undici provides the controller only now.
    if (this.#failure !== undefined) controller.abort(this.#failure)
    else this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx responses are interim (RFC 9110 §15.2); the final head follows.
    if (status >= 200) this.#head.resolve({ status, headers })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#failure !== undefined) return
    this.#chunks.push(chunk)
    this.#queuedBytes += chunk.byteLength
    if (this.#queuedBytes > this.#queueMax) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    if (this.settled) return
    this.#ended = true
    this.#letGo()
    this.#wake?.()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(failureOf(error, this.#init.where, this.#controller !== undefined))
  }

  fail(error: SoukError): void {
    if (this.settled) return
    this.#failure = error
    this.#chunks.take()
    this.#letGo()
    this.#head.reject(error)
    this.#controller?.abort(error)
    this.#wake?.()
  }

  /**
   * Ends the time limit. From now on only silence is limited (`STREAM_IDLE_MS`), and only while the reader waits, because a slow
   * reader is not the upstream's fault.
   */
  unhurry(): void {
    this.#hurried = false
    this.#timer.cancel()
    if (this.#wake !== undefined) this.#limitSilence()
  }

  /**
   * The whole body. It is a promise only if the body is not complete yet; a small one usually arrives with the head. Undefined if the
   * body is longer than `bytesMax`; then `body` reads it from its beginning.
   * @throws SoukError the failure of the exchange
   */
  whole(bytesMax: number): readonly Uint8Array[] | undefined | Promise<readonly Uint8Array[] | undefined> {
    this.#queueMax = Math.max(this.#queueMax, bytesMax)
    return this.#isCollected(bytesMax) ? this.#collected(bytesMax) : this.#collect(bytesMax)
  }

  async #collect(bytesMax: number): Promise<readonly Uint8Array[] | undefined> {
    // The socket may have been paused at the lower limit.
    this.#controller?.resume()
    while (!this.#isCollected(bytesMax)) await this.#more()
    return this.#collected(bytesMax)
  }

  #isCollected(bytesMax: number): boolean {
    return this.settled || this.#queuedBytes > bytesMax
  }

  #collected(bytesMax: number): readonly Uint8Array[] | undefined {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#queuedBytes > bytesMax) return undefined
    return this.#chunks.take()
  }

  /** The body as it arrives; can be read once. */
  async *body(): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#queuedBytes -= chunk.byteLength
          if (this.#queuedBytes <= this.#queueMax) this.#controller?.resume()
          yield chunk
        } else if (this.#failure !== undefined) {
          throw this.#failure
        } else if (this.#ended) {
          return
        } else {
          await this.#more()
        }
      }
    } finally {
      this.leave()
    }
  }

  /** Ends the exchange because the reader needs no more. */
  leave(): void {
    if (!this.settled) this.fail(new SoukError('call_interrupted'))
  }

  async #more(): Promise<void> {
    if (!this.#hurried) this.#limitSilence()
    await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
    this.#idle?.cancel()
  }

  #limitSilence(): void {
    const { clock, where } = this.#init
    this.#idle?.cancel()
    this.#idle = clock.after(STREAM_IDLE_MS, () => {
      this.fail(new SoukError('upstream_timeout', `${where} stopped sending.`, { source: 'upstream' }))
    })
  }

  #onLate(): void {
    const detail = `${this.#init.where} did not respond within its time limit.`
    this.fail(new SoukError('upstream_timeout', detail, { source: 'upstream' }))
  }

  #letGo(): void {
    this.#timer.cancel()
    this.#init.signal.removeEventListener('abort', this.#onAbort)
    this.#onSettled?.()
  }
}
