import type { Clock } from '../../../lib/base/clock.ts'
import { isSoukError, type SoukError } from '../../../lib/base/errors.ts'
import { CALL_CHECK_REST_MS } from '../../../lib/base/limits/rest.ts'
import { Slots } from '../../../lib/base/slots.ts'
import type { CallProblem, CallValues } from './check-runtime.ts'
import type { CallSchemas } from './check-code.ts'
import { checkWorker } from './check-worker.ts'

/**
 * One API's use of the worker that all APIs share: one task at a time, and a pause after it exceeds a limit, so that one API
 * cannot occupy the worker.
 */
export class SlowChecks {
  readonly #clock: Clock
  readonly #turn = new Slots(1)
  #refusal: SoukError | undefined
  #restsUntil = -Infinity
  #asking = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True if a slow check of this API is running, or exceeded a limit recently. Further slow checks are likely then. */
  get isStrained(): boolean {
    return this.#asking > 0 || this.#clock.elapsed() < this.#restsUntil
  }

  /** Runs `checkCode` in the worker. @throws SoukError those of `TaskWorker.run` */
  code(schemas: CallSchemas, signal: AbortSignal): Promise<string | undefined> {
    return this.#run(() => checkWorker.run('checkCode', schemas, signal), signal)
  }

  /** @throws SoukError those of `TaskWorker.run` */
  problemOf(code: string, values: CallValues, signal: AbortSignal): Promise<CallProblem | undefined> {
    return this.#run(() => checkWorker.run('checkCall', { code, values }, signal), signal)
  }

  async #run<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#asking++
    try {
      return await this.#inTurn(ask, signal)
    } finally {
      this.#asking--
    }
  }

  async #inTurn<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.#turn.enter(signal)
    try {
      if (this.#refusal !== undefined && this.#clock.elapsed() < this.#restsUntil) throw this.#refusal
      return await ask()
    } catch (error) {
      if (isSoukError(error) && error.code === 'description_too_complex' && error !== this.#refusal) {
        this.#refusal = error
        this.#restsUntil = this.#clock.elapsed() + CALL_CHECK_REST_MS
      }
      throw error
    } finally {
      leave()
    }
  }
}
