import { z } from 'zod'
import { type JsonSchema, LISTING_SORTS } from '../../lib/interface/index.ts'
import type { StandingView } from '../standing-view.ts'
import { amount, type ListingView } from './api.ts'

/** `GET /search` */
export const searchSchema = z.strictObject({
  q: z.string().optional(),
  protocol: z.string().optional(),
  tag: z.string().optional(),
  max_price: amount.optional(),
  /** 0 to 1. */
  min_quality: z.coerce.number().min(0).max(1).optional(),
  sort: z.enum(LISTING_SORTS).optional(),
  limit: z.coerce.number().int().min(1).optional(),
  cursor: z.string().optional()
})
export type SearchInput = z.input<typeof searchSchema>

/** A listing as a search finds it. */
export interface FoundListingView extends ListingView, StandingView {}

export interface SearchView {
  readonly listings: readonly FoundListingView[]
  readonly next: string | null
}

/** `GET /listings/{id}` */
export interface MarketListingView extends FoundListingView {
  readonly issued_at: number
  readonly expires_at: number
  /** Nodes that serve it, best first. */
  readonly owners: readonly string[]
  readonly methods: ReadonlyArray<{
    readonly name: string
    readonly description?: string
    readonly input?: JsonSchema
    readonly output?: JsonSchema
  }>
  /** GraphQL only: the schema in SDL; null where it is not told. */
  readonly sdl: string | null
}

/** `GET /why/{id}`: what kept an API from being called, or that nothing does. */
export interface WhyView {
  readonly api: string
  /** It can be called now. */
  readonly callable: boolean
  /**
   * `ok`; `paused`, `retired`, `deprecated` or `draft`; or the first step that failed: `network_unreachable`, `no_provider_record`,
   * `unreachable`, `not_served`, `signature_refused`, `expired`, `rolled_back`, `name_conflict`, `lookup_timeout`.
   */
  readonly step: string
  readonly detail: string
  /** Where it was found. */
  readonly id: string | null
  readonly owners: readonly string[]
  /** Where several providers use the name. */
  readonly candidates: readonly unknown[]
  readonly hint: string | null
}
