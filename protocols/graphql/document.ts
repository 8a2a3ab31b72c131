import {
  type DocumentNode,
  GraphQLError,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  Source,
  TokenKind,
  getOperationAST,
  parse,
  visit
} from 'graphql'
import { GRAPHQL_NAME_CHARS_MAX } from '../../lib/base/limits/graphql.ts'
import { invalid, GraphqlRefusal } from './graphql-refusal.ts'
import type { DocumentLimits } from './graphql-terms.ts'

/** A document within its limits, not yet checked against a schema. */
export interface ReadDocument {
  readonly text: string
  readonly node: DocumentNode
  /** Number of fields and fragment spreads. */
  readonly selections: number
}

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** @throws GraphqlRefusal */
export function readDocument(text: string, limits: DocumentLimits): ReadDocument {
  try {
    scan(text, limits)
    const node = parse(text, { maxLexicalTokens: limits.tokensMax })
    let selections = 0
    let aliases = 0
    visit(node, {
      [Kind.FIELD]: ({ alias }) => {
        selections++
        if (alias !== undefined) aliases++
      },
      [Kind.FRAGMENT_SPREAD]: () => {
        selections++
      }
    })
    if (aliases > limits.aliasesMax) {
      throw invalid(`The document has ${aliases} aliases; this API allows ${limits.aliasesMax}.`, 'TOO_MANY_ALIASES')
    }
    return { text, node, selections }
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphqlRefusal('invalid', 'GRAPHQL_PARSE_FAILED', [error])
    throw error
  }
}

/** Counts tokens and brackets iteratively, so that recursive code never gets a document that is too deep. */
function scan(text: string, { tokensMax, depthMax }: DocumentLimits): void {
  // A comment is not a token but takes as long to read.
  if (text.split('#', tokensMax + 2).length > tokensMax + 1) {
    throw invalid(`The document has more than ${tokensMax} comments.`, 'TOO_MANY_TOKENS')
  }
  const lexer = new Lexer(new Source(text))
  let depth = 0
  for (let tokens = 0; ; tokens++) {
    const { kind, start, end } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (tokens === tokensMax) throw invalid(`The document has more than ${tokensMax} tokens.`, 'TOO_MANY_TOKENS')
    if (kind === TokenKind.NAME && end - start > GRAPHQL_NAME_CHARS_MAX) {
      throw invalid(`A name in the document is longer than ${GRAPHQL_NAME_CHARS_MAX} characters.`, 'NAME_TOO_LONG')
    }
    if (OPENING.has(kind) && ++depth > depthMax) throw tooDeep(depthMax)
    if (CLOSING.has(kind)) depth--
  }
}

export function tooDeep(depthMax: number): GraphqlRefusal {
  return invalid(`The document is nested deeper than ${depthMax} levels.`, 'TOO_DEEP')
}

/**
 * The operation to run.
 * @throws GraphqlRefusal
 */
export function operationIn({ node }: ReadDocument, name: string | undefined): OperationDefinitionNode {
  const operation = getOperationAST(node, name)
  if (operation != null) return operation
  throw invalid(
    name === undefined
      ? 'The document must contain one operation, or "operationName" must name one of them.'
      : 'The document contains no operation with the name in "operationName".',
    'OPERATION_RESOLUTION_FAILURE'
  )
}
