import { parseUsdc } from '../../../lib/index.ts'
import { operationOf } from '../../describe.ts'
import { operationViewSchema } from '../apis/description-api.ts'
import { describedView } from './described-view.ts'
import { reputationView } from '../../reputation-view.ts'
import {
  describedListingViewSchema,
  marketListingViewSchema,
  searchSchema,
  searchViewSchema,
  whyViewSchema
} from './market-api.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'
import { listingView } from '../views.ts'
import { why } from './why.ts'

/** Routes to find APIs of all providers. */
export const marketRoutes = [
  route({
    method: 'GET',
    path: '/search',
    summary: 'Searches for APIs.',
    query: searchSchema,
    response: searchViewSchema,
    async handler({ souk, clock }, { query: { q, max_price, min_quality, ...rest }, signal }) {
      const maxPrice = max_price === undefined ? undefined : parseUsdc(max_price)
      const page = await souk.search(present({ ...rest, text: q, maxPrice, minQuality: min_quality }), signal)
      const listings = page.listings.map((listing) => ({
        ...listingView(listing, clock.now()),
        ...reputationView(listing, listing.manifest),
        matching_operations: [...listing.matching]
      }))
      return { listings, next: page.next ?? null }
    }
  }),
  route({
    method: 'GET',
    path: '/listings/:id',
    summary: 'Looks up and verifies one API, by `name@provider` or a bare name.',
    response: marketListingViewSchema,
    async handler({ souk, clock }, { params, signal }) {
      const found = await souk.resolve(params.id, { signal })
      const { signed, owners } = found
      const { issuedAt, expiresAt } = signed.manifest
      return {
        ...listingView(signed, clock.now()),
        ...reputationView(await souk.reputation(signed.id), signed.manifest),
        issued_at: issuedAt,
        expires_at: expiresAt,
        owners: owners.map(({ id }) => id),
        ...(await describedView(souk, found, signal))
      }
    }
  }),
  route({
    method: 'GET',
    path: '/listings/:id/operations/:operation',
    summary: 'One operation of an API with its documentation and schemas.',
    response: operationViewSchema,
    async handler({ souk }, { params, signal }) {
      return operationOf(souk, await souk.resolve(params.id, { signal }), params.operation, signal)
    }
  }),
  route({
    method: 'GET',
    path: '/listings/:id/description',
    summary: 'All operations of an API with their schemas.',
    response: describedListingViewSchema,
    async handler({ souk }, { params, signal }) {
      const api = await souk.resolve(params.id, { signal })
      const { id, manifest } = api.signed
      const [whole, sdl] = await Promise.all([souk.descriptions.whole(api, signal), souk.descriptions.sdl(api, signal)])
      const { name, protocol, revision } = manifest
      const { operations, definitions = {} } = whole
      return { id, name, protocol, revision, operations: [...operations], definitions, sdl: sdl ?? null }
    }
  }),
  route({
    method: 'GET',
    path: '/why/:id',
    summary: 'Explains why an API is not found or cannot be called.',
    response: whyViewSchema,
    handler: ({ souk, status }, { params, signal }) => why(souk, params.id, status().till !== 'free', signal)
  })
] as const
