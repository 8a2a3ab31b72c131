import { createHmac, createSecretKey } from 'node:crypto'
import { type Atoms, checkRateLimit, limits, type RateLimit, SoukError } from '../../lib/index.ts'
import type { Clock, Documents, Random } from '../../lib/interface/index.ts'
import { ALONE, type Coherence } from '../accounts/coherence.ts'
import { present } from '../admin/present.ts'
import { KEY_PREFIXES, keyKind, kindOn, makeKey } from './format.ts'
import { type StoredKey, KeyRepository } from './key-repository.ts'
import { type Caller, createPseudonyms } from './pseudonyms.ts'
import { checkScope } from './scope.ts'
import { type KeyAction, type KeyState, keyState } from './state.ts'
import { createVerifier, holderOf, type KeyDocument, type KeyHolder } from './verifier.ts'

export interface KeysInit {
  readonly documents: Documents
  /** With the processes that share the documents. Default: none does. */
  readonly coherence?: Coherence
  /** Pepper of the HMAC, kept outside the store: a stolen store alone verifies no guess. At least 32 bytes. */
  readonly secret: Uint8Array
  readonly clock: Clock
  readonly random: Random
  /** Keys say `live` on the network `base`, `test` on every other. */
  readonly network: string
  /** A key that everybody has. Default: there is none. */
  readonly demo?: DemoKey
}

/** A key that is published, and what it may do. */
export interface DemoKey {
  readonly key: string
  readonly holder: KeyHolder
}

/** A key as listed. Times in milliseconds since the epoch. */
export interface KeyInfo extends Omit<KeyHolder, 'id' | 'keyId' | 'isPublic'> {
  readonly id: string
  /** The first of the keys that followed each other by rotation: what their limits are counted under. */
  readonly lineage: string
  readonly replaces?: string
  readonly successor?: string
  readonly state: KeyState
  readonly createdAt: number
  readonly expiresAt?: number
  /** When the overlap of a rotated key ends. */
  readonly retiresAt?: number
  readonly disabledAt?: number
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
  /** Of its calls, at each process of an ingress. Default: none. */
  readonly rateLimit?: RateLimit
  /** Id of the prepaid account that its calls are charged to. Default: none, the operator pays. */
  readonly account?: string
  /** It may also manage its account: keys, withdrawals, statements. Default false. */
  readonly manages?: boolean
  /** All that it may call, `name@provider` or a bare name. Default: anything. */
  readonly apis?: readonly string[]
}

export interface RotateInit {
  /** How long the old key goes on working; 0 ends it at once. Default `KEY_OVERLAP_MS`. */
  readonly overlapMs?: number
  /** Of the new one. Default: it lives as long as the old one was to live. */
  readonly expiresAt?: number
}

export interface Keys {
  /** Where everybody is shown it. */
  readonly demo: DemoKey | undefined
  /** @throws SoukError `invalid_request` (label, expiry in the past, APIs), `quota_exceeded` (`KEYS_MAX`, `KEYS_PER_ACCOUNT_MAX`) */
  issue(init?: IssueInit): Promise<IssuedKey>
  /** All, or those of one account; oldest first. */
  list(account?: string): Promise<KeyInfo[]>
  /** @throws SoukError `invalid_request` (no such key) */
  get(id: string): Promise<KeyInfo>
  /**
   * A new key with the terms of an active one, which works on until the overlap ends. What was spent of a cap stays spent.
   * @throws SoukError `invalid_request` (no such key, not active, overlap), `quota_exceeded`
   */
  rotate(id: string, init?: RotateInit): Promise<IssuedKey>
  /** Its calls are refused until it is enabled. A second time changes nothing. @throws SoukError `invalid_request` */
  disable(id: string): Promise<KeyInfo>
  /** @throws SoukError `invalid_request` */
  enable(id: string): Promise<KeyInfo>
  /** For good. A second time changes nothing. @throws SoukError `invalid_request` (no such key) */
  revoke(id: string): Promise<KeyInfo>
  /**
   * Answers at once for a key seen before, with a promise otherwise. A change holds from the next call on that comes after it was
   * answered, here and at all processes that share the store.
   * @throws SoukError `key_invalid`, `key_disabled`, `key_expired`, `key_revoked`; thrown or rejected.
   */
  verify(key: string): KeyHolder | Promise<KeyHolder>
  /** By which one provider knows whoever holds a key: sixteen bytes, the same at every node that shares the secret. */
  nameFor(holder: Caller, provider: string): Uint8Array
  /** Hears no more of changes elsewhere. */
  close(): void
}

const ID_CHARS = 20
const SECRET_BYTES_MIN = 32
/** Its messages name a key that was changed. */
const TOPIC = 'consumer-keys'

