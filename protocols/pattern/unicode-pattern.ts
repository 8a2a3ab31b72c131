/** Characters besides letters and digits that have an escape with the flag `u`. */
const SYNTAX = /^\\[\^$\\.*+?()[\]{}|/]$/
const ESCAPED = String.raw`\\(?:[pPu]\{[^{}]*\}|.)`
const TOKEN = new RegExp(String.raw`${ESCAPED}|\{\d+(?:,\d*)?\}|\[\^?|.`, 'suy')
const CLASS_TOKEN = new RegExp(`${ESCAPED}|.`, 'suy')
const SET = /^\\[dDwWsSpP]/

/**
 * The expression of ECMA-262 with the same meaning that is valid with the flag `u`; undefined if there is none. Without the flag, a
 * character may have a needless escape, and a brace, or a hyphen beside a set, stands for itself.
 */
export function unicodePattern(pattern: string): string | undefined {
  if (parses(pattern, 'u')) return pattern
  if (!parses(pattern, '')) return undefined
  const written = rewritten(pattern)
  return parses(written, 'u') ? written : undefined
}

/** True if ECMA-262 accepts the expression with these flags. It is not run. */
export function parses(pattern: string, flags: string): boolean {
  try {
    return Boolean(new RegExp(pattern, flags))
  } catch {
    return false
  }
}

function rewritten(pattern: string): string {
  let at = 0
  const peek = (token: RegExp): string => {
    token.lastIndex = at
    return token.exec(pattern)?.[0] ?? ''
  }
  const take = (token: RegExp): string => {
    const taken = peek(token)
    at += taken.length
    return taken
  }
  /** A member of a class: a character, a set or a range. */
  const member = (): string => {
    const first = take(CLASS_TOKEN)
    if (peek(CLASS_TOKEN) !== '-' || pattern[at + 1] === ']') return inClass(first)
    at++
    const last = take(CLASS_TOKEN)
    return `${inClass(first)}${SET.test(first) || SET.test(last) ? String.raw`\-` : '-'}${inClass(last)}`
  }
  let out = ''
  while (at < pattern.length) {
    const token = take(TOKEN)
    out += outside(token)
    if (!token.startsWith('[')) continue
    while (at < pattern.length && peek(CLASS_TOKEN) !== ']') out += member()
    out += take(CLASS_TOKEN)
  }
  return out
}

function outside(token: string): string {
  if (token === '{' || token === '}' || token === ']') return `\\${token}`
  return token.startsWith('\\') ? unescaped(token) : token
}

function inClass(token: string): string {
  if (token === '-' || token === String.raw`\-`) return String.raw`\-`
  return token.startsWith('\\') ? unescaped(token) : token
}

/** An escaped letter or digit keeps its escape, because it has a meaning, or means something else without the flag. */
function unescaped(token: string): string {
  return /^\\[A-Za-z0-9]/.test(token) || SYNTAX.test(token) ? token : token.slice(1)
}
