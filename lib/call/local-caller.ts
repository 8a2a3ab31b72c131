import { type Clock, deadline } from '../base/clock.ts'
import { discard } from '../base/discard.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { givenUp } from '../base/given-up.ts'
import { watchBody } from '../base/watch-body.ts'
import { within } from '../base/within.ts'
import {
  type Attempt,
  type Call,
  type CallResponse,
  type CallHandler,
  type Caller,
  UNKNOWN_EPOCH
} from '../interface/call.ts'
import type { PeerAddress } from '../interface/link.ts'

export interface LocalCallerInit {
  readonly clock: Clock
  /** Peer id of this node. */
  readonly self: string
  /** The owner half of this node. */
  readonly handle: CallHandler
  /** Calls all other nodes. */
  readonly remote: Caller
}

/** Calls this node's own APIs without a link, and all others over a link. */
export class LocalCaller implements Caller {
  readonly #init: LocalCallerInit

  constructor(init: LocalCallerInit) {
    this.#init = init
  }

  call(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt> {
    const { self, remote } = this.#init
    return owner.id === self ? this.#callSelf(call, signal) : remote.call(owner, call, signal)
  }

  async #callSelf(call: Call, signal: AbortSignal | undefined): Promise<Attempt> {
    const { clock, self, handle } = this.#init
    const startedAt = clock.elapsed()
    const limit = deadline(clock, call.timeoutMs, () => new SoukError('upstream_timeout'))
    const onAbort = () => signal && limit.abort(givenUp(signal))
    const clear = () => {
      limit.clear()
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const { isRepeat, ...own } = call
      const repeat = isRepeat === true ? { resentFromEpoch: UNKNOWN_EPOCH } : {}
      const answering = handle({ ...own, ...repeat, peer: self }, limit.signal)
      // A call with an idempotency key continues without its caller, who may come back for the response.
      const isKeyed = call.idempotencyKey !== undefined
      const answer = await (isKeyed ? unlessLeft(answering, limit.signal) : answering)
      const ms = clock.elapsed() - startedAt
      // The ingress counts the body from now on.
      answer.free?.()
      // The time limit applies to the head. From now on only the caller ends a stream.
      limit.stop()
      if (answer.body instanceof Uint8Array) {
        clear()
        return { fate: 'answered', answer, ms }
      }
      const body = watchBody(answer.body, (isComplete) => {
        if (!isComplete) limit.abort(new SoukError('call_interrupted', 'The reader of the response stopped.'))
        clear()
      })
      return { fate: 'answered', answer: { ...answer, body }, ms }
    } catch (thrown) {
      const error = asSoukError(thrown)
      limit.abort(error)
      clear()
      return { fate: error.notAccepted ? 'not_accepted' : 'failed', error }
    }
  }
}

/** Cancels the body of a response whose caller has left. */
function unlessLeft(answering: Promise<CallResponse>, signal: AbortSignal): Promise<CallResponse> {
  void answering.then(
    ({ body, free }) => {
      if (!signal.aborted) return
      free?.()
      discard(body)
    },
    () => {}
  )
  return within(answering, signal)
}
