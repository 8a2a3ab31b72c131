import { type GraphQLSchema, buildASTSchema, parse, validateSchema } from 'graphql'
import { sha256 } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { GRAPHQL_SCHEMA_FRESH_MS } from '../../lib/base/limits.ts'
import { withoutHidden } from './hidden-schema.ts'
import { type Introspection, sdlIn } from './introspection.ts'

/** The schema that documents are checked against: as it was read last, and without what its provider hides. */
export interface SchemaSource {
  /** Undefined where none was ever read: then only the API itself can check a document. */
  readonly current: GraphQLSchema | undefined
  /** Reads it again, unless that was done just now. One read at a time, whoever asks. Never rejects: what was known stays. */
  refresh(): Promise<void>
}

export interface SchemaSourceInit {
  /** SDL; empty where the schema was never read. */
  readonly sdl: string
  readonly hidden: readonly string[]
  readonly clock: Clock
  /** Asks the API for its schema. */
  readonly read: () => Promise<Introspection>
}

/** @throws SoukError `invalid_request` where the schema is none without what is hidden */
export function createSchemaSource({ sdl, hidden, clock, read }: SchemaSourceInit): SchemaSource {
  let known: Uint8Array | undefined
  let current = sdl === '' ? undefined : schemaOf(sdl, hidden)
  let readAt = -Infinity
  let reading: Promise<void> | undefined

  async function readAgain(): Promise<void> {
    try {
      const answer = await read()
      // Making a large schema takes a while, which is spent for news only.
      const digest = sha256(answer.bytes)
      if (known !== undefined && Buffer.compare(digest, known) === 0) return
      current = schemaOf(sdlIn(answer), hidden)
      known = digest
    } catch {
      // It may be down, or have turned introspection off since: documents are checked against what was known.
    } finally {
      readAt = clock.elapsed()
      reading = undefined
    }
  }

  return {
    get current() {
      return current
    },
    async refresh() {
      if (clock.elapsed() - readAt < GRAPHQL_SCHEMA_FRESH_MS) return
      await (reading ??= readAgain())
    }
  }
}

/** @throws SoukError `invalid_request` */
export function schemaOf(sdl: string, hidden: readonly string[]): GraphQLSchema {
  const schema = buildASTSchema(withoutHidden(parse(sdl, { noLocation: true }), hidden), { assumeValidSDL: true })
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
