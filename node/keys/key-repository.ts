import { limits, SoukError } from '../../lib/index.ts'
import type { Clock, Documents } from '../../lib/interface/index.ts'
import { isDone, type KeyAction, keyState, mayMove } from './state.ts'
import type { KeyDocument } from './verifier.ts'

const COLLECTION = 'consumer-keys'
/** Stored apart from the keys, so that recording a use cannot overwrite a concurrent revocation. */
const USES = 'consumer-key-uses'
/** The ids of an account’s keys, so that listing them does not read all keys. */
const keysOf = (account: string): string => `consumer-keys-of/${account}`

/** A key with its last use, accurate to `KEY_USE_MS`. */
export interface StoredKey {
  readonly document: KeyDocument
  readonly lastUsedAt?: number
}

/** Stores keys. Every change follows the table of states, even with concurrent changes of one key. */
export class KeyRepository {
  readonly #documents: Documents
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  #counted: { count: number; at: number } | undefined

  constructor(init: { readonly documents: Documents; readonly clock: Pick<Clock, 'now' | 'elapsed'> }) {
    this.#documents = init.documents
    this.#clock = init.clock
  }

  async find(id: string): Promise<KeyDocument | undefined> {
    const value = await this.#documents.get(COLLECTION, id)
    return value === undefined ? undefined : (JSON.parse(value) as KeyDocument)
  }

  /** @throws SoukError `invalid_request` */
  async get(id: string): Promise<StoredKey> {
    return this.#withUse(await this.#read(id))
  }

  /** All keys, or those of one account; oldest first. */
  async list(account?: string): Promise<StoredKey[]> {
    const found = account === undefined ? await this.#all() : await this.#of(account)
    return found.sort((a, b) => a.document.createdAt - b.document.createdAt)
  }

  /**
   * Stores a new key. If its account has too many, deletes ended keys, never live ones.
   * @throws SoukError `quota_exceeded`
   */
  async add(document: KeyDocument): Promise<void> {
    const { id, account } = document
    if (account === undefined) await this.#checkCount()
    else await this.#makeRoom(account)
    if (!(await this.#documents.insert(COLLECTION, id, JSON.stringify(document)))) {
      throw new SoukError('internal_error', undefined, { cause: new Error(`The key id ${id} exists already.`) })
    }
    if (account !== undefined) await this.#documents.put(keysOf(account), id, '{}')
    else if (this.#counted !== undefined) this.#counted.count++
  }

  /** Deletes a key that nobody holds. */
  async drop({ id, account }: Pick<KeyDocument, 'id' | 'account'>): Promise<void> {
    await this.#documents.delete(COLLECTION, id)
    await this.#documents.delete(USES, id)
    if (account !== undefined) await this.#documents.delete(keysOf(account), id)
  }

  /**
   * Applies `change` to a key if its state allows `action`. Repeating a finished action changes nothing.
   * @throws SoukError `invalid_request` (no such key, or wrong state)
   */
  async change(id: string, action: KeyAction, change: (document: KeyDocument) => KeyDocument): Promise<KeyDocument> {
    for (;;) {
      const before = await this.#documents.get(COLLECTION, id)
      if (before === undefined) throw noKey(id)
      const document = JSON.parse(before) as KeyDocument
      const state = keyState(document, this.#clock.now())
      if (isDone(state, action)) return document
      if (!mayMove(state, action)) {
        const members = { reason: 'key_state' }
        throw new SoukError('invalid_request', `This key is ${state}: ${REFUSALS[action]}`, { members })
      }
      const after = change(document)
      if (await this.#documents.replace(COLLECTION, id, before, JSON.stringify(after))) return after
    }
  }

  /** Not awaited: losing the record of a use is harmless. */
  noteUse(id: string, at: number): void {
    void this.#documents.put(USES, id, String(at)).catch(() => {})
  }

  async #read(id: string): Promise<KeyDocument> {
    const document = await this.find(id)
    if (document === undefined) throw noKey(id)
    return document
  }

  async #withUse(document: KeyDocument): Promise<StoredKey> {
    return used(document, await this.#documents.get(USES, document.id))
  }

  async #all(): Promise<StoredKey[]> {
    const [rows, uses] = await Promise.all([this.#documents.list(COLLECTION), this.#documents.list(USES)])
    const lastUses = new Map(uses.map(({ key, value }) => [key, value]))
    return rows.map(({ key, value }) => used(JSON.parse(value) as KeyDocument, lastUses.get(key)))
  }

  async #of(account: string): Promise<StoredKey[]> {
    const found: StoredKey[] = []
    for (const { key } of await this.#documents.list(keysOf(account))) {
      const document = await this.find(key)
      if (document !== undefined) found.push(await this.#withUse(document))
    }
    return found
  }

  async #makeRoom(account: string): Promise<void> {
    const known = await this.list(account)
    const now = this.#clock.now()
    const ended = known.filter(({ document }) => hasEnded(document, now))
    const live = known.length - ended.length
    if (live >= limits.KEYS_PER_ACCOUNT_MAX) {
      throw new SoukError(
        'quota_exceeded',
        `An account may have at most ${limits.KEYS_PER_ACCOUNT_MAX} keys. Revoke one first.`
      )
    }
    const tooMany = known.length + 1 - limits.KEYS_PER_ACCOUNT_MAX
    for (const { document } of ended.slice(0, Math.max(0, tooMany))) await this.drop(document)
  }

  /** Keys of accounts do not count: strangers could use up the operator's own number. */
  async #checkCount(): Promise<void> {
    const now = this.#clock.elapsed()
    if (this.#counted === undefined || now - this.#counted.at >= limits.KEYS_COUNTED_MS) {
      const all = (await this.#documents.list(COLLECTION)).map(({ value }) => JSON.parse(value) as KeyDocument)
      this.#counted = { count: all.filter(({ account }) => account === undefined).length, at: now }
    }
    if (this.#counted.count < limits.KEYS_MAX) return
    throw new SoukError('quota_exceeded', `This node has its maximum of ${limits.KEYS_MAX} keys.`)
  }
}

const REFUSALS: Readonly<Record<KeyAction, string>> = {
  rotate: 'only an active key can be rotated.',
  disable: 'only a working key can be disabled.',
  enable: 'only a disabled key can be enabled.',
  revoke: 'it cannot be revoked.'
}

function hasEnded(document: KeyDocument, now: number): boolean {
  const state = keyState(document, now)
  return state === 'expired' || state === 'revoked'
}

function used(document: KeyDocument, lastUse: string | undefined): StoredKey {
  return lastUse === undefined ? { document } : { document, lastUsedAt: Number(lastUse) }
}

function noKey(id: string): SoukError {
  return new SoukError('invalid_request', `There is no key ${id.slice(0, 80)}.`)
}
