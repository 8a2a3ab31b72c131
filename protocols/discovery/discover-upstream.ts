import { type Clock, deadline } from '../../lib/base/clock.ts'
import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import { DISCOVERY_MS, DISCOVERY_PAGE_BYTES_MAX } from '../../lib/base/limits/discovery.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { diagnosis } from '../inspection.ts'
import type { ProtocolName } from '../protocol-descriptors.ts'
import { parseEndpoint, whereOf } from '../upstream/target.ts'
import { API_CATALOG, documentPlaces, graphqlPlaces, isNamedGraphql } from './places.ts'
import { type Probed, Prober } from './prober.ts'
import { catalogued, isGraphql, kindOf, linkedIn, namedIn } from './recognize.ts'

/** An API that seems to be at an address. An inspection decides. */
export interface DiscoveredApi {
  readonly protocol: ProtocolName
  /** How to register it. */
  readonly config: Pick<UpstreamConfig, 'endpoint' | 'method' | 'openapi'>
  /** The URL that was recognised. */
  readonly at: string
  readonly title: string
  readonly about: string
  readonly warnings: readonly string[]
}

/**
 * Finds the descriptions of an API at its address: OpenAPI and WSDL documents at the usual places and behind links, and GraphQL
 * by a query. Without any, it is plain REST. The result is sorted, best first, and is never empty.
 * @throws SoukError `invalid_request`, `upstream_unreachable`, `upstream_timeout`, if the address itself cannot be read
 */
export async function discoverUpstream(
  config: UpstreamConfig,
  clock: Clock,
  parent: AbortSignal
): Promise<readonly DiscoveredApi[]> {
  const address = parseEndpoint(config.endpoint)
  const limit = deadline(clock, DISCOVERY_MS, () => new SoukError('upstream_timeout'), parent)
  const prober = new Prober(config, clock, limit.signal)
  try {
    return await discovered({ prober, address, signal: limit.signal })
  } catch (error) {
    throw diagnosis(error)
  } finally {
    limit.clear()
    await prober.close()
  }
}

interface Search {
  readonly prober: Prober
  readonly address: URL
  readonly signal: AbortSignal
}

async function discovered(search: Search): Promise<DiscoveredApi[]> {
  const { prober, address } = search
  const own = address.pathname + address.search
  const first = await prober.first(own).catch(whereSilent)
  if (first !== undefined && kindOf(first.text) !== undefined) return documentsOf([first], search)

  const [documents, queries, catalog] = await Promise.all([
    Promise.all(documentPlaces(address).map((at) => prober.get(at))),
    Promise.all(graphqlPlaces(address).map((at) => queried(prober, at))),
    prober.get(API_CATALOG)
  ])
  const named = first === undefined ? [] : [...linkedIn(first.headers), ...namedIn(pageOf(first))]
  const links = [...named, ...(catalog === undefined ? [] : catalogued(catalog.text))]
  const linked = await Promise.all(sameOrigin(links, address).map((at) => prober.get(at)))

  const isPresent = (probed: Probed | undefined): probed is Probed => probed !== undefined
  const graphql = queries.filter(isPresent).map(({ at }) => graphqlAt(new URL(at, address)))
  const isOwnGraphql = graphql.some(({ at }) => at === address.href)
  const described = await documentsOf([...linked, ...documents].filter(isPresent), search)
  const ordered = isOwnGraphql ? [...graphql, ...described] : [...described, ...graphql]
  return [...ordered, plainRest(address, first)]
}

/** An API may respond slowly, or to POST only. One that cannot be reached at all cannot be sold. */
function whereSilent(error: unknown): undefined {
  if (isSoukError(error) && (error.code === 'upstream_timeout' || error.code === 'response_too_large')) return undefined
  throw error
}

async function queried(prober: Prober, at: string): Promise<Probed | undefined> {
  const byGet = await prober.queryByGet(at)
  if (byGet !== undefined && isGraphql(byGet.text)) return { ...byGet, at }
  if (!isNamedGraphql(at)) return undefined
  const byPost = await prober.queryByPost(at)
  return byPost !== undefined && isGraphql(byPost.text) ? byPost : undefined
}

function pageOf({ type, text }: Probed): string {
  return /html/i.test(type) ? text.slice(0, DISCOVERY_PAGE_BYTES_MAX) : ''
}

/** Links of another host are not followed, because its owner did not ask for it. */
function sameOrigin(links: readonly string[], address: URL): string[] {
  return links.flatMap((link) => {
    const url = URL.parse(link, address)
    return url?.origin === address.origin ? [url.pathname + url.search] : []
  })
}

async function documentsOf(probed: readonly Probed[], search: Search): Promise<DiscoveredApi[]> {
  const [seen, found]: [Set<string>, DiscoveredApi[]] = [new Set(), []]
  for (const { at, status, text } of probed) {
    const kind = status === 200 ? kindOf(text) : undefined
    if (kind === undefined || seen.has(text)) continue
    seen.add(text)
    const url = new URL(at, search.address)
    found.push(kind === 'wsdl' ? wsdlAt(url, text) : await openapiAt(url, text, search))
  }
  const rank = ({ protocol }: DiscoveredApi) => (protocol === 'REST' ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b))
}

async function openapiAt(url: URL, text: string, { address, signal }: Search): Promise<DiscoveredApi> {
  // A document with errors is reported by its inspection.
  const {
    title = '',
    description = '',
    servers
  } = await descriptionWorker
    .run('outlineOpenapi', { text, url: url.href }, signal)
    .catch(() => ({ servers: [] as readonly string[], title: '', description: '' }))
  // The default of the specification is the root of the document's host.
  const base = new URL(servers[0] ?? '/', url)
  const endpoint = new URL(base.pathname, address.origin).href
  const about = firstLine(description)
  const isElsewhere = base.origin !== address.origin
  const warnings = isElsewhere ? [`The document names the server ${base.href}. Calls go to ${endpoint} instead.`] : []
  return { protocol: 'REST', config: { endpoint, openapi: { url: url.href } }, at: url.href, title, about, warnings }
}

const ABOUT_CHARS_MAX = 300

function firstLine(text: string): string {
  const [line = ''] = text.trim().split(/\r?\n/)
  return line.slice(0, ABOUT_CHARS_MAX)
}

function wsdlAt(url: URL, text: string): DiscoveredApi {
  const title = /<(?:[\w.-]+:)?service\s[^<>]*?\bname\s*=\s*["']([^"']+)["']/.exec(text)?.[1] ?? ''
  return { protocol: 'SOAP', config: { endpoint: url.href }, at: url.href, title, about: '', warnings: [] }
}

function graphqlAt(url: URL): DiscoveredApi {
  return { protocol: 'GraphQL', config: { endpoint: url.href }, at: url.href, title: '', about: '', warnings: [] }
}

function plainRest(address: URL, first: Probed | undefined): DiscoveredApi {
  const isRead = first !== undefined && first.status >= 200 && first.status < 300
  const warnings = [
    `No description was found at ${whereOf(address)}, so only ${address.href} itself is sold. With a document, add: --openapi <url|file>`,
    ...(isRead && /html/i.test(first.type)
      ? ['The address returns a web page. Check that it is the address of the API.']
      : [])
  ]
  const config = { endpoint: address.href, method: isRead ? ('GET' as const) : ('POST' as const) }
  return { protocol: 'REST', config, at: address.href, title: '', about: '', warnings }
}
