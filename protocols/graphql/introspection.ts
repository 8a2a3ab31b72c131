import { type IntrospectionQuery, buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { RESPONSE_TYPE } from './graphql-accept.ts'
import { type GraphqlResponse, responseIn } from './graphql-response.ts'

/** The response of an endpoint to an introspection query. */
export interface Introspection {
  readonly status: number
  readonly bytes: Uint8Array
}

/** @throws SoukError those of `Upstream.request` */
export function readIntrospection(upstream: Upstream, signal: AbortSignal): Promise<Introspection> {
  return ask(upstream, getIntrospectionQuery(), signal)
}

/**
 * Checks that the endpoint is a GraphQL API, with or without introspection.
 * @throws SoukError `invalid_request`, and those of `Upstream.request`
 */
export async function checkResponses(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const { status, bytes } = await ask(upstream, '{ __typename }', signal)
  checkResponse(status, responseIn(bytes))
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
 * The introspected schema in SDL.
 * @throws SoukError `invalid_request` with the reason if there is none
 */
export function sdlIn({ status, bytes }: Introspection): string {
  return sdlOf(status, responseIn(bytes))
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

function sdlOf(status: number, answer: GraphqlResponse | undefined): string {
  const response = checkResponse(status, answer)
  const introspected = response.data != null && '__schema' in response.data ? response.data : undefined
  if (introspected === undefined) {
    const isOff = response.errors?.some(({ message }) => /introspection|__schema/i.test(String(message))) === true
    throw refuse(
      isOff
        ? 'The API has introspection turned off, so its schema cannot be read. Turn it on while you register, or supply the schema.'
        : 'The API returns GraphQL responses, but introspection does not return its schema. Supply the schema.'
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

const INVALID_SCHEMA = 'The schema that introspection returned is not valid.'

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { source: 'upstream', cause })
}
