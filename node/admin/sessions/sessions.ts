import { equalInConstantTime, limits, sha256, SoukError, toHex, utf8 } from '../../../lib/index.ts'
import type { Clock, Documents, Random } from '../../../lib/interface/index.ts'
import { commandFor } from '../../profile/profile.ts'

/** Keys are digests of session tokens, in hex. */
const COLLECTION = 'console-sessions'
/** Crockford's base 32: it has no letter that looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE_CHARS = 8
const TOKEN_BYTES = 32
/** Characters of the digest in an id: enough to distinguish browsers. */
const ID_CHARS = 12

/** A signed-in browser. */
export interface Session {
  /** Start of the token's digest. It is no credential. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly expiresAt: number
  readonly isOwn: boolean
}

interface SessionDocument {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

interface SetupCode {
  readonly digest: Uint8Array
  readonly expiresAt: number
  triesLeft: number
}

export interface SessionsInit {
  /** Name of the node's profile. */
  readonly profile: string
  readonly documents: Documents
  readonly clock: Clock
  readonly random: Random
}

/**
 * Sessions of browsers in the console. A setup code signs one browser in, once; then a cookie identifies the browser. Only a person
 * who starts the node or can read its admin token gets a code. The node keeps digests of the code and of the cookie only.
 */
export class Sessions {
  readonly #init: SessionsInit
  /** Only the newest code is valid. */
  #code: SetupCode | undefined

  constructor(init: SessionsInit) {
    this.#init = init
  }

  /** True if a valid session exists. Deletes expired sessions. */
  async hasAny(): Promise<boolean> {
    const now = this.#init.clock.now()
    const all = await this.#init.documents.list(COLLECTION)
    const held = all.map(({ key, value }) => ({ key, ...(JSON.parse(value) as SessionDocument) }))
    const over = held.filter(({ expiresAt }) => expiresAt <= now)
    await Promise.all(over.map(({ key }) => this.#init.documents.delete(COLLECTION, key)))
    return over.length < held.length
  }

  /** Replaces the last code by a new one, such as `K7QF-9M2X`. */
  newCode(): { readonly code: string; readonly expiresAt: number } {
    const { random, clock } = this.#init
    const letters = [...random.fill(new Uint8Array(CODE_CHARS))].map((byte) => ALPHABET[byte % ALPHABET.length])
    const code = letters.join('')
    const expiresAt = clock.now() + limits.SETUP_CODE_MS
    this.#code = { digest: sha256(utf8(code)), expiresAt, triesLeft: limits.SETUP_CODE_TRIES_MAX }
    return { code: `${code.slice(0, CODE_CHARS / 2)}-${code.slice(CODE_CHARS / 2)}`, expiresAt }
  }

  /**
   * Uses up the code. Case, spaces and dashes are ignored.
   * @returns the session's token
   * @throws SoukError `admin_token_invalid`
   */
  async open(typed: string): Promise<string> {
    const { documents, clock, random } = this.#init
    const code = this.#code
    if (code === undefined || code.triesLeft === 0 || clock.now() >= code.expiresAt) {
      throw new SoukError('admin_token_invalid', `There is no valid setup code. Get one with: ${this.#command()}`)
    }
    code.triesLeft--
    if (!equalInConstantTime(sha256(utf8(typed.toUpperCase().replaceAll(/[\s-]/g, ''))), code.digest)) {
      throw new SoukError('admin_token_invalid', `The setup code is wrong. Get a new one with: ${this.#command()}`)
    }
    this.#code = undefined
    const token = Buffer.from(random.fill(new Uint8Array(TOKEN_BYTES))).toString('base64url')
    const session: SessionDocument = { expiresAt: clock.now() + limits.CONSOLE_SESSION_MS }
    await documents.put(COLLECTION, keyOf(token), JSON.stringify(session))
    return token
  }

  /** The command that makes a code. Without the profile, it would make one of another node. */
  #command(): string {
    return commandFor(this.#init.profile, 'console')
  }

  async isOpen(token: string): Promise<boolean> {
    const json = await this.#init.documents.get(COLLECTION, keyOf(token))
    return json !== undefined && (JSON.parse(json) as SessionDocument).expiresAt > this.#init.clock.now()
  }

  async close(token: string): Promise<void> {
    await this.#init.documents.delete(COLLECTION, keyOf(token))
  }

  /** Valid sessions, newest first. @param token - of the requesting browser */
  async list(token?: string): Promise<readonly Session[]> {
    const now = this.#init.clock.now()
    const all = await this.#init.documents.list(COLLECTION)
    const own = token === undefined ? undefined : keyOf(token)
    return all
      .map(({ key, value }) => ({ key, ...(JSON.parse(value) as SessionDocument) }))
      .filter(({ expiresAt }) => expiresAt > now)
      .map(({ key, expiresAt }) => ({
        id: idOf(key),
        since: expiresAt - limits.CONSOLE_SESSION_MS,
        expiresAt,
        isOwn: key === own
      }))
      .toSorted((a, b) => b.since - a.since)
  }

  /** Ends a session. @returns false if no session has this id */
  async closeById(id: string): Promise<boolean> {
    const all = await this.#init.documents.list(COLLECTION)
    const found = all.filter(({ key }) => idOf(key) === id)
    await Promise.all(found.map(({ key }) => this.#init.documents.delete(COLLECTION, key)))
    return found.length > 0
  }
}

/** Sessions are looked up by digest, so the duration of a lookup reveals nothing about the token. */
function keyOf(token: string): string {
  return toHex(sha256(utf8(token)))
}

/** Skips the `0x`. */
function idOf(key: string): string {
  return key.slice(2, 2 + ID_CHARS)
}
