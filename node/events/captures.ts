import { limits, parseExactly, rawNumber, text } from '../../lib/index.ts'

/** Replaces a secret. */
const REDACTED = '[redacted]'
/** Member names whose values are treated as secrets. */
const SECRET = /pass(?:word|phrase|code)|secret|token|api.?key|authorization|credential|cvv|\bpin\b|iban|card.?number/i

/**
 * Request bodies of calls made from this node, kept so that a user can repeat a call. Off by default and after each start. When on, it
 * keeps the last bodies in memory and redacts members whose names suggest secrets.
 */
export class Captures {
  #isOn = false
  /** JSON by request id, oldest first. */
  readonly #kept = new Map<string, string>()

  get isOn(): boolean {
    return this.#isOn
  }

  get count(): number {
    return this.#kept.size
  }

  /** Switching it off forgets all bodies. */
  set(isOn: boolean): void {
    this.#isOn = isOn
    if (!isOn) this.#kept.clear()
  }

  /** @param body - only JSON of limited length is kept */
  keep(requestId: string, body: unknown): void {
    if (!this.#isOn) return
    const json = redacted(body)
    if (json === undefined || json.length > limits.CAPTURED_BODY_CHARS_MAX) return
    this.#kept.set(requestId, json)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > limits.CAPTURED_CALLS_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }

  /** The JSON value; undefined if it was not kept or was evicted. */
  find(requestId: string): unknown {
    const json = this.#kept.get(requestId)
    return json === undefined ? undefined : parseExactly(json, rawNumber)
  }
}

function redacted(body: unknown): string | undefined {
  try {
    const value: unknown = body instanceof Uint8Array ? readable(body) : body
    if (value === undefined || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)) {
      return undefined
    }
    return JSON.stringify(value, (name, member: unknown) => (SECRET.test(name) ? REDACTED : member))
  } catch {
    // Not JSON: a form, or bytes.
    return undefined
  }
}

function readable(bytes: Uint8Array): unknown {
  return bytes.length > limits.CAPTURED_BODY_CHARS_MAX ? undefined : parseExactly(text(bytes), rawNumber)
}
