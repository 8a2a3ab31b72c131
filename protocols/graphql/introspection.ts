import { type IntrospectionQuery, buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits.ts'
import type { Upstream } from '../upstream.ts'
import { RESPONSE_TYPE } from './graphql-accept.ts'
import { type GraphqlResponse, responseIn } from './graphql-response.ts'

/**
 * Asks an endpoint for its schema.
 * @returns SDL
 * @throws SoukError `invalid_request` that says why there is no schema to be had, and what `Upstream.request` throws
 */
export async function readSdl(upstream: Upstream, signal: AbortSignal): Promise<string> {
  const response = await upstream.request({
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['accept', `${RESPONSE_TYPE}, application/json;q=0.9`]
    ],
    body: utf8(JSON.stringify({ query: getIntrospectionQuery() })),
    signal
  })
  return sdlOf(response.status, responseIn(await response.bytes(RESPONSE_BYTES_MAX)))
}

function sdlOf(status: number, response: GraphqlResponse | undefined): string {
  if (status === 401 || status === 403) {
    throw refuse(`The endpoint answers ${status}: it wants credentials, so its schema cannot be read.`)
  }
  if (response === undefined) {
    throw refuse(
      `The endpoint does not answer in GraphQL (HTTP ${status}). Is it the address that queries are posted to?`
    )
  }
  const introspected = response.data != null && '__schema' in response.data ? response.data : undefined
  if (introspected === undefined) {
    const isOff = response.errors?.some(({ message }) => /introspection|__schema/i.test(String(message))) === true
    throw refuse(
      isOff
        ? 'The API has introspection turned off, so its schema cannot be read. Turn it on while you register.'
        : 'The API answers in GraphQL, but does not give its schema when asked for it by introspection.'
    )
  }
  try {
    const schema = buildClientSchema(introspected as unknown as IntrospectionQuery)
    // Every schema has a query type (specification, section 3.3.1).
    if (schema.getQueryType() != null) return printSchema(schema)
  } catch (cause) {
    throw refuse(INVALID_SCHEMA, cause)
  }
  throw refuse(INVALID_SCHEMA)
}

const INVALID_SCHEMA = 'The schema that the API gives by introspection is not valid.'

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { source: 'upstream', cause })
}
