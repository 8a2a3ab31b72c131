import { type DocumentNode, GraphQLError, OperationTypeNode, getOperationAST, parse } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { GRAPHQL_TOKENS_MAX } from '../../lib/base/limits.ts'
import { parseJson } from '../json.ts'

/** What one request holds (GraphQL over HTTP, "Request parameters"), as checked. */
interface Parameters {
  readonly query: string
  readonly operationName?: string | null
  readonly variables?: object | null
  readonly extensions?: object | null
}

/** A request that never was one GraphQL operation we could pass on: answered here, in GraphQL's own form. */
export class GraphqlRefusal extends Error {
  override readonly name = 'GraphqlRefusal'
  readonly status: number
  readonly body: Uint8Array

  constructor(error: string | GraphQLError, status = 400) {
    super(typeof error === 'string' ? error : error.message)
    this.status = status
    this.body = utf8(JSON.stringify({ errors: [typeof error === 'string' ? { message: error } : error] }))
  }
}

/** A number that a double may not give back digit by digit. */
const INEXACT = /\d{16}|\d[.eE]|-0/

/** With `rawJSON` of ES2026, which TypeScript's es2025 library does not know yet. */
const Json = JSON as typeof JSON & { rawJSON(text: string): unknown }

/**
 * The body to send for the body of a call. Written anew from what was checked: two members of one name would let the
 * upstream see another query than was looked at here. Numbers keep the digits they were written with.
 *
 * @throws SoukError `invalid_request` when it is not JSON, GraphqlRefusal when it is no request
 */
export function posted(text: string): Uint8Array {
  const { query, operationName, variables, extensions } = checked(parseJson(text))
  operationOf(query, operationName)
  if (!INEXACT.test(text)) return written({ query, operationName, variables, extensions })
  const exact = parseJson(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined ? Json.rawJSON(context.source) : value
  ) as Parameters
  return written({ query, operationName, variables: exact.variables, extensions: exact.extensions })
}

/**
 * The body to send for a GET, whose parameters are in the query string; `variables` and `extensions` as JSON texts.
 * @throws as `posted`, and GraphqlRefusal with status 405 for a mutation: a GET must change nothing
 */
export function gotten(search: string): Uint8Array {
  const parameters = new URLSearchParams(search)
  const members: string[] = []
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    const value = parameters.get(name)
    if (value === null) continue
    const isText = name === 'query' || name === 'operationName'
    if (!isText) parseJson(value)
    members.push(`${JSON.stringify(name)}:${isText ? JSON.stringify(value) : value}`)
  }
  const text = `{${members.join(',')}}`
  const { query, operationName } = checked(parseJson(text))
  if (operationOf(query, operationName) === OperationTypeNode.MUTATION) {
    throw new GraphqlRefusal('A mutation needs the method POST.', 405)
  }
  return posted(text)
}

function written(parameters: { [name in keyof Parameters]: unknown }): Uint8Array {
  return utf8(JSON.stringify(parameters))
}

function checked(body: unknown): Parameters {
  if (Array.isArray(body)) throw new GraphqlRefusal('Send one operation per call: batches are not accepted.')
  if (typeof body !== 'object' || body === null)
    throw new GraphqlRefusal('The body must be a JSON object with "query".')
  const { query, operationName, variables, extensions } = body as Record<string, unknown>
  if (query === undefined || query === null)
    throw new GraphqlRefusal('"query" is missing: send the text of an operation.')
  if (typeof query !== 'string') throw new GraphqlRefusal('"query" must be a string.')
  if (operationName != null && typeof operationName !== 'string') {
    throw new GraphqlRefusal('"operationName" must be a string.')
  }
  for (const [name, value] of Object.entries({ variables, extensions })) {
    if (value != null && (typeof value !== 'object' || Array.isArray(value))) {
      throw new GraphqlRefusal(`"${name}" must be a JSON object.`)
    }
  }
  return body as Parameters
}

/** What the document asks for: one query or one mutation. */
function operationOf(query: string, operationName: string | null | undefined): OperationTypeNode {
  const operation = getOperationAST(parsed(query), operationName)
  if (operation == null) {
    throw new GraphqlRefusal(
      operationName == null
        ? 'The document must hold one operation, or "operationName" must name one of them.'
        : 'The document holds no operation of the name in "operationName".'
    )
  }
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) {
    throw new GraphqlRefusal('Subscriptions are not served: send a query or a mutation.')
  }
  return operation.operation
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { maxLexicalTokens: GRAPHQL_TOKENS_MAX, noLocation: true })
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphqlRefusal(error)
    // The parser recurses: what it cannot hold on the stack, most servers could not either.
    if (error instanceof RangeError) throw new GraphqlRefusal('The document is nested too deeply.')
    throw error
  }
}
