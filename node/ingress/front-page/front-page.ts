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
  /** What money is called here. */
  readonly money: string
  readonly opensAccounts: boolean
  readonly takesX402: boolean
}

/** There is no script at all, nothing from elsewhere, and no place to put it in. */
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

/** What can be called here, what it costs and how, for people. */
export const frontPageRoutes = [
  route({
    method: 'GET',
    path: '/',
    summary: 'APIs, prices and how to call them, for people.',
    query: z.object({
      q: text.describe('Words that all begin words of name, description, tags or operations.'),
      protocol: text.describe('What the API behind it speaks.'),
      cursor: text.describe('Where the page begins.')
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
        // Told to a person, on a page: the text is written for strangers.
        const error = asSoukError(thrown)
        if (error.code === 'internal_error') throw error
        reply.code(error.status)
        return frontPage({ ...shared, listings: [], next: undefined, problem: error.message })
      }
    }
  })
] as const
