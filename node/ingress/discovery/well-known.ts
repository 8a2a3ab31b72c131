import { z } from 'zod'
import { formatUsdc, limits } from '../../../lib/index.ts'
import { type FoundListing, operationCount, type Souk } from '../../../lib/interface/index.ts'
import { packageVersion } from '../../config.ts'
import { publicUrl } from '../public-url.ts'
import { routesWith } from '../route.ts'
import { anyObject } from '../views.ts'

export interface WellKnownContext {
  readonly souk: Pick<Souk, 'search'>
  readonly takesX402: boolean
}

const route = routesWith<WellKnownContext>()

/** Search engines read what is for people. Calls cost money. */
const ROBOTS = `User-agent: *
Allow: /$
Allow: /llms.txt
Allow: /openapi.json
Allow: /v1/apis
Allow: /.well-known/
Allow: /discovery/
Disallow: /
`

/** Same as on the front page. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="#c2410c" d="M4 0l4 4-4 4-4-4z"/>' +
  '<path fill="#fff" d="M4 2l2 2-2 2-2-2z"/></svg>'

/** A day. These files change with releases only. */
const CACHED = 'public, max-age=86400'

/** Drafts of the Model Context Protocol name both paths (SEP-1649, SEP-2127). */
const card = <const P extends string>(path: P) =>
  route({
    method: 'GET',
    path,
    summary: 'Where agents find the MCP endpoint, and what it offers.',
    response: anyObject,
    handler: (_, { request }) => mcpCard(publicUrl(request.raw))
  })

/** Files that programs look for at every site. */
export const wellKnownRoutes = [
  route({
    method: 'GET',
    path: '/llms.txt',
    summary: 'This ingress for language models, as Markdown: how to call, and the APIs with the best match first.',
    response: z.string(),
    mediaType: 'text/markdown; charset=utf-8',
    async handler({ souk, takesX402 }, { signal, request }) {
      const { listings } = await souk.search({ limit: limits.FRONT_PAGE_APIS }, signal)
      return llmsText(publicUrl(request.raw), listings, takesX402)
    }
  }),
  route({
    method: 'GET',
    path: '/robots.txt',
    summary: 'Tells search engines which pages they may read.',
    response: z.string(),
    mediaType: 'text/plain; charset=utf-8',
    handler: (_, { reply }) => reply.header('cache-control', CACHED).send(ROBOTS)
  }),
  route({
    method: 'GET',
    path: '/favicon.ico',
    summary: 'The icon.',
    response: z.string(),
    mediaType: 'image/svg+xml',
    handler: (_, { reply }) => reply.header('cache-control', CACHED).send(Buffer.from(ICON))
  }),
  card('/.well-known/mcp.json'),
  card('/.well-known/mcp/server-card.json')
] as const

function mcpCard(base: string) {
  const url = `${base}/mcp`
  return {
    version: '1.0',
    serverInfo: { name: 'souk', title: 'Souk', version: packageVersion() },
    description: 'APIs of a peer-to-peer marketplace as tools, paid per call in USDC.',
    transport: { type: 'streamable-http', endpoint: '/mcp' },
    remotes: [
      {
        type: 'streamable-http',
        url,
        headers: [{ name: 'X-Consumer-Key', description: 'A consumer key.', isRequired: true, isSecret: true }]
      }
    ],
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    authentication: { required: true, schemes: ['bearer'] },
    tools: ['dynamic']
  }
}

function llmsText(base: string, listings: readonly FoundListing[], takesX402: boolean): string {
  const payment = takesX402 ? ', or without a key by x402' : ''
  const apis = listings.map(({ id, manifest }) => {
    const { name, protocol, price, api } = manifest
    const count = operationCount(api)
    const cost = price === 0n ? 'free' : `${formatUsdc(price)} USDC a call`
    return `- [${name}](${base}/v1/apis/${encodeURIComponent(id)}): ${protocol}, ${cost}, ${count === 1 ? '1 operation' : `${count} operations`}`
  })
  return [
    '# Souk',
    '',
    '> A marketplace of APIs. You call each with plain JSON and pay per call in USDC. Failed calls are free.',
    '',
    `Call an API with \`POST ${base}/api/{provider}/api/{name}\`, a JSON body and the header \`X-Consumer-Key\`${payment}.`,
    'The body has the arguments, and `operation` where the API has several.',
    '',
    '## Find and read APIs',
    '',
    `- [Search](${base}/v1/apis?q=): \`q\` finds APIs and operations, like "create invoice"`,
    `- [OpenAPI of this ingress](${base}/openapi.json): every path`,
    `- [API catalog](${base}/.well-known/api-catalog): all APIs as links (RFC 9727)`,
    `- [MCP](${base}/.well-known/mcp.json): the APIs as tools of agents`,
    ...(takesX402 ? [`- [x402](${base}/.well-known/x402): what x402 can pay for`] : []),
    '',
    '## APIs',
    '',
    ...apis,
    ''
  ].join('\n')
}
