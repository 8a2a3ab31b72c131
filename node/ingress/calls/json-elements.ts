const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * The elements of a JSON array in their original text, so that numbers keep digits that a double would lose.
 * @param bytes valid JSON with an array
 */
export function jsonElements(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const elements: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      do at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
      while (text.charCodeAt(at) !== QUOTE)
    } else if (OPENING.has(char)) {
      if (++depth === 1) start = at + 1
    } else if (CLOSING.has(char)) {
      if (--depth === 0) elements.push(text.slice(start, at).trim())
    } else if (char === COMMA && depth === 1) {
      elements.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return elements.length === 1 && elements[0] === '' ? [] : elements
}
