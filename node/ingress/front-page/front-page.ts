import { z } from 'zod'
import { asSoukError, limits } from '../../../lib/index.ts'
import type { Clock, Souk } from '../../../lib/interface/index.ts'
import type { DemoKey } from '../../keys/keys.ts'
import { searchOf } from '../discovery/apis.ts'
import { frontPage } from './front-html.ts'
import { STYLE_HASH } from './front-style.ts'
import { searchQuery } from '../parameters.ts'
import { publicUrl } from '../public-url.ts'
import { routesWith } from '../route.ts'

export interface FrontPageInit {
  readonly souk: Pick<Souk, 'search'>
  readonly clock: Pick<Clock, 'now'>
  readonly demo: DemoKey | undefined
  readonly version: string
  /** Display name of the currency. */
  readonly money: string
  readonly opensAccounts: boolean
  readonly takesX402: boolean
}

/** The page needs no script and nothing from other origins, so its policy forbids both. */
const POLICY = [
  `default-src 'none'`,
  `style-src ${STYLE_HASH}`,
  'img-src data:',
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
  link: '</.well-known/api-catalog>; rel="api-catalog", </openapi.json>; rel="service-desc"'
}

const route = routesWith<FrontPageInit>()
const text = z.string().optional()

/** The front page for people: APIs, prices and how to call them. */
export const frontPageRoutes = [
  route({
    method: 'GET',
    path: '/',
    summary: 'The front page: APIs, prices and how to call them.',
    query: z.object({
      q: text.describe(
        'Search words. Each must match the beginning of a word in the name, description, tags or operations.'
      ),
      protocol: text.describe('Protocol of the API.'),
      cursor: text.describe('Cursor of the page.')
    }),
    response: z.string(),
    mediaType: 'text/html; charset=utf-8',
    async handler({ souk, clock, ...rest }, { query, signal, request, reply }) {
      const cut = (typed = '') => typed.slice(0, limits.FRONT_QUERY_CHARS_MAX)
      const asked = { q: cut(query.q), protocol: cut(query.protocol), cursor: cut(query.cursor) }
      reply.headers(HEADERS)
      const shared = { ...rest, now: clock.now(), base: publicUrl(request.raw), asked }
      try {
        const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''))
        const wanted = { ...searchOf(searchQuery.parse(given)), limit: limits.FRONT_PAGE_APIS }
        const { listings, next } = await souk.search(wanted, signal)
        return frontPage({ ...shared, listings, next, problem: undefined })
      } catch (thrown) {
        // The page shows the error text, which is safe for untrusted readers.
        const error = asSoukError(thrown)
        if (error.code === 'internal_error') throw error
        reply.code(error.status)
        return frontPage({ ...shared, listings: [], next: undefined, problem: error.message })
      }
    }
  })
] as const
