import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  buildASTSchema,
  printSchema,
  validateSchema,
  visit
} from 'graphql'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import { FAILURE_DETAIL_CHARS_MAX } from '../../lib/base/limits/call.ts'
import { GRAPHQL_SCHEMA_NOTES_MAX } from '../../lib/base/limits/graphql.ts'
import { withoutHidden } from './hidden-schema.ts'
import { introspectedDocument, optional } from './introspected-document.ts'
import { printedDocument, schemaDocument } from './schema-document.ts'
import { repaired } from './schema-repair.ts'
import { withEntities } from './subgraph.ts'

/** A schema as it is stored, with warnings for the provider. */
export interface ImportedSchema {
  readonly sdl: string
  readonly warnings: readonly string[]
}

/**
 * Reads a schema that the provider supplies: SDL, or an introspection response as JSON.
 * @throws SoukError `invalid_request`
 */
export function givenSchema(text: string): ImportedSchema {
  const introspected = introspectionIn(text)
  if (introspected !== undefined) return introspectedSchema(introspected)
  try {
    return imported(withEntities(schemaDocument(text)), [])
  } catch (cause) {
    if (isSoukError(cause)) throw cause
    // The message is about the provider's own text, so it may be shown.
    const why = cause instanceof Error ? cause.message.replace('Syntax Error: ', '') : ''
    const line = cause instanceof GraphQLError ? cause.locations?.[0]?.line : undefined
    const where = line === undefined ? '' : ` (line ${line})`
    const detail = `The schema that you supplied is not valid${where}: ${why.slice(0, FAILURE_DETAIL_CHARS_MAX / 4)}`
    throw new SoukError('invalid_request', detail, { cause })
  }
}

/**
 * Reads the `__schema` of an introspection response.
 * @throws SoukError `invalid_request`
 */
export function introspectedSchema(schema: unknown): ImportedSchema {
  try {
    const notes: string[] = []
    return imported(
      introspectedDocument(schema, (note) => notes.push(note)),
      notes
    )
  } catch (cause) {
    if (isSoukError(cause) || cause instanceof RangeError) throw cause
    throw new SoukError('invalid_request', 'The schema that introspection returned is not valid.', { cause })
  }
}

/** Only a JSON text starts with a brace. */
function introspectionIn(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const { data, ...rest } = JSON.parse(text) as { readonly data?: object }
    return Object.entries({ ...rest, ...data }).find(([name]) => name === '__schema')?.[1]
  } catch {
    return undefined
  }
}

/** @throws SoukError `invalid_request` */
function imported(document: DocumentNode, notes: readonly string[]): ImportedSchema {
  const { document: whole, notes: repairs } = repaired(document)
  const first = buildASTSchema(whole, { assumeValidSDL: true })
  // Every schema has a query type (specification, section 3.3.1).
  if (first.getQueryType() == null)
    throw new SoukError('invalid_request', 'The schema is not valid: it has no query type.')
  const errors = validateSchema(first)
  const { document: usable, dropped } = withoutDefaults(whole, errors)
  const schema = dropped ? buildASTSchema(usable, { assumeValidSDL: true }) : first
  const warnings = [...few('was changed', [...notes, ...repairs]), ...few('is used as it is', errors.map(fault))]
  return { sdl: printSchema(schema), warnings }
}

function fault({ message }: GraphQLError): string {
  return message.slice(0, FAILURE_DETAIL_CHARS_MAX / 4)
}

/** At most one warning for all: a schema may have thousands of the same fault. */
function few(done: string, notes: readonly string[]): string[] {
  if (notes.length === 0) return []
  const more = notes.length - GRAPHQL_SCHEMA_NOTES_MAX
  const rest = more > 0 ? ` And ${more} more.` : ''
  const places = notes.length === 1 ? 'one place' : `${notes.length} places`
  return [
    `The schema is not valid in ${places}, and ${done} there. ${notes.slice(0, GRAPHQL_SCHEMA_NOTES_MAX).join(' ')}${rest}`
  ]
}

/** Checking a document applies default values, which fails for one that is invalid. The API has its own. */
function withoutDefaults(document: DocumentNode, errors: readonly GraphQLError[]) {
  const faulty = new Set<ASTNode | undefined>(errors.flatMap(({ nodes }) => nodes ?? []))
  let dropped = false
  const isFaulty = (node: ASTNode): boolean => {
    let found = false
    visit(node, { enter: (inner) => void (found ||= faulty.has(inner)) })
    return found
  }
  const usable = visit(document, {
    InputValueDefinition(node): InputValueDefinitionNode | undefined {
      const { defaultValue, ...rest } = node
      if (defaultValue === undefined || !(faulty.has(node) || isFaulty(defaultValue))) return undefined
      dropped = true
      return { ...rest, type: optional(node.type) }
    }
  })
  return { document: usable, dropped }
}

/**
 * Builds a stored schema without its hidden parts, in steps of a few milliseconds. The schema counts as valid: it was checked
 * when it was read.
 *
 * @throws SoukError `invalid_request` for a hidden name that the schema does not have
 */
export function* schemaSteps(sdl: string, hidden: readonly string[]): Generator<undefined, GraphQLSchema> {
  const document = withoutHidden(yield* printedDocument(sdl), hidden)
  yield
  return buildASTSchema(document, { assumeValid: true })
}

/**
 * The stored schema without its hidden parts, checked.
 * @throws SoukError `invalid_request` if hiding them makes it invalid
 */
export function shownSchema(sdl: string, hidden: readonly string[]): GraphQLSchema {
  const document = schemaDocument(sdl)
  const whole = buildASTSchema(document, { assumeValidSDL: true })
  if (hidden.length === 0) return whole
  const schema = buildASTSchema(withoutHidden(document, hidden), { assumeValidSDL: true })
  const before = new Set(validateSchema(whole).map(({ message }) => message))
  const cause = validateSchema(schema).find(({ message }) => !before.has(message))
  if (cause === undefined) return schema
  throw new SoukError(
    'invalid_request',
    'The schema is not valid without its hidden parts. Hide the parts that depend on them as well.',
    { cause }
  )
}
