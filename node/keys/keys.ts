import { createHmac, createSecretKey } from 'node:crypto'
import { type Atoms, boundedMap, checkRateLimit, limits, type RateLimit, SoukError, utf8 } from '../../lib/index.ts'
import type { Clock, Documents, Random } from '../../lib/interface/index.ts'
import { ALONE, type Coherence } from '../accounts/coherence.ts'
import { present } from '../present.ts'
import { KEY_PREFIXES, keyKind, kindOf, makeKey } from './format.ts'
import { keyDigest } from './key-digest.ts'
import { type StoredKey, KeyRepository } from './key-repository.ts'
import { type Caller, createPseudonyms } from './pseudonyms.ts'
import { checkScope } from './scope.ts'
import { type KeyAction, type KeyState, keyState } from './state.ts'
import { createVerifier, holderOf, type KeyDocument, type KeyHolder } from './verifier.ts'

export interface KeysInit {
  readonly documents: Documents
  /** Coherence with processes that share the documents. Default: no other process does. */
  readonly coherence?: Coherence
  /** HMAC key of at least 32 bytes, kept outside the store, so that a stolen store alone cannot verify a guessed key. */
  readonly secret: Uint8Array
  readonly clock: Clock
  readonly random: Random
  readonly network: string
  /** The network’s money is real: its keys are `live`, not `test`. Default false. */
  readonly isLive?: boolean
  /** The public demo key. Default: none. */
  readonly demo?: DemoKey
}

/** A public key and its permissions. */
export interface DemoKey {
  readonly key: string
  readonly holder: KeyHolder
}

/** A key as listed. Times in milliseconds since the epoch. */
export interface KeyInfo extends Omit<KeyHolder, 'id' | 'keyId' | 'isPublic'> {
  readonly id: string
  /** Id of the first key in a chain of rotations. Limits are counted under it. */
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
  /** Accurate to `KEY_USE_MS`; absent if never used. */
  readonly lastUsedAt?: number
}

/** A new key. The key itself is not shown again. */
export interface IssuedKey extends KeyInfo {
  readonly key: string
}

export interface IssueInit {
  readonly label?: string
  readonly expiresAt?: number
  /** Maximum price of a call. Default `CALL_PRICE_ATOMS_MAX`. */
  readonly maxPrice?: Atoms
  /** Maximum cost of its calls in one day (UTC). Default `KEY_DAILY_ATOMS_MAX`. */
  readonly dailyCap?: Atoms
  /** Rate limit of its calls, per ingress process. Default: none. */
  readonly rateLimit?: RateLimit
  /** Prepaid account that pays for its calls. Default: none, the operator pays. */
  readonly account?: string
  /** The key may also manage its account: keys, withdrawals, statements. Default false. */
  readonly manages?: boolean
  /** The APIs that it may call, `name@provider` or a name. Default: all. */
  readonly apis?: readonly string[]
}

export interface RotateInit {
  /** How long the old key stays valid; 0 ends it at once. Default `KEY_OVERLAP_MS`. */
  readonly overlapMs?: number
  /** Expiry of the new key. Default: that of the old key. */
  readonly expiresAt?: number
}

export interface Keys {
  /** The demo key, to show to all visitors. */
  readonly demo: DemoKey | undefined
  /** @throws SoukError `invalid_request` (label, expiry in the past, APIs), `quota_exceeded` (`KEYS_MAX`, `KEYS_PER_ACCOUNT_MAX`) */
  issue(init?: IssueInit): Promise<IssuedKey>
  /** All keys, or those of one account; oldest first. */
  list(account?: string): Promise<KeyInfo[]>
  /** @throws SoukError `invalid_request` (no such key) */
  get(id: string): Promise<KeyInfo>
  /**
   * Creates a key with the terms of an active one. The old key stays valid during the overlap. The new key continues the old one’s daily
   * cap.
   * @throws SoukError `invalid_request` (no such key, not active, overlap), `quota_exceeded`
   */
  rotate(id: string, init?: RotateInit): Promise<IssuedKey>
  /** Refuses its calls until it is enabled. Repeating this changes nothing. @throws SoukError `invalid_request` */
  disable(id: string): Promise<KeyInfo>
  /** @throws SoukError `invalid_request` */
  enable(id: string): Promise<KeyInfo>
  /** Deletes a key of an account that no longer exists. */
  drop(key: Pick<KeyInfo, 'id' | 'account'>): Promise<void>
  /** Revokes a key permanently. Repeating this changes nothing. @throws SoukError `invalid_request` (no such key) */
  revoke(id: string): Promise<KeyInfo>
  /**
   * Returns at once for a cached key, and a promise otherwise. A change applies to every call that starts after the change has returned, at
   * all processes that share the store.
   * @throws SoukError `key_invalid`, `key_disabled`, `key_expired`, `key_revoked`; thrown or rejected.
   */
  verify(key: string): KeyHolder | Promise<KeyHolder>
  /** The pseudonym by which one provider knows a holder: sixteen bytes, the same at every node that shares the secret. */
  nameFor(holder: Caller, provider: string): Uint8Array
  /** A code of a text that only nodes with this secret can make, in base64url. Begin the text with its purpose. */
  mac(text: string): string
  /** Stops listening for changes of other processes. */
  close(): void
}

