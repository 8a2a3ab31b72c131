import { z } from 'zod'
import { formatUsdc, limits, SoukError } from '../../../lib/index.ts'
import {
  type Clock,
  type FoundListing,
  type Manifest,
  type Operation,
  operationCount,
  type SearchQuery,
  type SignedManifest,
  type Souk
} from '../../../lib/interface/index.ts'
import { listedOperations, operationOf } from '../../describe.ts'
import { present } from '../../present.ts'
import { reputationView } from '../../reputation-view.ts'
import { cheapestPlan, termsView } from '../../subscriptions/terms-view.ts'
import type { BodyReader } from '../calls/body-reader.ts'
import type { OpenapiViews } from './openapi-views.ts'
import { pageQuery, searchQuery } from '../parameters.ts'
import { routesWith } from '../route.ts'
import { anyObject, apiSchema, apiSummarySchema, operationSchema, operationSummarySchema, page } from '../views.ts'

export interface ApisContext {
  readonly souk: Pick<Souk, 'search' | 'resolve' | 'reputation' | 'descriptions'>
  /** OpenAPI documents of listings, made once each. */
  readonly openapiViews: OpenapiViews
  readonly clock: Pick<Clock, 'now'>
  /** Reserves memory for schemas. */
  readonly bodies: Pick<BodyReader, 'hold'>
}

const route = routesWith<ApisContext>()

/** Routes for the API catalogue. They need no key. */
export const apisRoutes = [
  route({
    method: 'GET',
    path: '/v1/apis',
    summary: 'Searches the known APIs.',
    query: searchQuery,
    response: page(apiSummarySchema),
    async handler({ souk, clock }, { query, signal }) {
      const found = await souk.search(searchOf(query), signal)
      const data = found.listings.map((listing) => apiSummary(listing, clock.now()))
      return { data, next_cursor: found.next ?? null }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id',
    summary: 'One API with the schemas of its operations, by `name@provider` or by name.',
    response: apiSchema,
    async handler({ souk, clock }, { params, signal }) {
      const api = await souk.resolve(params.id, { signal })
      const { signed } = api
      const reputation = await souk.reputation(signed.id)
      const operations = await listedOperations(souk, api, limits.PAGE_MAX, signal)
      return { ...apiDetails(signed, operations, clock.now()), ...reputationView(reputation, signed.manifest) }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/operations',
    summary: 'Operations of an API: names and one-line summaries.',
    query: pageQuery,
    response: page(operationSummarySchema),
    async handler({ souk }, { params, query: { cursor: from = 0, limit = limits.PAGE_MAX }, signal }) {
      const api = await souk.resolve(params.id, { signal })
      const data = await souk.descriptions.operations(api, { from, limit }, signal)
      const end = from + data.length
      const isLast = data.length === 0 || end >= operationCount(api.signed.manifest.api)
      return { data, next_cursor: isLast ? null : String(end) }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/operations/:operation',
    summary: 'One operation of an API with its documentation and schemas.',
    response: operationSchema,
    async handler({ souk }, { params, signal }) {
      return operationOf(souk, await souk.resolve(params.id, { signal }), params.operation, signal)
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/schema.graphql',
    summary: 'The schema of a GraphQL API.',
    response: z.string(),
    mediaType: 'application/graphql; charset=utf-8',
    async handler({ souk, bodies }, { params, signal, request }) {
      const api = await souk.resolve(params.id, { signal })
      const held = bodies.hold(request.raw)
      try {
        held.take((api.signed.manifest.api.described?.sdlParts ?? 0) * limits.SDL_PART_BYTES_MAX)
        const sdl = await souk.descriptions.sdl(api, signal)
        if (sdl === undefined) throw new SoukError('api_not_found', 'This API publishes no GraphQL schema.')
        return sdl
      } finally {
        held.free()
      }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/openapi.json',
    summary: 'One API as OpenAPI 3.1.',
    response: anyObject,
    mediaType: 'application/openapi+json',
    async handler({ souk, openapiViews }, { params, signal, reply }) {
      return reply.send(await openapiViews.of(await souk.resolve(params.id, { signal }), signal))
    }
  })
] as const

export function searchOf({ q, max_price, min_quality, ...rest }: z.output<typeof searchQuery>): SearchQuery {
  return present({ ...rest, text: q, maxPrice: max_price, minQuality: min_quality })
}

/** An API as an entry of a list. */
export function apiSummary(listing: FoundListing, now: number) {
  const { id, manifest, matching } = listing
  return {
    ...head(id, manifest),
    pay_per_call: manifest.payPerCall ?? true,
    cheapest_plan: cheapestPlan(manifest, now),
    operations: manifest.api.operations.map(({ name }) => name),
    operation_count: operationCount(manifest.api),
    matching_operations: matching,
    ...reputationView(listing, manifest)
  }
}

/** An API with all that its manifest publishes. */
export function apiDetails({ id, manifest }: SignedManifest, operations: readonly Operation[], now: number) {
  const { api, idempotent, issuedAt, expiresAt } = manifest
  return {
    ...head(id, manifest),
    ...termsOf(manifest, now),
    idempotent,
    issued_at: new Date(issuedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    operations,
    operation_count: operationCount(api),
    ...(api.sdl === undefined ? {} : { sdl: api.sdl })
  }
}

/** All times under `/v1` are ISO 8601. */
function termsOf(manifest: Manifest, now: number) {
  const { deprecation, ...terms } = termsView(manifest, now)
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    ...terms,
    deprecation:
      deprecation === null ? null : { ...deprecation, at: iso(deprecation.at), sunset_at: iso(deprecation.sunset_at) }
  }
}

function head(id: string, manifest: Manifest) {
  const { name, provider, protocol, description, tags, price, currency, state, revision, rateLimit } = manifest
  const limit = rateLimit && {
    calls: rateLimit.calls,
    per_ms: rateLimit.perMs,
    burst: rateLimit.burst ?? rateLimit.calls
  }
  const events =
    manifest.events === undefined
      ? {}
      : { price_per_event: formatUsdc(manifest.events.price), events_included: manifest.events.included }
  return {
    id,
    name,
    provider,
    protocol,
    description,
    tags,
    price: formatUsdc(price),
    ...events,
    currency,
    state,
    revision,
    ...(limit && { rate_limit: limit })
  }
}
