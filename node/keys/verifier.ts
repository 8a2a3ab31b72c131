import { LRUCache } from 'lru-cache'
import { type Atoms, equalInConstantTime, limits, type RateLimit, SoukError, utf8 } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Coherence } from '../accounts/coherence.ts'
import { KEY_STATES, type KeyTimes, keyState } from './state.ts'

/** A key as stored. The digest is all that is kept of the key itself. Times in milliseconds since the epoch. */
export interface KeyDocument extends KeyTimes {
  readonly id: string
  /** The first of the keys that followed each other by rotation. Absent: itself. */
  readonly lineage?: string
  /** The key that took its place, and the one whose place it took. */
  readonly successor?: string
  readonly replaces?: string
  readonly label: string
  /** Enough to recognise it by: prefix and last four characters. */
  readonly hint: string
  /** HMAC-SHA-256 of the key, hex. */
  readonly digest: string
  readonly createdAt: number
  /** Atoms, as decimal digits. */
  readonly maxPrice?: string
  readonly dailyCap?: string
  /** Absent: none. */
  readonly rateLimit?: RateLimit
  /** Whose balance its calls are paid from. Absent: the operator's own wallet pays. */
  readonly account?: string
  /** False for a key that only calls. Absent: it was made before there were any. */
  readonly manages?: boolean
  /** All that it may call: `name@provider` or a bare name. Absent: anything. */
  readonly apis?: readonly string[]
}

/** Whom a call is made for, and what it may cost. */
export interface KeyHolder {
  /** What its limits are counted under: the same for a key and for all that come of it by rotation. */
  readonly id: string
  /** Of this very key. */
  readonly keyId: string
  readonly label: string
  /** Enough to recognise the key by. */
  readonly hint: string
  /** The dearest call. */
  readonly maxPrice: Atoms
  /** All calls of one day (UTC). */
  readonly dailyCap: Atoms
  /** At each process of an ingress. Absent: none. */
  readonly rateLimit?: RateLimit
  /** The prepaid account that its calls are charged to. Absent for a key of the operator. */
  readonly account?: string
  /** It speaks for its account, whose keys and money it may move. Absent for one that only calls. */
  readonly manages?: true
  /** All that it may call, see `permitted`. Absent: anything. */
  readonly apis?: readonly string[]
  /** Everybody has it. */
  readonly isPublic?: true
}

/** A key that says nothing of its limits has the usual ones. */
export function holderOf(document: KeyDocument): KeyHolder {
  const { id: keyId, lineage: id = keyId, label, hint, maxPrice, dailyCap, account, manages, apis } = document
  const { rateLimit } = document
  return {
    id,
    keyId,
    label,
    hint,
    maxPrice: maxPrice === undefined ? limits.CALL_PRICE_ATOMS_MAX : BigInt(maxPrice),
    dailyCap: dailyCap === undefined ? limits.KEY_DAILY_ATOMS_MAX : BigInt(dailyCap),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(account === undefined ? {} : { account }),
    ...(account === undefined || manages === false ? {} : { manages: true }),
    ...(apis === undefined ? {} : { apis })
  }
}

/** A key at hand. */
interface KnownKey {
  readonly document: KeyDocument
  readonly holder: KeyHolder
  /** On the clock's `elapsed`: when its reading began. */
  readonly readAt: number
  usedAt: number
}

interface VerifierInit {
  readonly clock: Clock
  readonly coherence: Pick<Coherence, 'mayKeep'>
  readonly read: (id: string) => Promise<KeyDocument | undefined>
  /** Called at most once per `KEY_USE_MS` for a key in use. */
  readonly noteUse: (id: string, at: number) => void
}

interface Verifier {
  /**
   * By id, which the digest begins with, and the whole of it.
   * @throws SoukError `key_invalid`, `key_disabled`, `key_expired`, `key_revoked`; thrown for a key at hand, rejected otherwise.
   */
  verify(id: string, digest: string): KeyHolder | Promise<KeyHolder>
  /** The stored document has changed. */
  forget(id: string): void
  /** Any of them may have. */
  forgetAll(): void
}

/** Answers for known keys from memory, so that a busy key costs one HMAC per call and a look-up now and then. */
export function createVerifier({ clock, coherence, read, noteUse }: VerifierInit): Verifier {
  const atHand = new LRUCache<string, KnownKey>({ max: limits.KEYS_CACHED_MAX })
  let changes = 0

  async function load(id: string, digest: string): Promise<KeyHolder> {
    let document: KeyDocument | undefined
    const readAt = clock.elapsed()
    // A revocation while the store is read would otherwise be missed, and the key cached as good.
    for (let seen = -1; seen !== changes; ) {
      seen = changes
      document = await read(id)
    }
    if (document === undefined || !isSame(document, digest)) throw unknownKey()
    const usedAt = atHand.get(id)?.usedAt ?? 0
    const known: KnownKey = { document, holder: holderOf(document), readAt, usedAt }
    const holder = admit(known)
    atHand.set(id, known)
    return holder
  }

  function admit(known: KnownKey): KeyHolder {
    const now = clock.now()
    const { refusal } = KEY_STATES[keyState(known.document, now)]
    if (refusal !== undefined) throw new SoukError(refusal)
    if (now - known.usedAt >= limits.KEY_USE_MS) {
      known.usedAt = now
      noteUse(known.document.id, now)
    }
    return known.holder
  }

  return {
    verify(id, digest) {
      const known = atHand.get(id)
      const isFresh = known !== undefined && clock.elapsed() - known.readAt < limits.SHARED_FRESH_MS
      if (!isFresh || !coherence.mayKeep()) return load(id, digest)
      if (!isSame(known.document, digest)) throw unknownKey()
      return admit(known)
    },
    forget(id) {
      changes++
      atHand.delete(id)
    },
    forgetAll() {
      changes++
      atHand.clear()
    }
  }
}

function isSame(document: KeyDocument, digest: string): boolean {
  return equalInConstantTime(utf8(document.digest), utf8(digest))
}

function unknownKey(): SoukError {
  return new SoukError('key_invalid', 'This node has issued no such key.')
}
