import type { GraphQLSchema } from 'graphql'
import { sha256 } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { isSoukError } from '../../lib/base/errors.ts'
import { DESCRIPTION_REST_MS } from '../../lib/base/limits/descriptions.ts'
import { GRAPHQL_SCHEMA_FRESH_MS } from '../../lib/base/limits/graphql.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { schemaSteps } from './built-schema.ts'
import type { Introspection } from './introspection.ts'

/** The schema that documents are checked against: as last read, without hidden parts. */
export interface SchemaSource {
  /**
   * Undefined if no schema was ever read; then only the API checks documents. Rejects with SoukError `invalid_request` if a hidden
   * part is not in the schema.
   */
  readonly current: Promise<GraphQLSchema | undefined>
  /** The SDL of `current`, with hidden parts. */
  readonly sdl: string
  /**
   * Reads the schema again, unless it was read recently. Concurrent callers share one read. Never rejects: after an error, the
   * known schema stays.
   */
  refresh(): Promise<void>
  /** Called with the SDL whenever it has changed. */
  onChange: ((sdl: string) => void) | undefined
}

export interface SchemaSourceInit {
  /** SDL; empty if the schema was never read. */
  readonly sdl: string
  readonly hidden: readonly string[]
  readonly clock: Clock
  /** Introspects the API. Absent if introspection is not available. */
  readonly read?: () => Promise<Introspection>
}

export function createSchemaSource({ sdl, hidden, clock, read }: SchemaSourceInit): SchemaSource {
  let known: Uint8Array | undefined
  let current = sdl === '' ? Promise.resolve(undefined) : built(sdl)
  // Reported to each call that waits for it.
  current.catch(() => undefined)
  let readAt = -Infinity
  let reading: Promise<void> | undefined
  let published = sdl
  let onChange: ((sdl: string) => void) | undefined

  /** Other calls are served between two steps. */
  async function built(text: string): Promise<GraphQLSchema> {
    const steps = schemaSteps(text, hidden)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
  }

  async function readAgain(read: () => Promise<Introspection>): Promise<void> {
    let restMs = 0
    try {
      const answer = await read()
      // Building a large schema takes time, so it is built only after a change.
      const digest = sha256(answer.bytes)
      if (known !== undefined && Buffer.compare(digest, known) === 0) return
      const { snapshot: fresh } = await descriptionWorker.run('importSchema', {
        read: answer,
        hidden,
        before: published
      })
      const schema = fresh === published ? undefined : await built(fresh)
      known = digest
      if (schema === undefined) return
      current = Promise.resolve(schema)
      published = fresh
      onChange?.(fresh)
    } catch (error) {
      if (isSoukError(error) && error.code === 'description_too_complex') restMs = DESCRIPTION_REST_MS
      // The API may be down, or have turned off introspection. The known schema stays.
    } finally {
      readAt = clock.elapsed() + restMs
      reading = undefined
    }
  }

  return {
    get current() {
      return current
    },
    get sdl() {
      return published
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
