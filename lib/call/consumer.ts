import { type ApiRef, parseApiRef } from '../base/api-name.ts'
import { EMPTY_BYTES, utf8 } from '../base/bytes.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { UPSTREAM_TIMEOUT_MS, UPSTREAM_TIMEOUT_MS_MAX } from '../base/limits.ts'
import { parseUsdc } from '../base/money.ts'
import type { RequestIds } from '../base/request-id.ts'
import type { Attempt, Call, CallHandler, Caller } from '../interface/call.ts'
import type { Resolution, Resolver } from '../interface/directory.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { Headers, Payload } from '../interface/payload.ts'
import type { CallInit, CallReply } from '../interface/souk.ts'
import type { Order, Till } from '../interface/till.ts'
import { callReply } from './call-reply.ts'

export interface ConsumerInit {
  readonly clock: Clock
  readonly resolver: Resolver
  readonly caller: Caller
  readonly till: Till
  readonly requestIds: RequestIds
  /** This node's peer id, and its own owner half: a node calls what it serves itself without a link. */
  readonly self: string
  readonly handle: CallHandler
}

const JSON_HEADERS: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'application/json']
]

const NEVER = new AbortController().signal

/** A call made ready: everything that stays the same whichever owner takes it. */
interface Prepared {
  readonly init: CallInit
  readonly ref: ApiRef
  readonly requestId: Uint8Array
  readonly body: Payload
  readonly maxPrice: bigint | undefined
  readonly startedAt: number
  readonly deadlineAt: number
}

/**
 * Makes calls: finds the API, has the till authorise, tries owners best first. Another owner is tried only where nothing
 * was sent, where the owner said it did not take the call, or where the provider declared the API idempotent.
 */
export class Consumer {
  readonly #init: ConsumerInit

  constructor(init: ConsumerInit) {
    this.#init = init
  }

  /** @throws SoukError */
  async call(init: CallInit): Promise<CallReply> {
    const prepared = this.#prepare(init)
    const { resolver, clock } = this.#init
    const signal = init.signal ?? NEVER
    try {
      const tried = new Set<string>()
      const found = await resolver.resolve(prepared.ref, { signal })
      const lookupMs = clock.elapsed() - prepared.startedAt
      const first = await this.#tryOwners(prepared, found, lookupMs, tried)
      if (!(first instanceof SoukError)) return first
      // Nobody took it. What we knew may have been old: an owner may have moved or another may have come.
      const renewed = await resolver.resolve(prepared.ref, { signal, refresh: true })
      const second = await this.#tryOwners(prepared, renewed, clock.elapsed() - prepared.startedAt, tried, first)
      if (second instanceof SoukError) throw second
      return second
    } catch (error) {
      throw asSoukError(error)
    }
  }

