import { limits, text } from '../../lib/index.ts'

/** What stands in place of a secret. */
const REDACTED = '[redacted]'
/** Names of members whose values nobody reads by accident. */
const SECRET = /pass(?:word|phrase|code)|secret|token|api.?key|authorization|credential|cvv|\bpin\b|iban|card.?number/i

/**
 * What calls made from here said, for whoever wants to make one again: nothing, until somebody asks for it, then the last ones
 * in memory alone, secrets left out by their names. It is off again at the next start.
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

  /** Off, what was kept is forgotten. */
  set(isOn: boolean): void {
    this.#isOn = isOn
    if (!isOn) this.#kept.clear()
  }

  /** @param body - as a call has it; only JSON is kept, and no long one */
  keep(requestId: string, body: unknown): void {
    if (!this.#isOn) return
    const json = redacted(body)
    if (json === undefined || json.length > limits.CAPTURED_BODY_CHARS_MAX) return
    this.#kept.set(requestId, json)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > limits.CAPTURED_CALLS_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }

  /** The JSON value; undefined where it was not kept, or no longer is. */
  find(requestId: string): unknown {
    const json = this.#kept.get(requestId)
    return json === undefined ? undefined : JSON.parse(json)
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
    // No JSON: a form, or bytes.
    return undefined
  }
}

function readable(bytes: Uint8Array): unknown {
  return bytes.length > limits.CAPTURED_BODY_CHARS_MAX ? undefined : JSON.parse(text(bytes))
}
