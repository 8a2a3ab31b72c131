import type { Inspection } from '../../lib/interface/adapter.ts'
import { describeSchema } from './graphql-schema.ts'
import { type Introspection, sdlIn } from './introspection.ts'
import { givenSdl, schemaOf } from './built-schema.ts'

/** A schema as read, and the provider's settings for it. */
export interface SchemaInput {
  /** The introspection response, or the provider's SDL. */
  readonly read: Introspection | string
  readonly hidden: readonly string[]
  /** Whether the schema itself is published. Default true. */
  readonly introspection?: boolean | undefined
}

/** The stored snapshot and the published description of a schema. @throws SoukError `invalid_request` with the problem */
export function importSchema({ read, hidden, introspection }: SchemaInput): Inspection {
  const sdl = typeof read === 'string' ? givenSdl(read) : sdlIn(read)
  return {
    ...describeSchema(schemaOf(sdl, hidden), introspection, hidden.length === 0 ? sdl : undefined),
    snapshot: sdl
  }
}
