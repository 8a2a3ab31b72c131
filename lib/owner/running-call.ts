import { SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { requestHash } from '../base/request-hash.ts'
import { within } from '../base/within.ts'
import type { CallResponse, IncomingCall } from '../interface/call.ts'
import { checkSame, repeatable } from './stored-responses.ts'

/** The answer of a call that has not started. Nobody sees it, because a call starts in the same turn. */
const NOT_STARTED = new Promise<never>(() => {})

/** A running call. Its response goes to all of its readers: the call itself, and the repeats that come meanwhile. */
export class RunningCall {
  readonly call: IncomingCall
  answer: Promise<CallResponse> = NOT_STARTED
  #readers = 1
  #free: (() => void) | undefined

  constructor(call: IncomingCall) {
    this.call = call
  }

  /** The response for the call itself. The memory of its body is freed once each reader has freed it. */
  shared(answer: CallResponse): CallResponse {
    if (answer.free === undefined) return answer
    this.#free = answer.free
    return { ...answer, free: this.#leaving() }
  }

  /**
   * The response for a repeat. The call may still be charged when the repeat gives up, and a failure would say that it was not. So
   * the repeat gets the one refusal that leaves the outcome open.
   */
  async join(call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    checkSame(call, requestHash(this.call))
    this.#readers++
    const leave = this.#leaving()
    try {
      const answer = repeatable(await within(this.answer, signal))
      return answer.free === undefined ? answer : { ...answer, free: leave }
    } catch (error) {
      leave()
      if (!signal.aborted || error !== signal.reason || call.resentFromEpoch === undefined) throw error
      throw new SoukError('overloaded', 'The first attempt of this call is still running. Repeat the call later.', {
        cause: error,
        notAccepted: true,
        retryAfterMs: OVERLOAD_PAUSE_MS
      })
    }
  }

  /** For one reader. A second call does nothing. */
  #leaving(): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      if (--this.#readers === 0) this.#free?.()
    }
  }
}
