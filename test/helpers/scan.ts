/**
 * The tokens and imports of a TypeScript file. The scanner distinguishes code from comments, strings, templates and regular
 * expressions, so that the rules in `layers.ts` never match prose. Type-only imports count as imports.
 */

interface Token {
  kind: 'word' | 'punctuation' | 'string' | 'template' | 'number' | 'regex'
  /** The content of a string or a whole template; otherwise the token as written. */
  text: string
  line: number
}

interface Comment {
  text: string
  line: number
}

export interface Import {
  /** The imported module; undefined if the argument of a dynamic import is computed. */
  specifier: string | undefined
  kind: 'import' | 'export' | 'dynamic' | 'url'
  typeOnly: boolean
  /** Imported names by their exported name, including `default` and `*`. */
  names: string[]
  line: number
  /** Positions of the first and last token. */
  from: number
  to: number
}

export interface Source {
  path: string
  lines: number
  tokens: Token[]
  comments: Comment[]
  imports: Import[]
}

/** After one of these words a `/` begins a regular expression; after other words it divides. */
const BEFORE_REGEX = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await default extends'.split(' ')
)
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy
const NUMBER = /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d+)?)n?/iy
const REGEX = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/uy
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const TEMPLATE_PART = /(?:[^\\`$]|\\[\s\S]|\$(?!\{))*/y
const PUNCTUATION = /\?\.(?!\d)|=>|\.\.\.|\+\+|--|[\s\S]/uy

export function scan(path: string, text: string): Source {
  const { tokens, comments } = tokenize(text)
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return { path, lines, tokens, comments, imports: findImports(tokens) }
}

function tokenize(text: string): { tokens: Token[]; comments: Comment[] } {
  const tokens: Token[] = []
  const comments: Comment[] = []
  /** For each open brace: true if it is the `${` of a template. */
  const braces: boolean[] = []
  let at = text.startsWith('#!') ? text.indexOf('\n') : 0
  let line = 1
  if (at < 0) at = text.length

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const advance = (taken: string): void => {
    at += taken.length
    for (const char of taken) if (char === '\n') line++
  }
  const push = (kind: Token['kind'], taken: string, content = taken): void => {
    tokens.push({ kind, text: content, line })
    advance(taken)
  }
  /** Scans from after a backtick or after the `}` of a `${`. */
  const templatePart = (opening: string): void => {
    advance(opening)
    const part = match(TEMPLATE_PART) ?? ''
    const startLine = line
    advance(part)
    const whole = opening === '`' && text[at] === '`'
    tokens.push({ kind: 'template', text: whole ? part : '', line: startLine })
    if (text[at] === '`') at++
    else if (text[at] === '$') {
      braces.push(true)
      at += 2
    }
  }

  while (at < text.length) {
    const char = text[at] as string
    const space = match(/\s+/y)
    if (space !== undefined) {
      advance(space)
      continue
    }
    const comment = match(COMMENT)
    if (comment !== undefined) {
      comments.push({ text: comment, line })
      advance(comment)
      continue
    }
    const string = match(STRING)
    const word = match(WORD)
    const number = /[\d.]/.test(char) ? match(NUMBER) : undefined
    const regex = char === '/' && regexMayFollow(tokens.at(-1)) ? match(REGEX) : undefined
    if (string !== undefined) push('string', string, unescape(string.slice(1, -1)))
    else if (word !== undefined) push('word', word)
    else if (number !== undefined && number !== '') push('number', number)
    else if (regex !== undefined) push('regex', regex)
    else if (char === '`') templatePart('`')
    else if (char === '}' && braces.pop() === true) templatePart('}')
    else {
      if (char === '{') braces.push(false)
      push('punctuation', match(PUNCTUATION) ?? char)
    }
  }
  return { tokens, comments }
}

function regexMayFollow(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_REGEX.has(before.text)
  return before.kind === 'punctuation' && ![')', ']', '++', '--'].includes(before.text)
}

function unescape(content: string): string {
  return content.replace(/\\u\{([\da-f]+)\}|\\u([\da-f]{4})|\\x([\da-f]{2})|\\([\s\S])/gi, (_, a, b, c, plain) =>
    plain === undefined ? String.fromCodePoint(Number.parseInt(a ?? b ?? c, 16)) : plain
  )
}

function findImports(tokens: Token[]): Import[] {
  const imports: Import[] = []
  for (let i = 0; i < tokens.length; i++) {
    const found = importAt(tokens, i)
    if (found === undefined) continue
    imports.push(found)
    i = found.to
  }
  return imports
}

function importAt(tokens: Token[], i: number): Import | undefined {
  const is = (position: number, text: string): boolean =>
    tokens[position]?.text === text && ['word', 'punctuation'].includes(tokens[position].kind)
  const literal = (position: number): string | undefined => {
    const token = tokens[position]
    return token?.kind === 'string' || (token?.kind === 'template' && token.text !== '') ? token.text : undefined
  }
  const line = tokens[i]?.line ?? 0
  if (is(i - 1, '.') || is(i - 1, '?.')) return undefined

  // new URL('./worker.ts', import.meta.url)
  if (is(i, 'new') && is(i + 1, 'URL') && is(i + 2, '(') && literal(i + 3) !== undefined && is(i + 4, ',')) {
    if (!(is(i + 5, 'import') && is(i + 7, 'meta') && is(i + 9, 'url'))) return undefined
    return { specifier: literal(i + 3), kind: 'url', typeOnly: false, names: [], line, from: i, to: i + 10 }
  }
  // import('./x.ts') and require('./x.cjs')
  if ((is(i, 'import') || is(i, 'require')) && is(i + 1, '(')) {
    const closes = is(i + 3, ')') || is(i + 3, ',')
    if (is(i, 'require') && literal(i + 2) === undefined) return undefined
    // A method named `import` is followed by a parameter list or body, not a module.
    if (is(i, 'import') && (is(i + 2, ')') || is(i + 3, ':') || is(i + 3, '?'))) return undefined
    const specifier = closes ? literal(i + 2) : undefined
    return { specifier, kind: 'dynamic', typeOnly: is(i - 1, 'typeof'), names: ['*'], line, from: i, to: i + 2 }
  }
  if (!is(i, 'import') && !is(i, 'export')) return undefined
  const kind = is(i, 'import') ? 'import' : 'export'
  if (kind === 'import' && literal(i + 1) !== undefined) {
    return { specifier: literal(i + 1), kind, typeOnly: false, names: [], line, from: i, to: i + 1 }
  }
  const typeOnly = is(i + 1, 'type') && !is(i + 2, ',') && !(is(i + 2, 'from') && literal(i + 3) !== undefined)
  const clause = typeOnly ? i + 2 : i + 1
  if (kind === 'export' && !is(clause, '{') && !is(clause, '*')) return undefined
  const end = fromAfter(clause)
  if (end === undefined) return undefined
  return { specifier: literal(end + 1), kind, typeOnly, names: names(clause, end), line, from: i, to: end + 1 }

  /** The position of the clause's `from '…'`; undefined if this is no clause. */
  function fromAfter(start: number): number | undefined {
    for (let at = start; at < tokens.length; at++) {
      if (is(at, 'from') && literal(at + 1) !== undefined) return at
      const token = tokens[at] as Token
      const belongs = token.kind === 'word' || token.kind === 'string' || ['{', '}', ',', '*'].includes(token.text)
      if (!belongs) return undefined
    }
    return undefined
  }
  function names(start: number, end: number): string[] {
    const found: string[] = []
    let inBraces = false
    for (let at = start; at < end; at++) {
      const { text } = tokens[at] as Token
      if (text === '{' || text === '}') inBraces = text === '{'
      else if (text === '*') found.push('*')
      else if (text === ',') continue
      else if (text === 'as' && !is(at - 1, '{') && !is(at - 1, ',')) at++
      else if (text === 'type' && inBraces && !is(at + 1, ',') && !is(at + 1, '}') && !is(at + 1, 'as')) continue
      else found.push(inBraces ? text : 'default')
    }
    return found
  }
}