  #prepare(init: CallInit): Prepared {
    const { clock, requestIds } = this.#init
    const timeoutMs = init.timeoutMs ?? UPSTREAM_TIMEOUT_MS
    if (!(timeoutMs > 0 && timeoutMs <= UPSTREAM_TIMEOUT_MS_MAX)) {
      throw new SoukError('invalid_request', `A time-out is between 1 and ${UPSTREAM_TIMEOUT_MS_MAX} milliseconds.`)
    }
    const startedAt = clock.elapsed()
    return {
      init,
      ref: typeof init.api === 'string' ? parseApiRef(init.api) : init.api,
      requestId: init.requestId ?? requestIds.next(),
      body: payloadOf(init.body),
      maxPrice: init.maxPrice === undefined ? undefined : parseUsdc(init.maxPrice),
      startedAt,
      deadlineAt: startedAt + timeoutMs
    }
  }

  /** The reply, or the last error when no owner took the call. @throws SoukError when one took it and failed for good */
  async #tryOwners(
    prepared: Prepared,
    { signed, owners }: Resolution,
    lookupMs: number,
    tried: Set<string>,
    last = new SoukError('owner_unreachable')
  ): Promise<CallReply | SoukError> {
    const { resolver, till, clock } = this.#init
    const { id, manifest } = signed
    for (const owner of owners) {
      // A second look-up may bring the same owners with new addresses; only those that were not reached are tried again.
      if (tried.has(owner.id)) continue
      const order: Order = {
        requestId: prepared.requestId,
        api: id,
        owner: owner.id,
        revision: manifest.revision,
        price: manifest.price,
        ...(prepared.maxPrice === undefined ? {} : { maxPrice: prepared.maxPrice })
      }
      const authorization = await till.authorise(order)
      const attempt = await this.#attempt(owner, this.#callFor(prepared, order, authorization), prepared.init.signal)
      if (attempt.fate === 'answered') {
        const { answer, ms } = attempt
        till.accept(order, { charged: answer.charged, receipt: answer.receipt })
        resolver.report(id, owner.id, { ok: true, ms })
        return callReply({ order, answer, lookupMs, totalMs: clock.elapsed() - prepared.startedAt })
      }
      last = attempt.error
      till.fail(order, attempt)
      if (isOwnersFault(attempt)) resolver.report(id, owner.id, { ok: false })
      if (attempt.fate !== 'not_accepted' && !mayRepeat(attempt, manifest.idempotent, prepared.body)) throw last
      if (last.code !== 'owner_unreachable') tried.add(owner.id)
    }
    return last
  }

  #callFor({ init, requestId, body, maxPrice, deadlineAt }: Prepared, order: Order, authorization?: Uint8Array): Call {
    const { idempotencyKey, traceparent } = init
    return {
      requestId,
      api: order.api,
      method: init.method ?? 'POST',
      path: init.path ?? '',
      headers: init.headers ?? JSON_HEADERS,
      body,
      timeoutMs: Math.max(1, deadlineAt - this.#init.clock.elapsed()),
      revision: order.revision,
      ...(maxPrice === undefined ? {} : { maxPrice }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(traceparent === undefined ? {} : { traceparent })
    }
  }

  #attempt(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt> {
    return owner.id === this.#init.self ? this.#callSelf(call, signal) : this.#init.caller.call(owner, call, signal)
  }

  async #callSelf(call: Call, signal: AbortSignal | undefined): Promise<Attempt> {
    const { clock, self, handle } = this.#init
    const startedAt = clock.elapsed()
    const limit = deadline(clock, call.timeoutMs, () => new SoukError('upstream_timeout'), signal)
    try {
      const answer = await handle({ ...call, peer: self }, limit.signal)
      return { fate: 'answered', answer, ms: clock.elapsed() - startedAt }
    } catch (thrown) {
      const error = asSoukError(thrown)
      return { fate: error.notAccepted ? 'not_accepted' : 'failed', error }
    } finally {
      limit.stop()
    }
  }
}

/** The API itself answers badly at every owner alike; these say something of the owner. */
function isOwnersFault({ fate, error }: Exclude<Attempt, { fate: 'answered' }>): boolean {
  return fate !== 'failed' || error.code === 'internal_error'
}

function mayRepeat(attempt: Exclude<Attempt, { fate: 'answered' }>, isIdempotent: boolean, body: Payload): boolean {
  if (!isIdempotent || !(body instanceof Uint8Array)) return false
  return (
    attempt.fate === 'lost' ||
    attempt.error.code === 'call_interrupted' ||
    attempt.error.code === 'upstream_unreachable'
  )
}

function payloadOf(body: unknown): Payload {
  if (body === undefined) return EMPTY_BYTES
  if (body instanceof Uint8Array) return body
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
    return body as AsyncIterable<Uint8Array>
  const json: string | undefined = JSON.stringify(body)
  if (json === undefined) throw new SoukError('invalid_request', 'The body cannot be written as JSON.')
  return utf8(json)
}
