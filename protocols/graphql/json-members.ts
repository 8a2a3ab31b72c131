import { SoukError } from '../../lib/base/errors.ts'

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The members of a JSON object in their original text, by name, so that numbers keep digits that a double would lose.
 *
 * @param text valid JSON with an object
 * @throws SoukError `invalid_request` for duplicate members at any depth, because another reader might use the other one
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  /** The names of the open objects; undefined for arrays. */
  const open: Array<Set<string> | undefined> = []
  let name: string | undefined
  let start = 0
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      const end = endOfString(text, at)
      if (isName) {
        const own = nameIn(text.slice(at, end + 1), open.at(-1))
        if (open.length === 1) name = own
        isName = false
      }
      at = end
    } else if (char === COLON) {
      if (open.length === 1) start = at + 1
    } else if (char === COMMA || char === OBJECT_END || char === ARRAY_END) {
      if (open.length === 1 && name !== undefined) {
        members.set(name, text.slice(start, at).trim())
        name = undefined
      }
      if (char !== COMMA) open.pop()
      isName = char === COMMA && open.at(-1) !== undefined
    } else if (char === OBJECT || char === ARRAY) {
      open.push(char === OBJECT ? new Set() : undefined)
      isName = char === OBJECT
    }
  }
  return members
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  for (let char = text.charCodeAt(at); char !== QUOTE; char = text.charCodeAt(at)) at += char === BACKSLASH ? 2 : 1
  return at
}

function nameIn(token: string, names: Set<string> | undefined): string {
  const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
  if (names?.has(name) === true) throw new SoukError('invalid_request', 'The body has two members with the same name.')
  names?.add(name)
  return name
}
