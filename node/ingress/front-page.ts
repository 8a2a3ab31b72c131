import type { FastifyInstance } from 'fastify'
import { asSoukError, limits } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import type { DemoKey } from '../keys/keys.ts'
import { readQuery } from './apis.ts'
import { frontPage } from './front-html.ts'
import { STYLE_HASH } from './front-style.ts'
import { publicUrl } from './public-url.ts'
import { whileConnected } from '../http/while-connected.ts'

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

const ASKED = ['q', 'protocol', 'cursor'] as const

/** `GET /`: what can be called here, what it costs and how, for people. Searched by `q` and `protocol`, page by page by `cursor`. */
export function addFrontPage(app: FastifyInstance, { souk, clock, ...rest }: FrontPageInit): void {
  app.get('/', async (request, reply) => {
    const query = new URLSearchParams(request.raw.url?.split('?')[1] ?? '')
    const [q, protocol, cursor] = ASKED.map((name) => (query.get(name) ?? '').slice(0, limits.FRONT_QUERY_CHARS_MAX))
    const asked = { q: q ?? '', protocol: protocol ?? '', cursor: cursor ?? '' }
    reply.headers(HEADERS).type('text/html; charset=utf-8')
    const shared = { ...rest, now: clock.now(), base: publicUrl(request.raw), asked }
    try {
      const given = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''))
      const wanted = { ...readQuery(given), limit: limits.FRONT_PAGE_APIS }
      const { listings, next } = await souk.search(wanted, whileConnected(reply.raw))
      return frontPage({ ...shared, listings, next, problem: undefined })
    } catch (thrown) {
      // Told to a person, on a page: the text is written for strangers.
      const error = asSoukError(thrown)
      if (error.code === 'internal_error') throw error
      reply.code(error.status)
      return frontPage({ ...shared, listings: [], next: undefined, problem: error.message })
    }
  })
}
