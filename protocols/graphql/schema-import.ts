import { lexicographicSortSchema, printSchema } from 'graphql'
import type { ApiDescription, Inspection } from '../../lib/interface/adapter.ts'
import { boundedWarnings } from '../description-worker/bounded-warnings.ts'
import { type ImportedSchema, givenSchema, introspectedSchema, shownSchema } from './built-schema.ts'
import { type Described, describeSchema } from './graphql-schema.ts'
import { type Introspection, schemaIn } from './introspection.ts'

/** A schema as read, and the provider's settings for it. */
export interface SchemaInput extends ShownParts {
  /** The introspection response, or the provider's schema. */
  readonly read: Introspection | string
  /** The schema as stored. It is the snapshot again if `read` only has another order. */
  readonly before?: string
}

/** A stored schema, and the provider's settings for it. */
export interface StoredSchema extends ShownParts {
  readonly sdl: string
}

interface ShownParts {
  readonly hidden: readonly string[]
  /** Whether the schema itself is published. Default true. */
  readonly introspection?: boolean | undefined
}

/** The stored snapshot and the published description of a schema. @throws SoukError `invalid_request` with the problem */
export function importSchema({ read, before, ...shown }: SchemaInput): Inspection {
  const { sdl: fresh, warnings }: ImportedSchema =
    typeof read === 'string' ? givenSchema(read) : introspectedSchema(schemaIn(read))
  const sdl = before !== undefined && before !== '' && sorted(before) === sorted(fresh) ? before : fresh
  const described = describe({ sdl, ...shown })
  return {
    description: described.description,
    warnings: boundedWarnings([...warnings, ...described.warnings]),
    snapshot: sdl
  }
}

/** Some servers list their types in another order in each response. */
function sorted(sdl: string): string {
  return printSchema(lexicographicSortSchema(shownSchema(sdl, [])))
}

/** The published description of a stored schema. */
export function describeStored(stored: StoredSchema): ApiDescription {
  return describe(stored).description
}

function describe({ sdl, hidden, introspection }: StoredSchema): Described {
  return describeSchema(shownSchema(sdl, hidden), introspection, hidden.length === 0 ? sdl : undefined)
}
