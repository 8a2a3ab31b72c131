import type { GraphQLSchema } from 'graphql'
import { sha256 } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { isSoukError } from '../../lib/base/errors.ts'
import { DESCRIPTION_REST_MS, GRAPHQL_SCHEMA_FRESH_MS } from '../../lib/base/limits.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { schemaOf } from './built-schema.ts'
import type { Introspection } from './introspection.ts'

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
