import { z } from 'zod'
import { PROTOCOLS } from '../../lib/interface/index.ts'
import { upstreamShape } from './upstream-input.ts'

/** What the admin API takes and gives of what APIs are: their operations and schemas. As in `api.ts`. */

export interface OperationView {
  readonly name: string
  readonly description?: string
  /** JSON Schemas (draft 2020-12), where known. */
  readonly input?: { readonly [keyword: string]: unknown }
  readonly output?: { readonly [keyword: string]: unknown }
}

/** `GET /apis/{name}/description` */
export interface DescriptionView {
  readonly operations: readonly OperationView[]
  /** GraphQL only: the schema in SDL; null where it is not told. */
  readonly sdl: string | null
}

/** `POST /upstreams/check` */
export const upstreamCheckSchema = z.strictObject({
  /** Of an API that is registered here: its credentials are used, where none are given and the origin is the same. */
  name: z.string().optional(),
  protocol: z.enum(PROTOCOLS),
  ...upstreamShape
})
export type UpstreamCheckInput = z.input<typeof upstreamCheckSchema>

/** What was found at an upstream; nothing of it is kept or published. */
export interface UpstreamCheckView extends DescriptionView {
  readonly warnings: readonly string[]
}

/** `POST /upstreams/call` */
export const upstreamCallSchema = z.strictObject({
  upstream: upstreamCheckSchema,
  /** As a consumer would send it. */
  body: z.json()
})
export type UpstreamCallInput = z.input<typeof upstreamCallSchema>

/** One call as the adapter makes it: not published, not charged, not counted. */
export interface UpstreamCallView {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [string, string]>
  /** A call of a consumer would be charged for it. */
  readonly success: boolean
  /** Until the upstream's head. */
  readonly upstream_ms: number
  /** Bytes of the body that were read, as text where they are; a long or endless one is cut. */
  readonly body: string
  readonly is_cut: boolean
}

/** `POST /apis/{name}/mapping/preview`: the API as consumers would see it, or what does not fit. */
export interface MappingPreviewView extends DescriptionView {
  readonly problems: ReadonlyArray<{ readonly at: string; readonly problem: string }>
}
