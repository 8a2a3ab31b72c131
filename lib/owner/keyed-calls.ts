import { createHash } from 'node:crypto'
import { sha256, utf8 } from '../base/bytes.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { CLAIM_MS, IDEMPOTENCY_MS, OVERLOAD_PAUSE_MS, REQUEST_ID_SKEW_MS } from '../base/limits.ts'
import type { IncomingCall } from '../interface/call.ts'
import { planOf } from './answers.ts'
import type { Payload } from '../interface/payload.ts'
import type { CallRecord, ClaimLog, ClaimMark, KnownClaim } from '../interface/store.ts'

export interface KeyedCallsInit {
  readonly clock: Clock
  readonly claims: Pick<ClaimLog, 'take' | 'free'>
  /** Peer id of this node, and boot epoch of its process. */
  readonly self: string
  readonly epoch: bigint
  /** When the books were restored from a backup. Default: never. */
  readonly restoredAt?: number
}

/** A call with an idempotency key that was let through: it alone is run under its name. */
export interface KeyedCall {
  /** The request's body, to be read in place of the call's: what was read of it is known. */
  readonly body: Payload
  /** For the record of a call that has an answer, whatever the API answered. */
  answered(): ClaimMark
  /** For the record of one that has none, so that a retry runs. */
  readonly failed: ClaimMark
  /** It is in the books what became of it. */
  end(): void
  /** It was not run. */
  giveUp(): Promise<void>
}

/**
 * Idempotency keys: of all calls of one consumer to one API under one key, one is run, and the others are answered with its answer.
 *
 * A name is claimed on disk before the API is reached, so that no process runs it again: not one that was started since this one
 * was killed, and not another that shares its books. A claim that nobody answered for and whose process is gone stays what it is,
 * for as long as answers are kept: the call may have reached the API, and nobody will ever know.
 */
export class KeyedCalls {
  readonly #init: KeyedCallsInit
  /** Names of calls under way here. */
  readonly #running = new Set<string>()

  constructor(init: KeyedCallsInit) {
    this.#init = init
  }

  /**
   * Room to run a call, or the record of the one that answers it. `caller` is whom the key is of.
   * @throws SoukError `idempotency_in_flight`, `idempotency_mismatch`, `call_interrupted`
   */
  async enter(call: IncomingCall, caller: string, key: string): Promise<KeyedCall | CallRecord> {
    const name = createHash('sha256').update(`${call.api}\n${caller}\n${key}`, 'latin1').digest()
    const running = name.toString('latin1')
    if (this.#running.has(running)) throw inFlight()
    // In its place before anything is waited for: of many that come together, the others find the first.
    this.#running.add(running)
    const end = () => void this.#running.delete(running)
    try {
      const { clock, claims, self: holder, epoch } = this.#init
      const at = clock.now()
      const known = await claims.take({ name, holder, epoch, at }, at - IDEMPOTENCY_MS)
      // The claim stays: a repeat that knows less is not run either.
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

  #begin(call: IncomingCall, name: Uint8Array, end: () => void): KeyedCall {
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
    // An API that answers before it has all of an upload leaves nobody to say what the rest of it was.
    const isSame = [requestHash(), headHash].some((hash) => hash && Buffer.compare(hash, answered.requestHash) === 0)
    if (isSame) return answered.record
    throw new SoukError('idempotency_mismatch', undefined, { notAccepted: true })
  }

  /**
   * The consumer node says that it sent the key before, and the books do not know it: they are of a backup. A key whose first call was
   * not answered may also never have arrived; these books would know it, unless the call is older than they are.
   */
  #isForgotten({ keyUse }: IncomingCall): boolean {
    if (keyUse === undefined) return false
    const { restoredAt = 0 } = this.#init
    return keyUse.isAnswered || keyUse.firstAt <= restoredAt + REQUEST_ID_SKEW_MS
  }

  /** Its process was ended: it is an earlier one of this node, or was not heard of for longer than any call may take. */
  #isGone({ holder, at }: KnownClaim): boolean {
    const { self, clock } = this.#init
    return holder === self || clock.now() - at > CLAIM_MS
  }
}

/**
 * A signal for a call with a key: its client may go away and come again for the answer, so that nothing but its time ends it. Once
 * `follow` is called, which is when its answer begins, whoever reads that may end it.
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

/** A body that is hashed with the rest of its request as it is read. The hash is that of the same bytes in one piece. */
function hashed(call: IncomingCall): Hashed {
  const { api, method, path, body } = call
  const head = utf8(`${api}\n${method}\n${path}\n${planOf(call)}`)
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
  /** Of a stream that was not read to its end: that of all but the body. */
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

/** Not for another owner to take: it would run it. */
function inFlight(): SoukError {
  return new SoukError('idempotency_in_flight', undefined, { notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
}

function unheardOf(): SoukError {
  return new SoukError(
    'call_interrupted',
    'The first call with this idempotency key broke off; it may have reached the API. To run it in any case, use another key.'
  )
}

function forgotten(): SoukError {
  return new SoukError(
    'call_interrupted',
    'The key was used before, and the books of this owner do not know it: they come from an older backup. The API may have been called. To run it in any case, use another key.'
  )
}
