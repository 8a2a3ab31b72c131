import { LRUCache } from 'lru-cache'
import { type Atoms, equalInConstantTime, limits, SoukError, utf8 } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { KEY_STATES, keyState } from './state.ts'

/** A key as stored. The digest is all that is kept of the key itself. Times in milliseconds since the epoch. */
export interface KeyDocument {
  readonly id: string
  readonly label: string
  /** Enough to recognise it by: prefix and last four characters. */
  readonly hint: string
  /** HMAC-SHA-256 of the key, hex. */
  readonly digest: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** Atoms, as decimal digits. */
  readonly maxPrice?: string
  readonly dailyCap?: string
  /** Whose balance its calls are paid from. Absent: the house's own wallet pays. */
  readonly account?: string
}

/** Whom a call is made for, and what it may cost. */
export interface KeyHolder {
  readonly id: string
  readonly label: string
  /** Enough to recognise the key by. */
  readonly hint: string
  /** The dearest call. */
  readonly maxPrice: Atoms
  /** All calls of one day (UTC). */
  readonly dailyCap: Atoms
  /** The prepaid account that its calls are charged to. Absent for a key of the house. */
  readonly account?: string
}

/** A key that says nothing of its limits has the usual ones. */
export function holderOf({ id, label, hint, maxPrice, dailyCap, account }: KeyDocument): KeyHolder {
  return {
    id,
    label,
    hint,
    maxPrice: maxPrice === undefined ? limits.CALL_PRICE_ATOMS_MAX : BigInt(maxPrice),
    dailyCap: dailyCap === undefined ? limits.KEY_DAILY_ATOMS_MAX : BigInt(dailyCap),
    ...(account === undefined ? {} : { account })
  }
}

/** A key at hand. */
interface KnownKey {
  readonly document: KeyDocument
  readonly holder: KeyHolder
  /** On the clock's `elapsed`. */
  readonly readAt: number
  usedAt: number
}

interface VerifierInit {
  readonly clock: Clock
  /** The document that may belong to a digest. */
  readonly read: (digest: string) => Promise<KeyDocument | undefined>
  /** Called at most once per `KEY_USE_MS` for a key in use. */
  readonly noteUse: (digest: string, at: number) => void
}

interface Verifier {
  /** @throws SoukError `key_invalid`, `key_expired`, `key_revoked`; thrown for a key at hand, rejected otherwise. */
  verify(digest: string): KeyHolder | Promise<KeyHolder>
  /** The stored document has changed. */
  forget(digest: string): void
}

/** Answers for known keys from memory, so that a busy key costs one HMAC per call and a look-up now and then. */
export function createVerifier({ clock, read, noteUse }: VerifierInit): Verifier {
  const atHand = new LRUCache<string, KnownKey>({ max: limits.KEYS_CACHED_MAX })
  let changes = 0

  async function load(digest: string): Promise<KeyHolder> {
    let document: KeyDocument | undefined
    // A revocation while the store is read would otherwise be missed, and the key kept at hand as good.
    for (let seen = -1; seen !== changes; ) {
      seen = changes
      document = await read(digest)
    }
    if (document === undefined || !equalInConstantTime(utf8(document.digest), utf8(digest))) {
      throw new SoukError('key_invalid', 'This node has issued no such key.')
    }
    const usedAt = atHand.get(digest)?.usedAt ?? 0
    const known: KnownKey = { document, holder: holderOf(document), readAt: clock.elapsed(), usedAt }
    const holder = admit(known)
    atHand.set(digest, known)
    return holder
  }

  function admit(known: KnownKey): KeyHolder {
    const now = clock.now()
    const { refusal } = KEY_STATES[keyState(known.document, now)]
    if (refusal !== undefined) throw new SoukError(refusal)
    if (now - known.usedAt >= limits.KEY_USE_MS) {
      known.usedAt = now
      noteUse(known.document.digest, now)
    }
    return known.holder
  }

  return {
    verify(digest) {
      const known = atHand.get(digest)
      if (known === undefined || clock.elapsed() - known.readAt >= limits.KEY_FRESH_MS) return load(digest)
      return admit(known)
    },
    forget(digest) {
      changes++
      atHand.delete(digest)
    }
  }
}
