import { SoukError } from '../../lib/base/errors.ts'

/** Strings, numbers and words as one token each; text that was parsed before has nothing else. */
const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g

/**
 * The members of a JSON object as they were written, by name: numbers keep digits that a double would lose.
 *
 * @param text - valid JSON, and an object
 * @throws SoukError `invalid_request` for an object, however deep, that has two members of one name: whoever reads it next
 *   may take the other one
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  const objects: Array<Set<string> | undefined> = []
  let name = ''
  let start = 0
  let isName = false
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (objects.length === 1 && (token === ',' || token === '}') && name !== '') {
      members.set(JSON.parse(name) as string, text.slice(start, index).trim())
      name = ''
    }
    if (token === '{' || token === '[') {
      objects.push(token === '{' ? new Set() : undefined)
      isName = token === '{'
    } else if (token === '}' || token === ']') {
      objects.pop()
      isName = false
    } else if (token === ',') {
      isName = objects.at(-1) !== undefined
    } else if (isName) {
      unique(objects.at(-1), token)
      if (objects.length === 1) name = token
      isName = false
    } else if (token === ':' && objects.length === 1) {
      start = index + 1
    }
  }
  return members
}

function unique(names: Set<string> | undefined, token: string): void {
  const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
  if (names?.has(name) === true) throw new SoukError('invalid_request', 'The body has two members of one name.')
  names?.add(name)
}
