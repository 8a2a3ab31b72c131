import { type IntrospectionQuery, buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits.ts'
import type { AdapterFactory } from '../../lib/interface/adapter.ts'
import { diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream.ts'
import { GRAPHQL_ACCEPT, graphqlAdapter } from './graphql-adapter.ts'
import { type GraphqlResponse, responseIn } from './graphql-response.ts'
import { describeSdl } from './graphql-schema.ts'

/**
 * GraphQL over HTTP: one query or mutation per call, answered as the API answers it, partial data and errors included
 * (spec section 4.4). The snapshot is the schema in SDL.
 */
export const graphqlFactory: AdapterFactory = {
  protocol: 'GraphQL',

  async inspect(config, signal) {
    const upstream = createUpstream(config)
    try {
      const response = await upstream.request({
        method: 'POST',
        headers: [
          ['content-type', 'application/json'],
          ['accept', GRAPHQL_ACCEPT]
        ],
        body: utf8(JSON.stringify({ query: getIntrospectionQuery() })),
        signal
      })
      const sdl = sdlOf(response.status, responseIn(await response.bytes(RESPONSE_BYTES_MAX)))
      return { ...describeSdl(sdl), snapshot: sdl }
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await upstream.close()
    }
  },

  open: graphqlAdapter
}

/** @throws SoukError `invalid_request` that says why there is no schema to be had. */
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