const ID_CHARS = 20
const SECRET_BYTES_MIN = 32
/** Coherence topic. A message names the changed key. */
const TOPIC = 'consumer-keys'

export function createKeys(init: KeysInit): Keys {
  const { documents, coherence = ALONE, secret, clock, random, network, isLive = false, demo } = init
  if (secret.length < SECRET_BYTES_MIN) throw new SoukError('invalid_request', 'The secret for keys is too short.')
  const kind = kindOf(isLive)
  const book = new KeyRepository({ documents, clock })
  const verifier = createVerifier({
    clock,
    coherence,
    read: (id) => book.find(id),
    noteUse: (id, at) => book.noteUse(id, at)
  })
  const deafen = coherence.listen(TOPIC, (id) => (id === undefined ? verifier.forgetAll() : verifier.forget(id)))
  // Create the key object once. From bytes, Node would create one per call, which is eight times slower.
  const pepper = createSecretKey(secret)
  /** By key. Only well-formed keys of this network. */
  const identities = boundedMap<string, KeyIdentity>(limits.KEYS_CACHED_MAX)

  /** @throws SoukError `key_invalid` */
  function identify(key: string): KeyIdentity {
    const found = keyKind(key)
    if (found === undefined) throw new SoukError('key_invalid', 'The consumer key is malformed or incomplete.')
    if (found !== kind) {
      throw new SoukError('key_invalid', `The network ${network} needs a ${kind} key, not a ${found} key.`)
    }
    const digest = keyDigest(pepper, key)
    const identity = { id: idOf(digest), digest: utf8(digest) }
    identities.set(key, identity)
    return identity
  }

  /** Creates and stores a key with these terms. */
  async function mint(terms: Omit<KeyDocument, 'id' | 'digest' | 'hint'>): Promise<IssuedKey> {
    checkTerms(terms)
    const key = makeKey(kind, random)
    const digest = keyDigest(pepper, key)
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
    drop: (key) => book.drop(key),
    nameFor: createPseudonyms(pepper),
    mac: (text) => createHmac('sha256', pepper).update(`souk mac 1 ${text}`).digest('base64url'),

    issue({ label = '', maxPrice, dailyCap, apis, manages = false, ...rest } = {}) {
      return mint({
        ...rest,
        label,
        createdAt: clock.now(),
        // Store the values with the key, so that a new default does not change issued keys.
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
      // Store the new key first. If the process dies in between, only an unused key remains.
      const issued = await mint(succeeding(document, now, expiresAt))
      const end = overlapMs === 0 ? { revokedAt: now } : { retiresAt: now + overlapMs }
      try {
        await change(id, 'rotate', (old) => ({ ...old, successor: issued.id, ...end }))
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
      const { id, digest } = identities.get(key) ?? identify(key)
      return verifier.verify(id, digest)
    },

    close: deafen
  }
}

interface KeyIdentity {
  readonly id: string
  readonly digest: Uint8Array
}

/** A key id is a prefix of the key’s HMAC, which reveals nothing about the key. */
function idOf(digest: string): string {
  return `key_${digest.slice(0, ID_CHARS)}`
}

/** The terms of a replacement key: those of the old key, but with its own lifetime. */
function succeeding(old: KeyDocument, now: number, expiresAt?: number): Omit<KeyDocument, 'id' | 'digest' | 'hint'> {
  const { id, digest: _, hint: __, retiresAt: ___, successor: ____, ...terms } = old
  const lifeMs = old.expiresAt === undefined ? undefined : old.expiresAt - old.createdAt
  const until = expiresAt ?? (lifeMs === undefined ? undefined : Math.min(now + lifeMs, limits.TIME_MS_MAX))
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
    throw new SoukError('invalid_request', `A label must be one line of at most ${limits.LABEL_CHARS_MAX} characters.`)
  }
  if (expiresAt !== undefined && !(expiresAt > createdAt)) {
    throw new SoukError('invalid_request', 'The expiry must be in the future.')
  }
  if (expiresAt !== undefined && expiresAt > limits.TIME_MS_MAX) {
    throw new SoukError('invalid_request', 'The expiry is later than any date. Omit it for a key that never expires.')
  }
}

function checkOverlap(overlapMs: number): void {
  if (Number.isInteger(overlapMs) && overlapMs >= 0 && overlapMs <= limits.KEY_OVERLAP_MS_MAX) return
  const days = limits.KEY_OVERLAP_MS_MAX / limits.DAY_MS
  throw new SoukError('invalid_request', `The overlap may be at most ${days} days.`)
}

function describe({ document, lastUsedAt }: StoredKey, now: number): KeyInfo {
  const { id, digest: _, ...stored } = document
  const { id: lineage, keyId: __, ...holder } = holderOf(document)
  const { createdAt, expiresAt, disabledAt, revokedAt, replaces, successor } = stored
  // The overlap of a rotated key ends no later than its own lifetime.
  const retiresAt = stored.retiresAt === undefined ? undefined : Math.min(stored.retiresAt, expiresAt ?? Infinity)
  const told = { expiresAt, retiresAt, disabledAt, revokedAt, replaces, successor, lastUsedAt }
  return { ...holder, id, lineage, state: keyState(document, now), createdAt, ...present(told) }
}
