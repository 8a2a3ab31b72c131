import { type DefinitionNode, type DocumentNode, Kind, Lexer, Source, type Token, TokenKind, parse } from 'graphql'
import { SoukError } from '../../lib/base/errors.ts'
import {
  GRAPHQL_MEMBERS_MAX,
  GRAPHQL_NAME_CHARS_MAX,
  GRAPHQL_SCHEMA_CHARS_MAX,
  GRAPHQL_SCHEMA_DEPTH_MAX,
  GRAPHQL_SCHEMA_SLICE_CHARS,
  GRAPHQL_SCHEMA_TOKENS_MAX
} from '../../lib/base/limits/graphql.ts'

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])
/** Tokens between two pauses: about a millisecond. */
const TOKENS_PER_STEP = 2_000

/**
 * Parses SDL within the limits that keep reading it, and checking calls against it, fast. Accepts two forms of older servers:
 * empty braces (`input Filter {}`), and interfaces without `&` between them (`implements A B`).
 *
 * @throws SoukError `invalid_request` with the limit; GraphQLError for invalid SDL
 */
export function schemaDocument(sdl: string): DocumentNode {
  const document = parse(withoutPauses(scan(sdl)).text)
  checkMembers(document.definitions)
  return document
}

/**
 * Parses SDL that this program printed, in steps of a few milliseconds. All code that reads a schema in a process that serves
 * calls must use this, and serve other calls between two steps.
 *
 * @throws as `schemaDocument`
 */
export function* printedDocument(sdl: string): Generator<undefined, DocumentNode> {
  const { text, parts } = yield* scan(sdl)
  const definitions: DefinitionNode[] = []
  let start = 0
  for (const end of [...parts, text.length]) {
    if (end - start < GRAPHQL_SCHEMA_SLICE_CHARS && end !== text.length) continue
    definitions.push(...parse(text.slice(start, end), { noLocation: true }).definitions)
    start = end
    yield
  }
  checkMembers(definitions)
  return { kind: Kind.DOCUMENT, definitions }
}

/** The result of work that is divided into steps, in a process that serves no calls. */
export function withoutPauses<T>(steps: Generator<undefined, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

interface Scanned {
  /** The SDL in the form that the parser accepts. Positions stay the same. */
  readonly text: string
  /** Starts of definitions that follow an empty line. */
  readonly parts: readonly number[]
}

/** Iterative, so that recursive code never gets SDL that is nested too deeply. */
function* scan(sdl: string): Generator<undefined, Scanned> {
  if (sdl.length > GRAPHQL_SCHEMA_CHARS_MAX) throw refuse(`is larger than ${GRAPHQL_SCHEMA_CHARS_MAX} characters`)
  // A comment is not a token but takes as long to read.
  if (sdl.split('#', GRAPHQL_SCHEMA_TOKENS_MAX + 2).length > GRAPHQL_SCHEMA_TOKENS_MAX + 1) throw tooManyTokens()
  const lexer = new Lexer(new Source(sdl))
  const parts: number[] = []
  const edits: Edit[] = []
  let depth = 0
  let implementing: Token | undefined
  for (let tokens = 0, before = lexer.token; ; tokens++) {
    const token = lexer.advance()
    const { kind, start, end } = token
    if (kind === TokenKind.EOF) return { text: edited(sdl, edits), parts }
    if (tokens === GRAPHQL_SCHEMA_TOKENS_MAX) throw tooManyTokens()
    if (tokens % TOKENS_PER_STEP === 0) yield
    if (kind === TokenKind.NAME && end - start > GRAPHQL_NAME_CHARS_MAX) {
      throw refuse(`has a name of more than ${GRAPHQL_NAME_CHARS_MAX} characters`)
    }
    if (depth === 0) {
      if (sdl.slice(before.end, start).includes('\n\n')) parts.push(start)
      if (token.value === 'implements') implementing = token
      else if (implementing !== undefined && kind !== TokenKind.NAME && kind !== TokenKind.AMP) implementing = undefined
      else if (isSecondName(before, token, implementing)) edits.push({ at: before.end, text: '&' })
    }
    if (OPENING.has(kind) && ++depth > GRAPHQL_SCHEMA_DEPTH_MAX) {
      throw refuse(`is nested deeper than ${GRAPHQL_SCHEMA_DEPTH_MAX} levels`)
    }
    if (CLOSING.has(kind)) depth--
    // Empty braces deeper than a definition's own are values.
    const isEmpty = (before.kind === TokenKind.BRACE_L && depth === 0) || before.kind === TokenKind.PAREN_L
    if (isEmpty && CLOSING.has(kind)) edits.push({ at: before.start, text: ' ' }, { at: start, text: ' ' })
    before = token
  }
}

/** Replaces one character. */
interface Edit {
  readonly at: number
  readonly text: string
}

const KEYWORDS: ReadonlySet<string | undefined> = new Set(
  'type interface union enum input scalar directive schema extend'.split(' ')
)

/** Whether the token is another interface, after a space: older servers put none or a comma between interfaces. */
function isSecondName(before: Token, token: Token, implementing: Token | undefined): boolean {
  const isName = token.kind === TokenKind.NAME && !KEYWORDS.has(token.value)
  return implementing !== undefined && isName && before.kind === TokenKind.NAME && before !== implementing
}

function edited(sdl: string, edits: readonly Edit[]): string {
  const pieces: string[] = []
  let from = 0
  for (const { at, text } of edits) {
    pieces.push(sdl.slice(from, at), text)
    from = at + 1
  }
  return pieces.join('') + sdl.slice(from)
}

/** Validation compares two types by their members, so the number of members is limited. */
function checkMembers(definitions: readonly DefinitionNode[]): void {
  const members = new Map<string, number>()
  for (const definition of definitions) {
    if (definition.kind === Kind.UNION_TYPE_DEFINITION)
      members.set(definition.name.value, definition.types?.length ?? 0)
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    for (const { name } of definition.interfaces ?? []) members.set(name.value, (members.get(name.value) ?? 0) + 1)
  }
  if ([...members.values()].some((count) => count > GRAPHQL_MEMBERS_MAX)) {
    throw refuse(`has a union or an interface of more than ${GRAPHQL_MEMBERS_MAX} types`)
  }
}

function tooManyTokens(): SoukError {
  return refuse(`has more than ${GRAPHQL_SCHEMA_TOKENS_MAX} tokens`)
}

function refuse(why: string): SoukError {
  return new SoukError('invalid_request', `The GraphQL schema ${why}, which is the limit.`)
}
