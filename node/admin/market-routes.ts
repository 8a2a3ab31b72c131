import type { FastifyInstance } from 'fastify'
import { parseUsdc } from '../../lib/index.ts'
import { whileConnected } from '../ingress/visit.ts'
import { standingView } from '../standing-view.ts'
import type { AdminInit } from './admin-init.ts'
import { type MarketListingView, searchSchema, type SearchView } from './market-api.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import { listingView } from './views.ts'
import { why } from './why.ts'

/** What others offer. */
export function marketRoutes(app: FastifyInstance, { souk, clock }: AdminInit): void {
  app.get('/search', async (request, reply): Promise<SearchView> => {
    const { q, max_price, min_quality, ...rest } = parse(searchSchema, request.query)
    const maxPrice = max_price === undefined ? undefined : parseUsdc(max_price)
    const query = present({ ...rest, text: q, maxPrice, minQuality: min_quality })
    const page = await souk.search(query, whileConnected(reply.raw))
    const listings = page.listings.map((listing) => ({
      ...listingView(listing, clock.now()),
      ...standingView(listing, listing.manifest)
    }))
    return { listings, next: page.next ?? null }
  })

  app.get<{ Params: { id: string } }>('/listings/:id', async (request, reply): Promise<MarketListingView> => {
    const { signed, owners } = await souk.resolve(request.params.id, { signal: whileConnected(reply.raw) })
    const { issuedAt, expiresAt, api } = signed.manifest
    return {
      ...listingView(signed, clock.now()),
      ...standingView(await souk.standing(signed.id), signed.manifest),
      issued_at: issuedAt,
      expires_at: expiresAt,
      owners: owners.map(({ id }) => id),
      methods: api.operations,
      sdl: api.sdl ?? null
    }
  })

  app.get<{ Params: { id: string } }>('/why/:id', (request, reply) =>
    why(souk, request.params.id, whileConnected(reply.raw))
  )
}
