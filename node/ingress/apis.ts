import type { FastifyInstance } from 'fastify'
import { formatUsdc, limits, parseUsdc, SoukError } from '../../lib/index.ts'
import {
  type Clock,
  LISTING_SORTS,
  type ListingSort,
  type Manifest,
  type SearchQuery,
  type SignedManifest,
  type Souk
} from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES, protocolNamed } from '../../protocols/protocol-descriptors.ts'
import { standingView } from '../standing-view.ts'
import { cheapestPlan, termsView } from '../subscriptions/terms-view.ts'
import { openapiOf } from './openapi.ts'
import { whileConnected } from '../http/while-connected.ts'

type Catalogue = Pick<Souk, 'search' | 'resolve' | 'standing'>

/**
 * `/v1/apis`: what the catalogue knows, searched by `q`, `protocol`, `tag`, `max_price`, `min_quality`, in the order of `sort`, page by
 * page with `limit` and `cursor`; `/v1/apis/{id}`: one API with its operations' schemas, by `name@provider` or bare name; `…/openapi.json`: the same as
 * OpenAPI 3.1; `…/schema.graphql`: the schema of a GraphQL API in SDL. Open to anyone.
 */
export function addApiRoutes(app: FastifyInstance, souk: Catalogue, clock: Pick<Clock, 'now'>): void {
  app.get('/v1/apis', async (request, reply) => {
    const query = readQuery(new URLSearchParams(queryOf(request.raw.url ?? '')))
    const page = await souk.search(query, whileConnected(reply.raw))
    const data = page.listings.map((listing) => ({
      ...apiSummary(listing, clock.now()),
      ...standingView(listing, listing.manifest)
    }))
    return { data, next_cursor: page.next ?? null }
  })
  app.get<{ Params: { id: string } }>('/v1/apis/:id', async (request, reply) => {
    const { signed } = await souk.resolve(request.params.id, { signal: whileConnected(reply.raw) })
    const standing = await souk.standing(signed.id)
    return { ...apiDetails(signed, clock.now()), ...standingView(standing, signed.manifest) }
  })
  app.get<{ Params: { id: string } }>('/v1/apis/:id/schema.graphql', async (request, reply) => {
    const { signed } = await souk.resolve(request.params.id, { signal: whileConnected(reply.raw) })
    const { sdl } = signed.manifest.api
    if (sdl === undefined) throw new SoukError('api_not_found', 'This API publishes no GraphQL schema.')
    return reply.type('application/graphql; charset=utf-8').send(sdl)
  })
  app.get<{ Params: { id: string } }>('/v1/apis/:id/openapi.json', async (request, reply) => {
    const { signed } = await souk.resolve(request.params.id, { signal: whileConnected(reply.raw) })
    // This very host, whatever it is called from outside.
    return reply.type('application/openapi+json').send(JSON.stringify(openapiOf(signed, '/', clock.now())))
  })
}

function queryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

/** @throws SoukError `invalid_request` */
export function readQuery(query: URLSearchParams): SearchQuery {
  const text = query.get('q')
  const protocol = query.get('protocol')
  const tag = query.get('tag')
  const maxPrice = query.get('max_price')
  const minQuality = query.get('min_quality')
  const sort = query.get('sort')
  const limit = query.get('limit')
  const cursor = query.get('cursor')
  return {
    ...(text === null ? {} : { text }),
    ...(protocol === null ? {} : { protocol: readProtocol(protocol) }),
    ...(tag === null ? {} : { tag }),
    ...(maxPrice === null ? {} : { maxPrice: parseUsdc(maxPrice) }),
    ...(minQuality === null ? {} : { minQuality: readQuality(minQuality) }),
    ...(sort === null ? {} : { sort: readSort(sort) }),
    ...(limit === null ? {} : { limit: readLimit(limit) }),
    ...(cursor === null ? {} : { cursor })
  }
}

function readProtocol(text: string): string {
  const protocol = protocolNamed(text)
  if (protocol === undefined) throw new SoukError('invalid_request', `protocol is one of ${PROTOCOL_NAMES.join(', ')}.`)
  return protocol
}

function readQuality(text: string): number {
  const quality = /^(?:0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(text) ? Number(text) : Number.NaN
  if (!(quality >= 0 && quality <= 1)) throw new SoukError('invalid_request', 'min_quality is a number from 0 to 1.')
  return quality
}

function readSort(text: string): ListingSort {
  const sort = LISTING_SORTS.find((known) => known === text)
  if (sort === undefined) throw new SoukError('invalid_request', `sort is one of ${LISTING_SORTS.join(', ')}.`)
  return sort
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > limits.PAGE_MAX) {
    throw new SoukError('invalid_request', `limit is a whole number from 1 to ${limits.PAGE_MAX}.`)
  }
  return limit
}

/** An API in a list. */
export function apiSummary({ id, manifest }: SignedManifest, now: number) {
  return {
    ...head(id, manifest),
    pay_per_call: manifest.payPerCall ?? true,
    cheapest_plan: cheapestPlan(manifest, now),
    operations: manifest.api.operations.map(({ name }) => name)
  }
}

/** An API with everything that is published of it. */
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

/** As everywhere under `/v1`, times are in ISO 8601. */
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
