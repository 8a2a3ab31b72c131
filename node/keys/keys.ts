import { createHmac, createSecretKey } from 'node:crypto'
import { type Atoms, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Documents, Random } from '../../lib/interface/index.ts'
import { KEY_PREFIXES, type KeyKind, keyKind, makeKey } from './format.ts'
import { type KeyState, keyState } from './state.ts'
import { createVerifier, holderOf, type KeyDocument, type KeyHolder } from './verifier.ts'

export interface KeysInit {
  readonly documents: Documents
  /** Pepper of the HMAC, kept outside the store: a stolen store alone verifies no guess. At least 32 bytes. */
  readonly secret: Uint8Array
  readonly clock: Clock
  readonly random: Random
  /** Keys say `live` on the network `base`, `test` on every other. */
  readonly network: string
}

/** A key as listed. Times in milliseconds since the epoch. */
export interface KeyInfo extends KeyHolder {
  readonly state: KeyState
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** To within `KEY_USE_MS`; absent when never used. */
  readonly lastUsedAt?: number
}

/** The only time the key itself is shown. */
export interface IssuedKey extends KeyInfo {
  readonly key: string
}

export interface IssueInit {
  readonly label?: string
  readonly expiresAt?: number
  /** The dearest call. Default `CALL_PRICE_ATOMS_MAX`. */
  readonly maxPrice?: Atoms
  /** What its calls may cost in one day (UTC). Default `KEY_DAILY_ATOMS_MAX`. */
  readonly dailyCap?: Atoms
  /** Id of the prepaid account that its calls are charged to. Default: none, the house pays. */
  readonly account?: string
}

export interface Keys {
  /** @throws SoukError `invalid_request` (label, expiry in the past), `quota_exceeded` (`KEYS_MAX` reached) */
  issue(init?: IssueInit): Promise<IssuedKey>
  /** Oldest first. */
  list(): Promise<KeyInfo[]>
  /** Holds from the next call on. A second time changes nothing. @throws SoukError `invalid_request` (no such key) */
  revoke(id: string): Promise<KeyInfo>
  /**
   * Answers at once for a key seen before, with a promise otherwise.
   * @throws SoukError `key_invalid`, `key_expired`, `key_revoked`; thrown or rejected.
   */
  verify(key: string): KeyHolder | Promise<KeyHolder>
}

const COLLECTION = 'consumer-keys'
/** Beside the keys, not in them: noting a use can never undo a revocation that happens at the same time. */
const USES = 'consumer-key-uses'
const ID_CHARS = 20
const SECRET_BYTES_MIN = 32

export function createKeys({ documents, secret, clock, random, network }: KeysInit): Keys {
  if (secret.length < SECRET_BYTES_MIN) throw new SoukError('invalid_request', 'The secret for keys is too short.')
  const kind: KeyKind = network === 'base' ? 'live' : 'test'

  async function read(id: string): Promise<KeyDocument | undefined> {
    const value = await documents.get(COLLECTION, id)
    return value === undefined ? undefined : (JSON.parse(value) as KeyDocument)
  }

  const verifier = createVerifier({
    clock,
    read: (digest) => read(idOf(digest)),
    // A lost note of a use harms nobody, so no call waits for it or fails with it.
    noteUse: (digest, at) => void documents.put(USES, idOf(digest), String(at)).catch(() => {})
  })
  // A key object made once: from bytes, Node would make one for every call, eight times as slow.
  const pepper = createSecretKey(secret)
  const digestOf = (key: string) => createHmac('sha256', pepper).update(key).digest('hex')

  return {
    async issue({ label = '', expiresAt, maxPrice, dailyCap, account } = {}) {
      checkLabel(label)
      const createdAt = clock.now()
      if (expiresAt !== undefined && !(expiresAt > createdAt)) {
        throw new SoukError('invalid_request', 'The key would have expired already.')
      }
      if ((await documents.list(COLLECTION)).length >= limits.KEYS_MAX) {
        throw new SoukError('quota_exceeded', `A node keeps at most ${limits.KEYS_MAX} keys.`)
      }
      const key = makeKey(kind, random)
      const digest = digestOf(key)
      const document: KeyDocument = {
        id: idOf(digest),
        label,
        hint: `${KEY_PREFIXES[kind]}…${key.slice(-4)}`,
        digest,
        createdAt,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        // Written down with the key, so that a later default changes no key that was issued.
        maxPrice: String(maxPrice ?? limits.CALL_PRICE_ATOMS_MAX),
        dailyCap: String(dailyCap ?? limits.KEY_DAILY_ATOMS_MAX),
        ...(account === undefined ? {} : { account })
      }
      const { id } = document
      if (!(await documents.insert(COLLECTION, id, JSON.stringify(document)))) {
        throw new SoukError('internal_error', undefined, { cause: new Error(`The key id ${id} exists already.`) })
      }
      return { key, ...describe(document, createdAt) }
    },

    async list() {
      const [rows, uses] = await Promise.all([documents.list(COLLECTION), documents.list(USES)])
      const used = new Map(uses.map(({ key, value }) => [key, Number(value)]))
      const now = clock.now()
      return rows
        .map(({ key, value }) => describe(JSON.parse(value) as KeyDocument, now, used.get(key)))
        .sort((a, b) => a.createdAt - b.createdAt)
    },

    async revoke(id) {
      const document = await read(id)
      if (document === undefined) throw new SoukError('invalid_request', `There is no key ${id.slice(0, 80)}.`)
      const now = clock.now()
      const revoked: KeyDocument = { ...document, revokedAt: document.revokedAt ?? now }
      await documents.put(COLLECTION, id, JSON.stringify(revoked))
      verifier.forget(document.digest)
      return describe(revoked, now)
    },

    verify(key) {
      const found = keyKind(key)
      if (found === undefined)
        throw new SoukError('key_invalid', 'This is not a consumer key, or part of it is missing.')
      if (found !== kind) {
        throw new SoukError(
          'key_invalid',
          `A ${found} key is of no use on the network ${network}: it takes ${kind} keys.`
        )
      }
      return verifier.verify(digestOf(key))
    }
  }
}

/** Names a key without giving anything of it away: part of its HMAC. */
function idOf(digest: string): string {
  return `key_${digest.slice(0, ID_CHARS)}`
}

function checkLabel(label: string): void {
  if (label.length > limits.LABEL_CHARS_MAX || /\p{Cc}/u.test(label)) {
    throw new SoukError('invalid_request', `A label is one line of at most ${limits.LABEL_CHARS_MAX} characters.`)
  }
}

function describe(document: KeyDocument, now: number, lastUsedAt?: number): KeyInfo {
  const { createdAt, expiresAt, revokedAt } = document
  return {
    ...holderOf(document),
    state: keyState(document, now),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(revokedAt === undefined ? {} : { revokedAt }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt })
  }
}
