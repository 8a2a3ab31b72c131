import type { Inspection } from '../../lib/interface/adapter.ts'
import { describeSchema } from './graphql-schema.ts'
import { type Introspection, sdlIn } from './introspection.ts'
import { givenSdl, schemaOf } from './built-schema.ts'

/** A schema as it was read, and what its provider says of it. */
export interface SchemaInput {
  /** The answer to the question for it, or the SDL that its provider gives. */
  readonly read: Introspection | string
  readonly hidden: readonly string[]
  /** The schema itself is published. Default true. */
  readonly introspection?: boolean | undefined
}

/** What is kept of a schema and published of it. @throws SoukError `invalid_request`, saying what is wrong with it */
export function importSchema({ read, hidden, introspection }: SchemaInput): Inspection {
  const sdl = typeof read === 'string' ? givenSdl(read) : sdlIn(read)
  return {
    ...describeSchema(schemaOf(sdl, hidden), introspection, hidden.length === 0 ? sdl : undefined),
    snapshot: sdl
  }
}
