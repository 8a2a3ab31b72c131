import { createHash } from 'node:crypto'
import type { ApiId } from '../base/api-name.ts'
import { latin1 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import type { ErrorCode } from '../base/errors.ts'
import { IDEMPOTENCY_MS } from '../base/limits/store.ts'
import type { Attempt, Call } from '../interface/call.ts'
import type { Claim, ClaimLog } from '../interface/store.ts'

export interface UsedKeysInit {
  readonly clock: Pick<Clock, 'now'>
  /** Claims in the store that nodes share when they call for the same accounts; otherwise in the node's own store. */
  readonly claims: Pick<ClaimLog, 'take' | 'put' | 'free'>
  /** Peer id of this node. */
  readonly self: string
}

/** The use of a key: caller, API and key. */
export interface KeyedCallOf {
  readonly api: ApiId
  /** The account's pseudonym at the provider. Absent: the node calls for itself. */
  readonly consumer: Uint8Array | undefined
  readonly key: string
}

/** Values of `Claim.epoch` in this file. A consumer node's claim has no boot epoch of an owner. */
const SENT = 0n
const ANSWERED = 1n

/**
 * The idempotency keys that this consumer node has sent, kept as long as owners keep them.
 *
 * An owner runs one call per key, according to its own books. The books cannot tell two things: which of several owners
 * accepted the first call, and what happened after the backup that an owner was restored from. So the consumer node
 * stores the owner before it sends a call with a key, and later that a response came. A later call with the same key
 * goes to the same owner and carries this information.
 */
export class UsedKeys {
  readonly #init: UsedKeysInit

  constructor(init: UsedKeysInit) {
    this.#init = init
  }

  /**
   * Durable when it resolves. `owner`: the owner that a first call is sent to. @throws SoukError `store_unavailable`,
   * `internal_error`
   */
  async use({ api, consumer, key }: KeyedCallOf, owner: string): Promise<UsedKey> {
    const { clock, claims, self } = this.#init
    const caller = consumer === undefined ? self : latin1(consumer)
    const at = clock.now()
    // The prefix keeps these names apart from those of owners in the same store, which begin with the API.
    const name = createHash('sha256').update(`sent\n${api}\n${caller}\n${key}`, 'latin1').digest()
    const claim = { name, holder: owner, epoch: SENT, at }
    const known = await claims.take(claim, at - IDEMPOTENCY_MS)
    return new UsedKey(claims, known ?? claim, known !== undefined)
  }
}

/** Fields of a call whose idempotency key was sent before. */
export type KeyUse = Required<Pick<Call, 'keyFirstAt' | 'keyAnswered'>>

/** The key of one call. */
export class UsedKey {
  /** The earlier call with the key. Absent: this call is the first. */
  readonly before: KeyUse | undefined
  readonly #claims: UsedKeysInit['claims']
  #claim: Claim
  /** The key stays used, whatever the outcome of this call. */
  #isKept: boolean

  constructor(claims: UsedKeysInit['claims'], claim: Claim, isKnown: boolean) {
    this.#claims = claims
    this.#claim = claim
    this.#isKept = isKnown
    this.before = isKnown ? { keyFirstAt: claim.at, keyAnswered: claim.epoch === ANSWERED } : undefined
  }

  /** Peer id of the owner that the key was sent to. */
  get owner(): string {
    return this.#claim.holder
  }

  /** Call it before the call is sent to this owner. */
  async sendTo(owner: string): Promise<void> {
    if (owner === this.owner) return
    this.#claim = { ...this.#claim, holder: owner }
    await this.#claims.put(this.#claim)
  }

  /** Records the outcome at the owner. Written asynchronously. */
  note(attempt: Attempt): void {
    if (attempt.fate !== 'answered') {
      this.#isKept ||= attempt.fate === 'lost' || MAY_HAVE_RUN.has(attempt.error.code)
      return
    }
    this.#isKept = true
    if (this.#claim.epoch === ANSWERED) return
    this.#claim = { ...this.#claim, epoch: ANSWERED }
    // If this fails, the key stays used anyway.
    void this.#claims.put(this.#claim).catch(() => {})
  }

  /** Call it when the call has ended. Frees the key if the call certainly did not run. */
  async end(): Promise<void> {
    if (this.#isKept) return
    // If this fails, a later call goes to the same owner, whose books decide.
    await this.#claims.free(this.#claim.name).catch(() => {})
  }
}

/** Errors after which an earlier call with the same key may have run. */
const MAY_HAVE_RUN: ReadonlySet<ErrorCode> = new Set([
  'call_interrupted',
  'idempotency_in_flight',
  'idempotency_mismatch'
])
