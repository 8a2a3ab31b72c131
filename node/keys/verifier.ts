import {
  type Atoms,
  boundedMap,
  equalInConstantTime,
  limits,
  type RateLimit,
  SoukError,
  utf8
} from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Coherence } from '../accounts/coherence.ts'
import { KEY_STATES, type KeyTimes, keyState } from './state.ts'

/** A key as stored. Of the key itself, only its digest is stored. Times in milliseconds since the epoch. */
export interface KeyDocument extends KeyTimes {
  readonly id: string
  /** Id of the first key in a chain of rotations. Absent: this key. */
  readonly lineage?: string
  /** The key that replaced it, and the key that it replaced. */
  readonly successor?: string
  readonly replaces?: string
  readonly label: string
  /** Recognizable parts of the key: prefix and last four characters. */
  readonly hint: string
  /** HMAC-SHA-256 of the key, hex. */
  readonly digest: string
  readonly createdAt: number
  /** Atoms, as decimal digits. */
  readonly maxPrice?: string
  readonly dailyCap?: string
  /** Absent: no limit. */
  readonly rateLimit?: RateLimit
  /** Account that pays for its calls. Absent: the operator’s own wallet pays. */
  readonly account?: string
  /** False for a key that can only call. Absent for keys from before this setting, which may manage. */
  readonly manages?: boolean
  /** The APIs that it may call: `name@provider` or a name. Absent: all. */
  readonly apis?: readonly string[]
}

/** The caller of a call, and its spending limits. */
export interface KeyHolder {
  /** Limits are counted under this id, which a key shares with all keys of its rotations. */
  readonly id: string
  /** Id of this key itself. */
  readonly keyId: string
  readonly label: string
  /** Recognizable parts of the key. */
  readonly hint: string
  /** Maximum price of a call. */
  readonly maxPrice: Atoms
  /** Maximum cost of all calls of one day (UTC). */
  readonly dailyCap: Atoms
  /** Per ingress process. Absent: no limit. */
  readonly rateLimit?: RateLimit
  /** Prepaid account that pays for its calls. Absent for a key of the operator. */
  readonly account?: string
  /** The key may manage its account’s keys and money. Absent for a key that can only call. */
  readonly manages?: true
  /** The APIs that it may call, see `permitted`. Absent: all. */
  readonly apis?: readonly string[]
  /** The public demo key. */
  readonly isPublic?: true
}

/** A key without stored limits gets the default ones. */
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

/** A cached key. */
interface KnownKey {
  readonly document: KeyDocument
  /** The digest of the document, as bytes. */
  readonly digest: Uint8Array
  readonly holder: KeyHolder
  /** Start of its read, on the clock’s `elapsed`. */
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
   * Verifies a key by its id, a prefix of the digest, and the whole digest.
   * @throws SoukError `key_invalid`, `key_disabled`, `key_expired`, `key_revoked`; thrown for a cached key, rejected otherwise.
   */
  verify(id: string, digest: Uint8Array): KeyHolder | Promise<KeyHolder>
  /** Drops a cached key after its document has changed. */
  forget(id: string): void
  /** Drops all cached keys. */
  forgetAll(): void
}

/** Verifies cached keys in memory, so that a busy key costs one HMAC per call and an occasional query. */
export function createVerifier({ clock, coherence, read, noteUse }: VerifierInit): Verifier {
  const atHand = boundedMap<string, KnownKey>(limits.KEYS_CACHED_MAX)
  let changes = 0

  async function load(id: string, digest: Uint8Array): Promise<KeyHolder> {
    let document: KeyDocument | undefined
    const readAt = clock.elapsed()
    // Read again after a concurrent change. Otherwise a key that was just revoked could be cached as valid.
    for (let seen = -1; seen !== changes; ) {
      seen = changes
      document = await read(id)
    }
    if (document === undefined) throw unknownKey()
    const own = utf8(document.digest)
    if (!equalInConstantTime(own, digest)) throw unknownKey()
    const usedAt = atHand.get(id)?.usedAt ?? 0
    const known: KnownKey = { document, digest: own, holder: holderOf(document), readAt, usedAt }
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
      if (!equalInConstantTime(known.digest, digest)) throw unknownKey()
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

function unknownKey(): SoukError {
  return new SoukError('key_invalid', 'Unknown consumer key. Check it, or ask for a new one.')
}
