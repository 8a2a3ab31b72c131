import { setMember } from './set-member.ts'

/** `rawJSON` of ES2026, which TypeScript's es2025 library lacks. */
const Json = JSON as typeof JSON & { rawJSON(text: string): unknown }

/** A number that `JSON.stringify` writes as it is here. */
export function rawNumber(source: string): unknown {
  return Json.rawJSON(source)
}

/** Matches where a number may stand whose digits a double does not keep. */
const INEXACT = /\d{16}|\d[.eE]|-0/

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END, SPACE] = [0x5b, 0x5d, 0x7b, 0x7d, 0x20]
const LITERALS: ReadonlyMap<number, readonly [text: string, value: unknown]> = new Map(
  [true, false, null].map((value) => [String(value).charCodeAt(0), [String(value), value]])
)

/**
 * Like `JSON.parse`, but `exact` makes the value of each number that `String` writes otherwise than the text does. A reviver of
 * `JSON.parse` can do that too. It takes 1 µs for each value, so a text of a few megabytes would block the process for seconds.
 *
 * @param exact gets the number as it is written, and its nearest double
 * @throws SyntaxError if the text is not JSON; RangeError if it nests thousands of levels deep
 */
export function parseExactly(text: string, exact: (source: string, nearest: number) => unknown): unknown {
  const plain: unknown = JSON.parse(text)
  return INEXACT.test(text) ? new Reader(text, exact).value() : plain
}

/** Reads a text that is known to be JSON, so it looks only at the bytes that decide. */
class Reader {
  readonly #text: string
  readonly #exact: (source: string, nearest: number) => unknown
  #at = 0

  constructor(text: string, exact: (source: string, nearest: number) => unknown) {
    this.#text = text
    this.#exact = exact
  }

  value(): unknown {
    const first = this.#next()
    if (first === QUOTE) return this.#string()
    if (first === OBJECT) return this.#object()
    if (first === ARRAY) return this.#array()
    const literal = LITERALS.get(first)
    if (literal === undefined) return this.#number()
    const [word, value] = literal
    this.#at += word.length
    return value
  }

  #object(): unknown {
    const object: Record<string, unknown> = {}
    this.#at++
    while (this.#next() !== OBJECT_END) {
      const name = this.#string()
      if (this.#next() === COLON) this.#at++
      const value = this.value()
      setMember(object, name, value)
      if (this.#next() === COMMA) this.#at++
    }
    this.#at++
    return object
  }

  #array(): unknown {
    const items: unknown[] = []
    this.#at++
    while (this.#next() !== ARRAY_END) {
      items.push(this.value())
      if (this.#next() === COMMA) this.#at++
    }
    this.#at++
    return items
  }

  #string(): string {
    const start = this.#at
    let end = this.#text.indexOf('"', start + 1)
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1)
    this.#at = end + 1
    const content = this.#text.slice(start + 1, end)
    return content.includes('\\') ? (JSON.parse(this.#text.slice(start, end + 1)) as string) : content
  }

  #isEscaped(quote: number): boolean {
    let at = quote
    while (this.#text.charCodeAt(at - 1) === BACKSLASH) at--
    return (quote - at) % 2 === 1
  }

  #number(): unknown {
    const text = this.#text
    const start = this.#at
    while (isOfNumber(text.charCodeAt(this.#at))) this.#at++
    const source = text.slice(start, this.#at)
    const nearest = Number(source)
    return String(nearest) === source ? nearest : this.#exact(source, nearest)
  }

  /** Skips white space, and returns the character after it. */
  #next(): number {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at++
    return this.#text.charCodeAt(this.#at)
  }
}

/** False for the characters that can follow a number, and for the end of the text. */
function isOfNumber(code: number): boolean {
  return code > SPACE && code !== COMMA && code !== ARRAY_END && code !== OBJECT_END
}
