/** Text of strangers' descriptions in TypeScript source. */

/** Characters that end a line, reorder text, or control a terminal. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A string literal. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll(UNSAFE, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
  )
}

/** The name of a property: quoted, unless it is a plain identifier. */
export function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** A documentation comment, or nothing. @param charsMax of the text */
export function comment(text: unknown, indent: string, charsMax: number): string {
  if (typeof text !== 'string') return ''
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
  const lines = cut
    .split(/[\r\n\u2028\u2029]+/)
    // A tag could switch the compiler's checks off: `@ts-ignore`.
    .map((line) =>
      line
        .replaceAll(UNSAFE, ' ')
        .replaceAll('*/', '* /')
        .replaceAll(/(?<!\w)@/g, '\\@')
        .trim()
    )
    .filter((line) => line !== '')
  if (lines.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
}

/** Names of types: each starts with a capital letter, so none is a keyword, and none is used twice. */
export class TypeNames {
  readonly #used = new Set<string>()
  readonly #next = new Map<string, number>()

  /** A new name like `text`. */
  add(text: string): string {
    const words = text.slice(0, NAME_CHARS_MAX).match(/[A-Za-z0-9]+/g) ?? []
    const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
    const base = /^[A-Z]/.test(joined) ? joined : `Type${joined}`
    let name = base
    for (let n = this.#next.get(base) ?? 2; this.#used.has(name); n++) {
      name = `${base}_${n}`
      this.#next.set(base, n + 1)
    }
    this.#used.add(name)
    return name
  }
}

/** Characters of a type's name. */
const NAME_CHARS_MAX = 80
