import { type IntrospectionOptions, getIntrospectionQuery } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { RESPONSE_TYPE } from './graphql-accept.ts'
import { type GraphqlResponse, responseIn } from './graphql-response.ts'
import { type Json, list } from './introspected-document.ts'

/** The response of an endpoint to an introspection query. */
export interface Introspection {
  readonly status: number
  readonly bytes: Uint8Array
}

/** Reads the schema of an endpoint. @throws SoukError those of `Upstream.request` */
export type Introspector = (signal: AbortSignal) => Promise<Introspection>

const NEWEST: IntrospectionOptions = {
  inputValueDeprecation: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  oneOf: true
}
/** A longer response is a schema, which only the process for descriptions parses, or no response to such a question. */
const SHORT_BYTES_MAX = 64 * 1024
/** The query that every server knows since 2016. Some servers refuse documents that are nested deeper. */
const OLDEST: IntrospectionOptions = { typeDepth: 7 }

const SCHEMA = '__schema'
/** Which members of introspection a server knows. They were added to the specification one by one. */
const KNOWN = `{
  type: __type(name: "__Type") { fields { name args { name } } }
  directive: __type(name: "__Directive") { fields { name args { name } } }
  schema: __type(name: "__Schema") { fields { name } }
}`

/**
 * Asks for everything that the server knows. A server rejects a document with a member that it does not know; it is then asked
 * what it knows, and the oldest form of the query comes last. Remembers the form that worked.
 */
export function introspector(upstream: Upstream): Introspector {
  let worked: IntrospectionOptions | undefined
  return async (signal) => {
    const forms = [() => worked ?? NEWEST, () => knownBy(upstream, signal), () => OLDEST]
    let answer: Introspection | undefined
    for (const form of forms) {
      const options = await form()
      if (options === undefined) continue
      answer = await ask(upstream, getIntrospectionQuery(options), signal)
      const isLong = answer.bytes.length > SHORT_BYTES_MAX
      const response = shortResponseIn(answer.bytes)
      worked = isLong || response?.data != null ? options : undefined
      if (worked !== undefined || response?.errors == null) break
    }
    return answer as Introspection
  }
}

/** Undefined if the server does not say. */
async function knownBy(upstream: Upstream, signal: AbortSignal): Promise<IntrospectionOptions | undefined> {
  const { bytes } = await ask(upstream, KNOWN, signal)
  const { type, directive, schema } = (shortResponseIn(bytes)?.data ?? {}) as Readonly<
    Record<string, Json | null | undefined>
  >
  if (type == null) return undefined
  const named = (all: unknown, wanted: string) => list(all).find(({ name }) => name === wanted)
  const has = (of: Json | null | undefined, name: string) => named(of?.['fields'], name) !== undefined
  const takes = (of: Json | null | undefined, name: string) =>
    named(named(of?.['fields'], name)?.['args'], 'includeDeprecated') !== undefined
  return {
    // The query needs it of directives too.
    inputValueDeprecation: takes(type, 'inputFields') && takes(directive, 'args'),
    specifiedByUrl: has(type, 'specifiedByURL'),
    directiveIsRepeatable: has(directive, 'isRepeatable'),
    schemaDescription: has(schema, 'description'),
    oneOf: has(type, 'isOneOf')
  }
}

/**
 * Checks that the endpoint is a GraphQL API, with or without introspection.
 * @throws SoukError `invalid_request`, and those of `Upstream.request`
 */
export async function checkResponses(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const { status, bytes } = await ask(upstream, '{ __typename }', signal)
  checkResponse(status, shortResponseIn(bytes))
}

function shortResponseIn(bytes: Uint8Array): GraphqlResponse | undefined {
  return bytes.length > SHORT_BYTES_MAX ? undefined : responseIn(bytes)
}

async function ask(upstream: Upstream, query: string, signal: AbortSignal): Promise<Introspection> {
  const response = await upstream.request({
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['accept', `${RESPONSE_TYPE}, application/json;q=0.9`]
    ],
    body: utf8(JSON.stringify({ query })),
    signal
  })
  return { status: response.status, bytes: await response.bytes(RESPONSE_BYTES_MAX) }
}

/**
 * The introspected `__schema`.
 * @throws SoukError `invalid_request` with the reason if there is none
 */
export function schemaIn({ status, bytes }: Introspection): unknown {
  const response = checkResponse(status, responseIn(bytes))
  if (response.data != null && SCHEMA in response.data) return response.data[SCHEMA]
  const isOff = response.errors?.some((error) => /introspection|__schema/i.test(String(error?.message))) === true
  throw refuse(
    isOff
      ? 'The API has introspection turned off, so its schema cannot be read. Turn it on while you register, or supply the schema.'
      : 'The API returns GraphQL responses, but introspection does not return its schema. Supply the schema.'
  )
}

function checkResponse(status: number, response: GraphqlResponse | undefined): GraphqlResponse {
  if (status === 401 || status === 403) {
    throw refuse(`The endpoint responds with ${status}: it requires credentials, so its schema cannot be read.`)
  }
  if (response === undefined) {
    throw refuse(
      `The endpoint does not return a GraphQL response (HTTP ${status}). Check that queries are posted to this address.`
    )
  }
  return response
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail, { source: 'upstream' })
}
