import { z } from 'zod'
import { formatUsdc, SoukError } from '../../../lib/index.ts'
import type { Clock, Manifest, SearchQuery, SignedManifest, Souk } from '../../../lib/interface/index.ts'
import { present } from '../../present.ts'
import { reputationView } from '../../reputation-view.ts'
import { cheapestPlan, termsView } from '../../subscriptions/terms-view.ts'
import { openapiOf } from './openapi.ts'
import { searchQuery } from '../parameters.ts'
import { routesWith } from '../route.ts'
import { anyObject, apiSchema, apiSummarySchema, page } from '../views.ts'

export interface ApisContext {
  readonly souk: Pick<Souk, 'search' | 'resolve' | 'reputation'>
  readonly clock: Pick<Clock, 'now'>
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
      const data = found.listings.map((listing) => ({
        ...apiSummary(listing, clock.now()),
        ...reputationView(listing, listing.manifest)
      }))
      return { data, next_cursor: found.next ?? null }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id',
    summary: 'One API with the schemas of its operations, by `name@provider` or by name.',
    response: apiSchema,
    async handler({ souk, clock }, { params, signal }) {
      const { signed } = await souk.resolve(params.id, { signal })
      const reputation = await souk.reputation(signed.id)
      return { ...apiDetails(signed, clock.now()), ...reputationView(reputation, signed.manifest) }
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/schema.graphql',
    summary: 'The schema of a GraphQL API.',
    response: z.string(),
    mediaType: 'application/graphql; charset=utf-8',
    async handler({ souk }, { params, signal }) {
      const { signed } = await souk.resolve(params.id, { signal })
      const { sdl } = signed.manifest.api
      if (sdl === undefined) throw new SoukError('api_not_found', 'This API publishes no GraphQL schema.')
      return sdl
    }
  }),
  route({
    method: 'GET',
    path: '/v1/apis/:id/openapi.json',
    summary: 'One API as OpenAPI 3.1.',
    response: anyObject,
    mediaType: 'application/openapi+json',
    async handler({ souk, clock }, { params, signal, reply }) {
      const { signed } = await souk.resolve(params.id, { signal })
      // A relative URL: this host may have another name outside.
      return reply.send(JSON.stringify(openapiOf(signed, '/', clock.now())))
    }
  })
] as const

export function searchOf({ q, max_price, min_quality, ...rest }: z.output<typeof searchQuery>): SearchQuery {
  return present({ ...rest, text: q, maxPrice: max_price, minQuality: min_quality })
}

/** An API as an entry of a list. */
export function apiSummary({ id, manifest }: SignedManifest, now: number) {
  return {
    ...head(id, manifest),
    pay_per_call: manifest.payPerCall ?? true,
    cheapest_plan: cheapestPlan(manifest, now),
    operations: manifest.api.operations.map(({ name }) => name)
  }
}

/** An API with all that its manifest publishes. */
export function apiDetails({ id, manifest }: SignedManifest, now: number) {
  const { api, idempotent, issuedAt, expiresAt } = manifest
  return {
    ...head(id, manifest),
    ...termsOf(manifest, now),
    idempotent,
    issued_at: new Date(issuedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    operations: api.operations,
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
