/** What a JSON type of the code says of itself, read from its text: `export interface …View { … }`. */
export interface DocumentedType {
  readonly name: string
  readonly about: string
  readonly bases: readonly string[]
  readonly members: readonly Member[]
}

export interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly about: string
}

const INTERFACE = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?export interface (\w+)(?: extends ([\w, ]+))? \{/g

export function typesIn(source: string): DocumentedType[] {
  return [...source.matchAll(INTERFACE)].map((found) => {
    const [head, about = '', name = '', bases = ''] = found
    const start = found.index + head.length
    return {
      name,
      about: prose(about),
      bases: bases.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()])),
      members: membersOf(source.slice(start, endOf(source, start)))
    }
  })
}

/** Comments on the members of `const <name> = z.strictObject({ … })`, or of an object that its members are spread from. */
export function commentsOf(source: string, name: string): ReadonlyMap<string, string> {
  const found = new RegExp(`const ${name} = (?:z\\s*\\.strictObject\\()?\\{`).exec(source)
  if (found === null) return new Map()
  const start = found.index + found[0].length
  const block = source.slice(start, endOf(source, start))
  const comments = [...block.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(\w+)/gm)]
  return new Map([
    ...[...block.matchAll(/\.\.\.(\w+)/g)].flatMap(([, base = '']) => [...commentsOf(source, base)]),
    ...comments.map(([, text = '', member = '']) => [member, prose(text)] as const)
  ])
}

function membersOf(block: string): Member[] {
  const members: Member[] = []
  const start = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s*)?readonly (\[[^\]]+\]|\w+)(\?)?: /g
  for (let found = start.exec(block); found !== null; found = start.exec(block)) {
    const [, about = '', name = '', optional] = found
    const end = endOfMember(block, start.lastIndex)
    members.push({
      name: name.startsWith('[') ? '…' : name,
      type: plain(block.slice(start.lastIndex, end)),
      isOptional: optional === '?',
      about: prose(about)
    })
    start.lastIndex = end
  }
  return members
}

/** Where the brace that was opened before `start` is closed. */
function endOf(source: string, start: number): number {
  let depth = 1
  for (let at = start; at < source.length; at++) {
    if (source[at] === '{') depth++
    if (source[at] === '}' && --depth === 0) return at
  }
  return source.length
}

/** A member ends with its line, but for braces that are open. */
function endOfMember(block: string, start: number): number {
  let depth = 0
  for (let at = start; at < block.length; at++) {
    const char = block[at] ?? ''
    if ('{<(['.includes(char)) depth++
    if ('}>)]'.includes(char) && block[at - 1] !== '=') depth--
    if (depth === 0 && char === '\n') return at
  }
  return block.length
}

function prose(comment: string): string {
  return comment.replaceAll(/\s*\n\s*\*? ?/g, ' ').trim()
}

/** A type as JSON has it: without `readonly`, and nested ones by the names of their members. */
function plain(type: string): string {
  const text = type
    .replaceAll(/\/\*\*(?:(?!\*\/)[^])*\*\//g, '')
    .replaceAll(/\breadonly /g, '')
    // Members of a nested type stand on lines of their own.
    .replaceAll(/([^{\s])\n\s*(?=\w)/g, '$1; ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ReadonlyArray<(.*)>/g, '$1[]')
    .replaceAll(/\{ \[\w+: string\]: unknown \}|\bJsonSchema\b/g, 'object')
    .replaceAll(/(\w+)(\??): (?:string|number|boolean|object|null|[A-Z]\w+)(?:\[\])?(?: \| null)?(?=[; }])/g, '$1$2')
    .replaceAll(/; /g, ', ')
    .trim()
  return text.replaceAll(/ \| /g, ' or ').replaceAll(/'(\w+)'/g, '`$1`')
}
