import { CALL_CHECK_STEPS_MAX } from '../../../lib/base/limits/rest.ts'
import { OutOfSteps } from '../../pattern/meter.ts'
import { type CallValues, type Check, loadCheck } from './check-runtime.ts'
import type { SchemaProblem } from './schema-problem.ts'
import type { SlowChecks } from './slow-checks.ts'

/** Enough for small calls of an API that also has slow calls. */
const STRAINED_STEPS_MAX = CALL_CHECK_STEPS_MAX / 40

/**
 * Checks calls of one operation against its schemas. A worker generates the code within limits. The code is loaded here and runs
 * for at most `CALL_CHECK_STEPS_MAX` steps, counted per value that a schema checks and per pattern. The worker checks calls that
 * need more.
 */
export class CallCheck {
  readonly code: string
  readonly #operation: string
  readonly #check: Check
  readonly #slow: SlowChecks

  /** @param onFault - called for each call on which the generated code fails. Such a call is not checked. */
  constructor(operation: string, code: string, slow: SlowChecks, onFault: () => void) {
    this.#operation = operation
    this.code = code
    this.#check = loadCheck(code, onFault)
    this.#slow = slow
  }

  /**
   * The problem of a call; undefined if there is none. @throws SoukError `description_too_complex`, `overloaded`; the signal's
   * reason
   */
  async problemOf(values: CallValues, signal: AbortSignal): Promise<SchemaProblem | undefined> {
    try {
      // A smaller budget under strain, because 200 concurrent checks together would block the event loop.
      return this.#check(values, this.#slow.isStrained ? STRAINED_STEPS_MAX : CALL_CHECK_STEPS_MAX)
    } catch (error) {
      // A deep value overflows the stack.
      if (!(error instanceof OutOfSteps) && !(error instanceof RangeError)) throw error
    }
    return this.#slow.problemOf(this.#operation, this.code, values, signal)
  }
}
