import type { GraphQLError, GraphQLFormattedError } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'

/**
 * Why a request gets a GraphQL error from this node without reaching the API:
 * - `malformed`: its parameters violate GraphQL over HTTP;
 * - `invalid`: its document or variables violate the schema or the provider's limits;
 * - `method`: the operation is not allowed by GET.
 */
export type RefusalKind = 'malformed' | 'invalid' | 'method'

/** A request error (GraphQL specification, section 7.1.2). */
export class GraphqlRefusal extends Error {
  override readonly name = 'GraphqlRefusal'
  readonly kind: RefusalKind
  readonly errors: readonly GraphQLFormattedError[]

  /** @param code - for programs, in `extensions.code`. Where Apollo Server and Yoga have a code, it is theirs */
  constructor(kind: RefusalKind, code: string, errors: string | readonly GraphQLError[]) {
    const list = typeof errors === 'string' ? [{ message: errors }] : errors.map((error) => error.toJSON())
    super(list[0]?.message)
    this.kind = kind
    this.errors = list.map((error) => ({ ...error, extensions: { ...error.extensions, code } }))
  }

  /** The body of the response, for any media type. */
  get body(): Uint8Array {
    return utf8(JSON.stringify({ errors: this.errors }))
  }
}

export function malformed(message: string): GraphqlRefusal {
  return new GraphqlRefusal('malformed', 'BAD_REQUEST', message)
}

export function invalid(message: string, code = 'BAD_REQUEST'): GraphqlRefusal {
  return new GraphqlRefusal('invalid', code, message)
}
