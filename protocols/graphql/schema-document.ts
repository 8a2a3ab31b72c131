import { type DocumentNode, Kind, Lexer, Source, TokenKind, parse } from 'graphql'
import { SoukError } from '../../lib/base/errors.ts'
import {
  GRAPHQL_MEMBERS_MAX,
  GRAPHQL_NAME_CHARS_MAX,
  GRAPHQL_SCHEMA_CHARS_MAX,
  GRAPHQL_SCHEMA_DEPTH_MAX,
  GRAPHQL_SCHEMA_TOKENS_MAX
} from '../../lib/base/limits/graphql.ts'

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/**
 * Parses SDL within the limits that keep reading it, and checking calls against it, fast. All code that builds a schema in a
 * process that serves calls must use this.
 *
 * @throws SoukError `invalid_request` with the limit; GraphQLError for invalid SDL
 */
export function schemaDocument(sdl: string, options: { readonly noLocation?: boolean } = {}): DocumentNode {
  if (sdl.length > GRAPHQL_SCHEMA_CHARS_MAX) throw refuse(`is larger than ${GRAPHQL_SCHEMA_CHARS_MAX} characters`)
  scan(sdl)
  const document = parse(sdl, options)
  checkMembers(document)
  return document
}

/** Iterative, so that recursive code never gets SDL that is nested too deeply. */
function scan(sdl: string): void {
  // A comment is not a token but takes as long to read.
  if (sdl.split('#', GRAPHQL_SCHEMA_TOKENS_MAX + 2).length > GRAPHQL_SCHEMA_TOKENS_MAX + 1) throw tooManyTokens()
  const lexer = new Lexer(new Source(sdl))
  let depth = 0
  for (let tokens = 0; ; tokens++) {
    const { kind, start, end } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (tokens === GRAPHQL_SCHEMA_TOKENS_MAX) throw tooManyTokens()
    if (kind === TokenKind.NAME && end - start > GRAPHQL_NAME_CHARS_MAX) {
      throw refuse(`has a name of more than ${GRAPHQL_NAME_CHARS_MAX} characters`)
    }
    if (OPENING.has(kind) && ++depth > GRAPHQL_SCHEMA_DEPTH_MAX) {
      throw refuse(`is nested deeper than ${GRAPHQL_SCHEMA_DEPTH_MAX} levels`)
    }
    if (CLOSING.has(kind)) depth--
  }
}

/** Validation compares two types by their members, so the number of members is limited. */
function checkMembers({ definitions }: DocumentNode): void {
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
