import {
  assertValidSchema,
  buildASTSchema,
  GraphQLError,
  type GraphQLSchema,
  printSchema,
  validateSchema
} from 'graphql'
import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import { FAILURE_DETAIL_CHARS_MAX } from '../../lib/base/limits/call.ts'
import { withoutHidden } from './hidden-schema.ts'
import { schemaDocument } from './schema-document.ts'

/**
 * Validates a schema that the provider supplies, and prints it with `printSchema`.
 * @throws SoukError `invalid_request`
 */
export function givenSdl(text: string): string {
  try {
    const schema = buildASTSchema(schemaDocument(text))
    assertValidSchema(schema)
    return printSchema(schema)
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

/** @throws SoukError `invalid_request` */
export function schemaOf(sdl: string, hidden: readonly string[]): GraphQLSchema {
  const document = schemaDocument(sdl, { noLocation: true })
  const schema = buildASTSchema(withoutHidden(document, hidden), { assumeValidSDL: true })
  if (hidden.length === 0) return schema
  const [error] = validateSchema(schema)
  if (error === undefined) return schema
  throw new SoukError(
    'invalid_request',
    'The schema is not valid without its hidden parts. Hide the parts that depend on them as well.',
    {
      cause: error
    }
  )
}
