import type { Clock } from '../../../lib/base/clock.ts'
import { isSoukError, type SoukError } from '../../../lib/base/errors.ts'
import { CALL_CHECK_REST_MS, CALL_CHECKS_RESTING_MAX } from '../../../lib/base/limits/rest.ts'
import { Slots } from '../../../lib/base/slots.ts'
import type { CallValues } from './check-runtime.ts'
import type { SchemaProblem } from './schema-problem.ts'
import type { CallSchemas } from './check-code.ts'
import { checkWorker } from './check-worker.ts'

interface Rest {
  readonly refusal: SoukError
  readonly until: number
}

/**
 * One API's use of the worker that all APIs share: one task at a time. An operation pauses after it exceeds a limit, and the API
 * does while `CALL_CHECKS_RESTING_MAX` operations pause, so that one API cannot occupy the worker.
 */
export class SlowChecks {
  readonly #clock: Clock
  readonly #turn = new Slots(1)
  /** By the operation's name. */
  readonly #resting = new Map<string, Rest>()
  #asking = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True if a slow check of this API is running, or exceeded a limit recently. Further slow checks are likely then. */
  get isStrained(): boolean {
    return this.#asking > 0 || this.#pausing() > 0
  }

  /** Runs `checkCode` in the worker. @throws SoukError those of `TaskWorker.run` */
  code(operation: string, schemas: CallSchemas, signal: AbortSignal): Promise<string | undefined> {
    return this.#run(operation, () => checkWorker.run('checkCode', schemas, signal), signal)
  }

  /** @throws SoukError those of `TaskWorker.run` */
  problemOf(
    operation: string,
    code: string,
    values: CallValues,
    signal: AbortSignal
  ): Promise<SchemaProblem | undefined> {
    return this.#run(operation, () => checkWorker.run('checkCall', { code, values }, signal), signal)
  }

  async #run<T>(operation: string, ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#asking++
    try {
      return await this.#inTurn(operation, ask, signal)
    } finally {
      this.#asking--
    }
  }

  async #inTurn<T>(operation: string, ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.#turn.enter(signal)
    try {
      const [first] = this.#pausing() < CALL_CHECKS_RESTING_MAX ? [] : this.#resting.values()
      const rest = this.#resting.get(operation) ?? first
      if (rest !== undefined) throw rest.refusal
      return await ask().catch((error: unknown) => {
        if (isSoukError(error) && error.code === 'description_too_complex')
          this.#resting.set(operation, { refusal: error, until: this.#clock.elapsed() + CALL_CHECK_REST_MS })
        throw error
      })
    } finally {
      leave()
    }
  }

  /** Ends the pauses that are over. Returns the number of operations that still pause. */
  #pausing(): number {
    for (const [operation, { until }] of this.#resting)
      if (this.#clock.elapsed() >= until) this.#resting.delete(operation)
    return this.#resting.size
  }
}
