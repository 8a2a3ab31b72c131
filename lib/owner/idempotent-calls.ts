import { createHash } from 'node:crypto'
import { sha256, utf8 } from '../base/bytes.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { REQUEST_ID_SKEW_MS } from '../base/limits/call.ts'
import { CLAIM_MS, IDEMPOTENCY_MS } from '../base/limits/store.ts'
import { planPart } from '../base/request-hash.ts'
import type { IncomingCall } from '../interface/call.ts'
import type { Payload } from '../interface/payload.ts'
import type { CallRecord, ClaimLog, ClaimMark, KnownClaim } from '../interface/store.ts'

export interface IdempotentCallsInit {
  readonly clock: Clock
  readonly claims: Pick<ClaimLog, 'take' | 'free'>
  /** Peer id of this node, and boot epoch of its process. */
  readonly self: string
  readonly epoch: bigint
  /** Time the books were restored from a backup. Default: never. */
  readonly restoredAt?: number
}

/** An admitted call that holds the claim on its idempotency key. */
export interface IdempotentCall {
  /** The request's body, which hashes itself while it is read. Use it instead of the call's body. */
  readonly body: Payload
  /** Claim mark for the record of a call with a response, whatever the status. */
  answered(): ClaimMark
  /** Claim mark for the record of a call without a response, so that a retry runs. */
  readonly failed: ClaimMark
  /** The outcome is stored. */
  end(): void
  /** The call did not run. */
  giveUp(): Promise<void>
}

/**
 * Idempotency keys: of all calls of one consumer to one API with the same key, one runs. The others get its response.
 *
 * The claim is written to disk before the API is called. So no other process runs the call, neither after a restart nor
 * on a shared store. A claim without an outcome from a dead process is kept as long as responses are, because the call
 * may have reached the API.
 */
export class IdempotentCalls {
  readonly #init: IdempotentCallsInit
  /** Claim names of calls running in this process. */
  readonly #running = new Set<string>()

  constructor(init: IdempotentCallsInit) {
    this.#init = init
  }

  /**
   * Returns permission to run the call, or the record that already holds its response. `caller` is the key's holder.
   * @throws SoukError `idempotency_in_flight`, `idempotency_mismatch`, `call_interrupted`
   */
  async enter(call: IncomingCall, caller: string, key: string): Promise<IdempotentCall | CallRecord> {
    const name = createHash('sha256').update(`${call.api}\n${caller}\n${key}`, 'latin1').digest()
    const running = name.toString('latin1')
    if (this.#running.has(running)) throw inFlight()
    // Registered before any await, so that concurrent calls find the first one.
    this.#running.add(running)
    const end = () => void this.#running.delete(running)
    try {
      const { clock, claims, self: holder, epoch } = this.#init
      const at = clock.now()
      const known = await claims.take({ name, holder, epoch, at }, at - IDEMPOTENCY_MS)
      // The claim stays, so that a repeat without `keyFirstAt` does not run either.
      if (known === undefined && this.#isForgotten(call)) throw forgotten()
      if (known === undefined) return this.#begin(call, name, end)
      const record = await this.#recordOf(known, call)
      end()
      return record
    } catch (error) {
      end()
      throw error
    }
  }

  #begin(call: IncomingCall, name: Uint8Array, end: () => void): IdempotentCall {
    const { body, requestHash } = hashed(call)
    return {
      body,
      answered: () => ({ name, requestHash: requestHash() }),
      failed: { name },
      end,
      giveUp: async () => {
        try {
          await this.#init.claims.free(name)
        } finally {
          end()
        }
      }
    }
  }

  async #recordOf(claim: KnownClaim, call: IncomingCall): Promise<CallRecord> {
    const { answered } = claim
    if (answered === undefined) throw this.#isGone(claim) ? unheardOf() : inFlight()
    const { body, requestHash, headHash } = hashed(call)
    if (!(body instanceof Uint8Array)) await drained(body)
    // An API may respond before it has read the whole upload. Then only the head was hashed.
    const isSame = [requestHash(), headHash].some((hash) => hash && Buffer.compare(hash, answered.requestHash) === 0)
    if (isSame) return answered.record
    throw new SoukError('idempotency_mismatch', undefined, { notAccepted: true })
  }

  /**
   * The consumer node has sent the key before, but these books do not have it, so they come from an older backup. A
   * first call without a response may never have arrived. It counts as forgotten only if it was sent before the
   * restore, because these books would have a later one.
   */
  #isForgotten({ keyFirstAt, keyAnswered }: IncomingCall): boolean {
    const { restoredAt = 0 } = this.#init
    return keyAnswered === true || (keyFirstAt !== undefined && keyFirstAt <= restoredAt + REQUEST_ID_SKEW_MS)
  }

  /** The claim's process has ended: it was an earlier one of this node, or it is silent for longer than any call. */
  #isGone({ holder, at }: KnownClaim): boolean {
    const { self, clock } = this.#init
    return holder === self || clock.now() - at > CLAIM_MS
  }
}

/**
 * The signal of a call with a key. The client may disconnect and come back for the response, so only the timeout ends
 * the call. After `follow`, which marks the start of the response, the client's signal ends it too.
 */
export function unlessOver(
  clock: Clock,
  call: IncomingCall,
  signal: AbortSignal
): { signal: AbortSignal; follow(): void } {
  const limit = deadline(clock, call.timeoutMs, () => new SoukError('upstream_timeout'))
  const onAbort = () => limit.abort(asSoukError(signal.reason))
  return {
    signal: limit.signal,
    follow() {
      limit.stop()
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    }
  }
}

/** A body that hashes itself while it is read. The hash equals that of the same bytes in one piece. */
function hashed(call: IncomingCall): Hashed {
  const { api, method, path, body } = call
  const head = utf8(`${api}\n${method}\n${path}\n${planPart(call)}`)
  if (body instanceof Uint8Array) {
    const digest = createHash('sha256').update(head).update(body).digest()
    return { body, requestHash: () => digest }
  }
  const hash = createHash('sha256').update(head)
  let digest = sha256(head)
  const whole = () => void (digest = hash.digest())
  return { body: hashing(body, hash, whole), requestHash: () => digest, headHash: sha256(head) }
}

interface Hashed {
  readonly body: Payload
  /** Hash of the request. For a stream that was not read to its end: hash of everything but the body. */
  readonly requestHash: () => Uint8Array
  readonly headHash?: Uint8Array
}

async function* hashing(
  body: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): void },
  onWhole: () => void
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
  onWhole()
}

async function drained(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Consumers do not try another owner on this error, because that owner would run the call again. */
function inFlight(): SoukError {
  return new SoukError('idempotency_in_flight', undefined, { notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
}

function unheardOf(): SoukError {
  return new SoukError(
    'call_interrupted',
    'The first call with this idempotency key was interrupted. It may have reached the API. To run it anyway, use another key.'
  )
}

function forgotten(): SoukError {
  return new SoukError(
    'call_interrupted',
    'The key was used before, but the books of this owner come from an older backup and lack it. The API may have run the call. To run it anyway, use another key.'
  )
}
