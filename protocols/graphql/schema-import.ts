import type { ApiDescription, Inspection } from '../../lib/interface/adapter.ts'
import { boundedWarnings } from '../description-worker/bounded-warnings.ts'
import { type ImportedSchema, givenSchema, introspectedSchema, shownSchema } from './built-schema.ts'
import { type Described, describeSchema } from './graphql-schema.ts'
import { type Introspection, schemaIn } from './introspection.ts'

/** A schema as read, and the provider's settings for it. */
export interface SchemaInput extends ShownParts {
  /** The introspection response, or the provider's schema. */
  readonly read: Introspection | string
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
export function importSchema({ read, ...shown }: SchemaInput): Inspection {
  const { sdl, warnings }: ImportedSchema =
    typeof read === 'string' ? givenSchema(read) : introspectedSchema(schemaIn(read))
  const described = describe({ sdl, ...shown })
  return {
    description: described.description,
    warnings: boundedWarnings([...warnings, ...described.warnings]),
    snapshot: sdl
  }
}

/** The published description of a stored schema. */
export function describeStored(stored: StoredSchema): ApiDescription {
  return describe(stored).description
}

function describe({ sdl, hidden, introspection }: StoredSchema): Described {
  return describeSchema(shownSchema(sdl, hidden), introspection, hidden.length === 0 ? sdl : undefined)
}