export function createKeys(init: KeysInit): Keys {
  const { documents, coherence = ALONE, secret, clock, random, network, demo } = init
  if (secret.length < SECRET_BYTES_MIN) throw new SoukError('invalid_request', 'The secret for keys is too short.')
  const kind = kindOn(network)
  const book = new KeyRepository({ documents, clock })
  const verifier = createVerifier({
    clock,
    coherence,
    read: (id) => book.find(id),
    noteUse: (id, at) => book.noteUse(id, at)
  })
  const deafen = coherence.listen(TOPIC, (id) => (id === undefined ? verifier.forgetAll() : verifier.forget(id)))
  // A key object made once: from bytes, Node would make one for every call, eight times as slow.
  const pepper = createSecretKey(secret)
  const digestOf = (key: string) => createHmac('sha256', pepper).update(key).digest('hex')

  /** A fresh key with these terms, written down. */
  async function mint(terms: Omit<KeyDocument, 'id' | 'digest' | 'hint'>): Promise<IssuedKey> {
    checkTerms(terms)
    const key = makeKey(kind, random)
    const digest = digestOf(key)
    const document: KeyDocument = {
      ...terms,
      id: idOf(digest),
      hint: `${KEY_PREFIXES[kind]}…${key.slice(-4)}`,
      digest
    }
    await book.add(document)
    return { key, ...describe({ document }, terms.createdAt) }
  }

  async function change(id: string, action: KeyAction, to: (document: KeyDocument) => KeyDocument): Promise<KeyInfo> {
    const document = await book.change(id, action, to)
    verifier.forget(id)
    await coherence.changed(TOPIC, id)
    return describe({ document }, clock.now())
  }

  return {
    demo,
    nameFor: createPseudonyms(pepper),

    issue({ label = '', maxPrice, dailyCap, apis, manages = false, ...rest } = {}) {
      return mint({
        ...rest,
        label,
        createdAt: clock.now(),
        // Written down with the key, so that a later default changes no key that was issued.
        maxPrice: String(maxPrice ?? limits.CALL_PRICE_ATOMS_MAX),
        dailyCap: String(dailyCap ?? limits.KEY_DAILY_ATOMS_MAX),
        manages,
        ...(apis === undefined ? {} : { apis: checkScope(apis) })
      })
    },

    async rotate(id, { overlapMs = limits.KEY_OVERLAP_MS, expiresAt } = {}) {
      checkOverlap(overlapMs)
      const { document } = await book.get(id)
      const now = clock.now()
      // The new key comes first: where this process is killed in between, there is one more that nobody has.
      const issued = await mint(succeeding(document, now, expiresAt))
      const retire = (old: KeyDocument): KeyDocument => ({ ...old, successor: issued.id, retiresAt: now + overlapMs })
      try {
        await change(id, 'rotate', retire)
      } catch (error) {
        await book.drop({ ...document, id: issued.id })
        throw error
      }
      return issued
    },

    async list(account) {
      const now = clock.now()
      return (await book.list(account)).map((key) => describe(key, now))
    },

    get: async (id) => describe(await book.get(id), clock.now()),
    disable: (id) => change(id, 'disable', (document) => ({ ...document, disabledAt: clock.now() })),
    enable: (id) => change(id, 'enable', ({ disabledAt: _, ...document }) => document),
    revoke: (id) => change(id, 'revoke', (document) => ({ ...document, revokedAt: clock.now() })),

    verify(key) {
      if (key === demo?.key) return demo.holder
      const found = keyKind(key)
      if (found === undefined)
        throw new SoukError('key_invalid', 'This is not a consumer key, or part of it is missing.')
      if (found !== kind) {
        throw new SoukError(
          'key_invalid',
          `A ${found} key is of no use on the network ${network}: it takes ${kind} keys.`
        )
      }
      const digest = digestOf(key)
      return verifier.verify(idOf(digest), digest)
    },

    close: deafen
  }
}

/** Names a key without giving anything of it away: part of its HMAC. */
function idOf(digest: string): string {
  return `key_${digest.slice(0, ID_CHARS)}`
}

/** What a key has that takes the place of another: all of its terms, and a life of its own. */
function succeeding(old: KeyDocument, now: number, expiresAt?: number): Omit<KeyDocument, 'id' | 'digest' | 'hint'> {
  const { id, digest: _, hint: __, retiresAt: ___, successor: ____, ...terms } = old
  const lifeMs = old.expiresAt === undefined ? undefined : old.expiresAt - old.createdAt
  const until = expiresAt ?? (lifeMs === undefined ? undefined : now + lifeMs)
  return {
    ...terms,
    lineage: old.lineage ?? id,
    replaces: id,
    createdAt: now,
    ...(until === undefined ? {} : { expiresAt: until })
  }
}

function checkTerms({ label, createdAt, expiresAt, rateLimit }: Omit<KeyDocument, 'id' | 'digest' | 'hint'>): void {
  if (rateLimit !== undefined) checkRateLimit(rateLimit)
  if (label.length > limits.LABEL_CHARS_MAX || /\p{Cc}/u.test(label)) {
    throw new SoukError('invalid_request', `A label is one line of at most ${limits.LABEL_CHARS_MAX} characters.`)
  }
  if (expiresAt !== undefined && !(expiresAt > createdAt)) {
    throw new SoukError('invalid_request', 'The key would have expired already.')
  }
}

function checkOverlap(overlapMs: number): void {
  if (Number.isInteger(overlapMs) && overlapMs >= 0 && overlapMs <= limits.KEY_OVERLAP_MS_MAX) return
  const days = limits.KEY_OVERLAP_MS_MAX / limits.DAY_MS
  throw new SoukError('invalid_request', `The old key goes on working for at most ${days} days.`)
}

function describe({ document, lastUsedAt }: StoredKey, now: number): KeyInfo {
  const { id, digest: _, ...stored } = document
  const { id: lineage, keyId: __, ...holder } = holderOf(document)
  const { createdAt, expiresAt, retiresAt, disabledAt, revokedAt, replaces, successor } = stored
  const told = { expiresAt, retiresAt, disabledAt, revokedAt, replaces, successor, lastUsedAt }
  return { ...holder, id, lineage, state: keyState(document, now), createdAt, ...present(told) }
}
