import { createHash } from 'node:crypto'
import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import type { ErrorCode } from '../base/errors.ts'
import { IDEMPOTENCY_MS } from '../base/limits.ts'
import type { Attempt, KeyUse } from '../interface/call.ts'
import type { Claim, ClaimLog } from '../interface/store.ts'

export interface UsedKeysInit {
  readonly clock: Pick<Clock, 'now'>
  /** Of the store that nodes calling for the same accounts share, where there is one. */
  readonly claims: Pick<ClaimLog, 'take' | 'put' | 'free'>
  /** Peer id of this node. */
  readonly self: string
}

/** A use of a key: who calls, what, and under which key. */
export interface KeyedCallOf {
  readonly api: ApiId
  /** The account's name at the provider. Absent: the node calls for itself. */
  readonly consumer: Uint8Array | undefined
  readonly key: string
}

/** Values of `Claim.epoch` here: a claim of a consumer node has no boot epoch of an owner. */
const SENT = 0n
const ANSWERED = 1n

/**
 * The idempotency keys that this consumer node has sent, kept for as long as owners keep them.
 *
 * An owner runs one call under a key, by its own books. Two things these books cannot tell: which of several owners took the first
 * call, and what happened after the backup that an owner was restored from. So the consumer node writes down, before a call with a key
 * is sent, to whom it goes, and afterwards that it was answered. A later call with the same key goes to the same owner, and says so.
 */
export class UsedKeys {
  readonly #init: UsedKeysInit

  constructor(init: UsedKeysInit) {
    this.#init = init
  }

  /** Durable when it resolves. `owner`: to whom a first call is sent. @throws SoukError `store_unavailable`, `internal_error` */
  async use({ api, consumer, key }: KeyedCallOf, owner: string): Promise<UsedKey> {
    const { clock, claims, self } = this.#init
    const caller = consumer === undefined ? self : Buffer.from(consumer).toString('latin1')
    const at = clock.now()
    // Owners of the same store have names that begin with the API.
    const name = createHash('sha256').update(`sent\n${api}\n${caller}\n${key}`, 'latin1').digest()
    const claim = { name, holder: owner, epoch: SENT, at }
    const known = await claims.take(claim, at - IDEMPOTENCY_MS)
    return new UsedKey(claims, known ?? claim, known !== undefined)
  }
}

/** The key of one call. */
export class UsedKey {
  /** The earlier call under the key. Absent: this is the first. */
  readonly before: KeyUse | undefined
  readonly #claims: UsedKeysInit['claims']
  #claim: Claim
  /** The key stays used, whatever becomes of this call. */
  #isKept: boolean

  constructor(claims: UsedKeysInit['claims'], claim: Claim, isKnown: boolean) {
    this.#claims = claims
    this.#claim = claim
    this.#isKept = isKnown
    this.before = isKnown ? { firstAt: claim.at, isAnswered: claim.epoch === ANSWERED } : undefined
  }

  /** Whom the key was sent to. */
  get owner(): string {
    return this.#claim.holder
  }

  /** Before the call is offered to this owner. */
  async sendTo(owner: string): Promise<void> {
    if (owner === this.owner) return
    this.#claim = { ...this.#claim, holder: owner }
    await this.#claims.put(this.#claim)
  }

  /** What became of the call at the owner. Written behind: nobody waits. */
  note(attempt: Attempt): void {
    if (attempt.fate !== 'answered') {
      this.#isKept ||= attempt.fate === 'lost' || MAY_HAVE_RUN.has(attempt.error.code)
      return
    }
    this.#isKept = true
    if (this.#claim.epoch === ANSWERED) return
    this.#claim = { ...this.#claim, epoch: ANSWERED }
    // Where this fails the key is used all the same.
    void this.#claims.put(this.#claim).catch(() => {})
  }

  /** The call is over: a key whose call surely was not run is free again. */
  async end(): Promise<void> {
    if (this.#isKept) return
    // A key that stays used by mistake goes to the same owner, which knows better.
    await this.#claims.free(this.#claim.name).catch(() => {})
  }
}

/** The owner refused this call. An earlier one under the same key may have run. */
const MAY_HAVE_RUN: ReadonlySet<ErrorCode> = new Set([
  'call_interrupted',
  'idempotency_in_flight',
  'idempotency_mismatch'
])
