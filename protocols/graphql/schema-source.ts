import {
  GraphQLError,
  type GraphQLSchema,
  assertValidSchema,
  buildASTSchema,
  printSchema,
  validateSchema
} from 'graphql'
import { sha256 } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import { DESCRIPTION_REST_MS, FAILURE_DETAIL_CHARS_MAX, GRAPHQL_SCHEMA_FRESH_MS } from '../../lib/base/limits.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { withoutHidden } from './hidden-schema.ts'
import type { Introspection } from './introspection.ts'
import { schemaDocument } from './schema-document.ts'

/** The schema that documents are checked against: as it was read last, and without what its provider hides. */
export interface SchemaSource {
  /** Undefined where none was ever read: then only the API itself can check a document. */
  readonly current: GraphQLSchema | undefined
  /** Reads it again, unless that was done just now. One read at a time, whoever asks. Never rejects: what was known stays. */
  refresh(): Promise<void>
  /** Told the SDL whenever it has changed. */
  onChange: ((sdl: string) => void) | undefined
}

export interface SchemaSourceInit {
  /** SDL; empty where the schema was never read. */
  readonly sdl: string
  readonly hidden: readonly string[]
  readonly clock: Clock
  /** Asks the API for its schema. Absent where it does not tell it. */
  readonly read?: () => Promise<Introspection>
}

/** @throws SoukError `invalid_request` where the schema is none without what is hidden */
export function createSchemaSource({ sdl, hidden, clock, read }: SchemaSourceInit): SchemaSource {
  let known: Uint8Array | undefined
  let current = sdl === '' ? undefined : schemaOf(sdl, hidden)
  let readAt = -Infinity
  let reading: Promise<void> | undefined
  let published = sdl
  let onChange: ((sdl: string) => void) | undefined

  async function readAgain(read: () => Promise<Introspection>): Promise<void> {
    let restMs = 0
    try {
      const answer = await read()
      // Making a large schema takes a while, which is spent for news only.
      const digest = sha256(answer.bytes)
      if (known !== undefined && Buffer.compare(digest, known) === 0) return
      const { snapshot: fresh } = await descriptionWorker.run('importSchema', { read: answer, hidden })
      current = schemaOf(fresh, hidden)
      known = digest
      if (fresh === published) return
      published = fresh
      onChange?.(fresh)
    } catch (error) {
      if (isSoukError(error) && error.code === 'description_too_complex') restMs = DESCRIPTION_REST_MS
      // It may be down, or have turned introspection off since: documents are checked against what was known.
    } finally {
      readAt = clock.elapsed() + restMs
      reading = undefined
    }
  }

  return {
    get current() {
      return current
    },
    get onChange() {
      return onChange
    },
    set onChange(listener) {
      onChange = listener
    },
    async refresh() {
      if (read === undefined || clock.elapsed() - readAt < GRAPHQL_SCHEMA_FRESH_MS) return
      await (reading ??= readAgain(read))
    }
  }
}

/**
 * A schema that its provider gives, as `printSchema` writes it.
 * @throws SoukError `invalid_request`
 */
export function givenSdl(text: string): string {
  try {
    const schema = buildASTSchema(schemaDocument(text))
    assertValidSchema(schema)
    return printSchema(schema)
  } catch (cause) {
    if (isSoukError(cause)) throw cause
    // It is the provider's own text that these words are about.
    const why = cause instanceof Error ? cause.message.replace('Syntax Error: ', '') : ''
    const line = cause instanceof GraphQLError ? cause.locations?.[0]?.line : undefined
    const where = line === undefined ? '' : ` (line ${line})`
    const detail = `The schema that you give is not valid${where}: ${why.slice(0, FAILURE_DETAIL_CHARS_MAX / 4)}`
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
    'Without what is hidden the schema is not valid: hide what depends on it too.',
    {
      cause: error
    }
  )
}
