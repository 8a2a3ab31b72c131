import { utf8 } from '../../lib/base/bytes.ts'
import { jsonText, parseJson } from '../json.ts'
import { malformed } from './graphql-refusal.ts'
import { jsonMembers } from './json-members.ts'

/** The parameters of one request (GraphQL over HTTP, "Request parameters"). Only their form is checked. */
export interface GraphqlRequest {
  /** Absent if the request refers to a known document. */
  readonly query?: string
  /** The id of a known document. */
  readonly documentId?: string
  readonly operationName?: string
  readonly variables: JsonObject
  readonly extensions: JsonObject
  /** The original texts of both; undefined if absent or null. */
  readonly written: { readonly variables: string | undefined; readonly extensions: string | undefined }
}

export type JsonObject = Readonly<Record<string, unknown>>

/** Matches a number whose digits a double may not keep. */
const INEXACT = /\d{16}|\d[.eE]|-0/

/**
 * Parses the body of a POST.
 * @param text the JSON body
 * @throws SoukError `invalid_request` if it is not JSON, GraphqlRefusal if it is not a request
 */
export function posted(text: string): GraphqlRequest {
  const body = parseJson(text)
  if (Array.isArray(body)) throw malformed('Send one operation per call: batches are not accepted.')
  if (!isObject(body)) throw malformed('The body must be a JSON object with "query".')
  return requestOf(body, INEXACT.test(text) ? jsonMembers(text) : undefined)
}

/**
 * Parses the query string of a GET, where `variables` and `extensions` are JSON texts.
 * @throws as `posted`
 */
export function gotten(search: string): GraphqlRequest {
  const parameters = new URLSearchParams(search)
  const body: Record<string, unknown> = {}
  const written = new Map<string, string>()
  for (const name of ['query', 'documentId', 'operationName', 'variables', 'extensions']) {
    const value = parameters.get(name)
    if (value === null) continue
    const isText = name !== 'variables' && name !== 'extensions'
    body[name] = isText ? value : parseJson(jsonText(utf8(value), undefined))
    if (isText || !INEXACT.test(value)) continue
    jsonMembers(value)
    written.set(name, value)
  }
  return requestOf(body, written)
}

/**
 * The body for the upstream, rebuilt from the checked values. With duplicate members, the upstream might otherwise use an
 * unchecked one.
 */
export function bodyOf(query: string, { operationName, written }: GraphqlRequest): Uint8Array {
  const members = [`"query":${JSON.stringify(query)}`]
  if (operationName !== undefined) members.push(`"operationName":${JSON.stringify(operationName)}`)
  if (written.variables !== undefined) members.push(`"variables":${written.variables}`)
  if (written.extensions !== undefined) members.push(`"extensions":${written.extensions}`)
  return utf8(`{${members.join(',')}}`)
}

function requestOf(body: JsonObject, exact?: ReadonlyMap<string, string>): GraphqlRequest {
  const { query, documentId, operationName, variables, extensions } = body
  if (query != null && typeof query !== 'string') throw malformed('"query" must be a string.')
  if (documentId != null && typeof documentId !== 'string') throw malformed('"documentId" must be a string.')
  if (operationName != null && typeof operationName !== 'string') throw malformed('"operationName" must be a string.')
  if (variables != null && !isObject(variables)) throw malformed('"variables" must be a JSON object.')
  if (extensions != null && !isObject(extensions)) throw malformed('"extensions" must be a JSON object.')
  const text = (name: string, value: unknown) =>
    value == null ? undefined : (exact?.get(name) ?? JSON.stringify(value))
  return {
    ...(query == null ? {} : { query }),
    ...(documentId == null ? {} : { documentId }),
    ...(operationName == null ? {} : { operationName }),
    variables: variables ?? {},
    extensions: extensions ?? {},
    written: { variables: text('variables', variables), extensions: text('extensions', extensions) }
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
