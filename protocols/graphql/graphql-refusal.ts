import type { GraphQLError } from 'graphql'
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
  readonly errors: ReadonlyArray<GraphQLError | RequestError>

  constructor(kind: RefusalKind, errors: string | ReadonlyArray<GraphQLError | RequestError>) {
    const list = typeof errors === 'string' ? [{ message: errors }] : errors
    super(list[0]?.message)
    this.kind = kind
    this.errors = list
  }

  /** The body of the response, for any media type. */
  get body(): Uint8Array {
    return utf8(JSON.stringify({ errors: this.errors }))
  }
}

interface RequestError {
  readonly message: string
  readonly extensions?: { readonly code: string }
}

export function malformed(message: string): GraphqlRefusal {
  return new GraphqlRefusal('malformed', message)
}

/** @param code for programs, in `extensions.code`, where Apollo's servers put theirs */
export function invalid(message: string, code?: string): GraphqlRefusal {
  return new GraphqlRefusal('invalid', [code === undefined ? { message } : { message, extensions: { code } }])
}
