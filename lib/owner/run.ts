import { watchBody } from '../base/watch-body.ts'
import type { CallResponse } from '../interface/call.ts'
import type { CallPermit } from './call-limiter.ts'
import type { IdempotentCall } from './idempotent-calls.ts'
import type { HeldMemory } from './owner-load.ts'
import type { ServedApi } from './served-api.ts'
import type { ServedApis } from './served-apis.ts'

export interface RunInit {
  readonly apis: ServedApis
  readonly api: ServedApi
  readonly permit: CallPermit
  readonly memory: HeldMemory
  readonly startedAt: number
}

/** One admitted call: the resources that it holds until its response is over. */
export class Run {
  readonly api: ServedApi
  readonly permit: CallPermit
  /** For bodies that are kept whole. */
  readonly memory: HeldMemory
  readonly startedAt: number
  /** Present for a call with an idempotency key, once it has the key. */
  keyed: IdempotentCall | undefined
  /** A call of this id was charged before. Only the payment scheme may respond, and the API is not called. */
  isCharged = false
  readonly #apis: ServedApis
  #hasLeft = false

  /** Counts the call as running until it leaves. */
  constructor({ apis, api, permit, memory, startedAt }: RunInit) {
    this.api = api
    this.permit = permit
    this.memory = memory
    this.startedAt = startedAt
    this.#apis = apis
    apis.enter(api)
  }

  /** Frees the resources. A second call does nothing. */
  leave(): void {
    this.memory.free()
    this.#end()
  }

  #end(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.permit.leave()
    this.#apis.leave(this.api)
  }

  /** As `over`, for a response from the books. @throws SoukError `overloaded`: its peer has too much to read */
  overStored(answer: CallResponse, signal: AbortSignal): CallResponse {
    if (answer.body instanceof Uint8Array) this.memory.take(answer.body.length)
    return this.over(answer, signal)
  }

  /**
   * The response as it is sent. A streamed body holds the resources until it ends, or until its reader cancels. A whole one holds only
   * memory, until `free`.
   */
  over(answer: CallResponse, signal: AbortSignal): CallResponse {
    const { rate } = this.permit
    const rated = rate === undefined ? answer : { ...answer, rate }
    const { body } = rated
    if (body instanceof Uint8Array) {
      const { memory } = this
      this.#end()
      return memory.isUsed ? { ...rated, free: () => memory.free() } : rated
    }
    const leave = () => this.leave()
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    const watched = watchBody(body, () => {
      signal.removeEventListener('abort', leave)
      leave()
    })
    return { ...rated, body: watched }
  }
}
