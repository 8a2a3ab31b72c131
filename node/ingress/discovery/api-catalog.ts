import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import type { SignedManifest, Souk } from '../../../lib/interface/index.ts'
import { present } from '../../present.ts'
import { publicUrl } from '../public-url.ts'
import { routesWith } from '../route.ts'
import { anyObject } from '../views.ts'

const PATH = '/.well-known/api-catalog'
const CONTENT_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

const route = routesWith<{ readonly souk: Pick<Souk, 'search'> }>()

/** RFC 9727: all known APIs as a set of links (RFC 9264), in pages. Each page is a catalog and links to the next. */
export const apiCatalogRoutes = [
  route({
    method: 'GET',
    path: PATH,
    summary: 'All known APIs, as links (RFC 9727).',
    query: z.object({ cursor: z.string().optional().describe('Cursor from the link to the next page.') }),
    response: anyObject,
    mediaType: CONTENT_TYPE,
    async handler({ souk }, { query: { cursor }, signal, request, reply }) {
      const { listings, next } = await souk.search(present({ limit: limits.PAGE_MAX, cursor }), signal)
      const base = publicUrl(request.raw)
      const here = base + PATH + (cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`)
      const following = next === undefined ? undefined : `${base}${PATH}?cursor=${encodeURIComponent(next)}`
      const links = [
        `<${base}${PATH}>; rel="api-catalog"`,
        ...(following === undefined ? [] : [`<${following}>; rel="next"`])
      ]
      const catalog = {
        anchor: here,
        item: listings.map(({ manifest }) => ({ href: base + callPath(manifest), title: manifest.name })),
        ...(following === undefined ? {} : { 'api-catalog': [{ href: following }] })
      }
      const own = cursor === undefined ? [ingressLinks(base)] : []
      const linkset = [catalog, ...own, ...listings.map((signed) => linksOf(signed, base))]
      // Send bytes: Fastify adds a charset to strings, and this media type has none.
      return reply.header('Link', links.join(', ')).send(Buffer.from(JSON.stringify({ linkset })))
    }
  })
] as const

/** The path of an API. It names the provider, so it stays unique if others use the same name. */
export function callPath({ name, provider }: { readonly name: string; readonly provider: string }): string {
  return `/api/${provider}/api/${name}`
}

function ingressLinks(base: string) {
  return {
    anchor: `${base}/`,
    'service-desc': [{ href: `${base}/openapi.json`, type: 'application/openapi+json' }],
    'service-doc': [{ href: `${base}/`, type: 'text/html' }],
    status: [{ href: `${base}/readyz`, type: 'application/json' }]
  }
}

function linksOf({ id, manifest }: SignedManifest, base: string) {
  const api = `${base}/v1/apis/${encodeURIComponent(id)}`
  const sdl = { href: `${api}/schema.graphql`, type: 'application/graphql' }
  return {
    anchor: base + callPath(manifest),
    'service-desc': [
      { href: `${api}/openapi.json`, type: 'application/openapi+json' },
      ...(manifest.api.sdl === undefined && (manifest.api.described?.sdlParts ?? 0) === 0 ? [] : [sdl])
    ],
    'service-doc': [{ href: `${base}/?q=${encodeURIComponent(manifest.name)}`, type: 'text/html' }],
    'service-meta': [{ href: api, type: 'application/json' }]
  }
}
