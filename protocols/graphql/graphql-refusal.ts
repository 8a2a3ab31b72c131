import type { GraphQLError } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'

/**
 * Why a request is answered here, in GraphQL's own form, and reaches nobody:
 * - `malformed`: its parameters are not what GraphQL over HTTP takes;
 * - `invalid`: its document or variables are not what the API's schema, or its provider, takes;
 * - `method`: a GET may not do it.
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

  /** The response, whatever media type it is sent as. */
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

/** @param code - for programs; rides in `extensions.code`, where Apollo's servers put theirs */
export function invalid(message: string, code?: string): GraphqlRefusal {
  return new GraphqlRefusal('invalid', [code === undefined ? { message } : { message, extensions: { code } }])
}
