/** A pattern of a schema's as a JavaScript expression; undefined where the two languages differ too much, or time could run away. */
export function compilePatterns(patterns: readonly string[]): RegExp | undefined {
  const sources = patterns.map(translated)
  if (sources.includes(undefined)) return undefined
  try {
    return new RegExp(`^(?:${sources.join('|')})$`, 'u')
  } catch {
    return undefined
  }
}

/** XML Schema part 2, appendix F. Its classes are Unicode's; a name's characters are those of XML 1.0. */
const ESCAPES: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: ' \\t\\n\\r',
  w: '\\p{L}\\p{M}\\p{N}\\p{S}',
  i: '\\p{L}_:',
  c: '\\p{L}\\p{N}\\p{M}._:\\-\u00b7',
  n: '\\n',
  r: '\\r',
  t: '\\t'
}
/** Those that stand for several characters need brackets of their own outside a class. */
const SETS = 'swic'
const SYNTAX = /[\^$\\.*+?()[\]{}|/-]/
const CATEGORY = /^\\[pP]\{[LMNPZSC][a-z]?\}/

function translated(pattern: string): string | undefined {
  if (isRisky(pattern)) return undefined
  let out = ''
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? ''
    if (char === '\\') {
      const category = CATEGORY.exec(pattern.slice(at, at + 8))?.[0]
      const next = pattern[at + 1] ?? ''
      const escape = category ?? escaped(next, inClass)
      if (escape === undefined) return undefined
      out += escape
      at += category === undefined ? 1 : category.length - 1
    } else if (inClass) {
      // Subtraction: `[a-z-[aeiou]]`.
      if (char === '[') return undefined
      if (char === ']') inClass = false
      out += char
    } else if (char === '[') {
      inClass = true
      out += char
    } else if (char === '.') out += '[^\\n\\r]'
    else if (char === '^' || char === '$' || char === '/') out += `\\${char}`
    else out += char
  }
  return out
}

function escaped(char: string, inClass: boolean): string | undefined {
  if (Object.hasOwn(ESCAPES, char)) {
    const set = ESCAPES[char] ?? ''
    return SETS.includes(char) && !inClass ? `[${set}]` : set
  }
  // Blocks (`\p{IsGreek}`) and complements have no counterpart.
  if (/[a-zA-Z0-9]/.test(char) || char === '') return undefined
  return SYNTAX.test(char) ? `\\${char}` : char
}

/**
 * A repetition without end within another one may take time that doubles with every character. Such patterns are left to
 * the service behind to check.
 */
export function isRisky(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x')
  const inner: boolean[] = [false]
  for (let at = 0; at < bare.length; at++) {
    const char = bare[at]
    if (char === '(') inner.push(false)
    else if (isEndless(bare, char === ')' ? at + 1 : at)) {
      if (char === ')' && inner.at(-1) === true) return true
      if (char === ')') inner.pop()
      inner[inner.length - 1] = true
    } else if (char === ')') {
      const within = inner.pop() === true
      if (within) inner[inner.length - 1] = true
    }
  }
  return false
}

function isEndless(text: string, at: number): boolean {
  return text[at] === '*' || text[at] === '+' || /^\{(?:\d+,|\d{3,}|\d+,\d{3,})\}/.test(text.slice(at, at + 16))
}
