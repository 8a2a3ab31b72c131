import { z } from 'zod'
import { LISTING_SORTS } from '../../../lib/interface/index.ts'
import { reputationViewSchema } from '../../reputation-view.ts'
import { amount, list, peerId, view, viewWith } from '../../http/schemas.ts'
import { listingViewSchema } from '../api.ts'
import { operationViewSchema } from '../apis/description-api.ts'

export const searchSchema = z.strictObject({
  q: z.string().optional(),
  protocol: z.string().optional(),
  tag: z.string().optional(),
  provider: peerId.optional().describe('A provider id. Lists its APIs by name, from its own nodes.'),
  max_price: amount.optional(),
  min_quality: z.coerce.number().min(0).max(1).optional().describe('0 to 1.'),
  sort: z.enum(LISTING_SORTS).optional(),
  limit: z.coerce.number().int().min(1).optional(),
  cursor: z.string().optional()
})
export type SearchInput = z.input<typeof searchSchema>

const gradedListingViewSchema = viewWith(listingViewSchema, 'GradedListingView', reputationViewSchema.shape)
export type GradedListingView = z.output<typeof gradedListingViewSchema>

export const foundListingViewSchema = viewWith(
  gradedListingViewSchema,
  'FoundListingView',
  {
    matching_operations: list(
      view('OperationSummaryView', { name: z.string(), summary: z.string().optional() })
    ).describe('Operations that contain all words of the search, the best ones first.')
  },
  'A listing in search results.'
)
export type FoundListingView = z.output<typeof foundListingViewSchema>

export const searchViewSchema = view('SearchView', {
  listings: list(foundListingViewSchema),
  next: z.string().nullable()
})
export type SearchView = z.output<typeof searchViewSchema>

export const marketListingViewSchema = viewWith(gradedListingViewSchema, 'MarketListingView', {
  issued_at: z.number(),
  expires_at: z.number(),
  owners: list(z.string()).describe('Nodes that serve it, best first.'),
  methods: list(operationViewSchema).describe('Of a large description: names and summaries.'),
  is_large: z.boolean().describe('Schemas are read with `GET /listings/{id}/operations/{operation}`.'),
  sdl: z.string().nullable().describe('GraphQL only: the schema in SDL; null if the provider hides it.')
})
export type MarketListingView = z.output<typeof marketListingViewSchema>

export const describedListingViewSchema = view('DescribedListingView', {
  id: z.string(),
  name: z.string(),
  protocol: z.string(),
  revision: z.number(),
  operations: list(operationViewSchema),
  definitions: z.record(z.string(), z.unknown()).describe('Schemas that operations share, as `#/$defs/<name>`.'),
  sdl: z.string().nullable().describe('GraphQL only: the schema in SDL; null if the provider hides it.')
})
export type DescribedListingView = z.output<typeof describedListingViewSchema>

export const whyViewSchema = view(
  'WhyView',
  {
    api: z.string(),
    callable: z.boolean().describe('True if the API can be called now.'),
    step: z
      .string()
      .describe(
        '`ok`; `paused`, `retired`, `deprecated` or `draft`; or the first step that failed: `network_unreachable`, `no_provider_record`, `address`, `dial_direct`, `dial_relay`, `handshake`, `manifest`, `unreachable`, `not_served`, `signature_refused`, `expired`, `wrong_clock`, `rolled_back`, `name_conflict`, `lookup_timeout`, `payment`.'
      ),
    detail: z.string(),
    id: z.string().nullable().describe('Full id, if the API was found.'),
    owners: list(z.string()),
    candidates: list(z.unknown()).describe('The providers, if several use the name.'),
    hint: z.string().nullable()
  },
  'Whether an API can be called, and if not, why.'
)
export type WhyView = z.output<typeof whyViewSchema>
