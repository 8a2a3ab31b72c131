import { type Atoms, limits, SoukError } from '../../../lib/index.ts'
import type { Manifest } from '../../../lib/interface/index.ts'
import { curlLine } from '../../ingress/discovery/curl-line.ts'
import { exampleBody } from '../../ingress/discovery/example.ts'
import type { FoundApi } from '../../upstream/dry-run.ts'
import { present } from '../../present.ts'
import { proposedName } from '../../registrations/proposed-name.ts'
import { type AdminContext, route } from '../route.ts'
import { discoveredViewSchema, discoverSchema, reachViewSchema } from './discovery-api.ts'
import { upstreamOf } from './upstream-input.ts'

/** Decimal USDC. A typical price of a data API. */
const PROPOSED_PRICE = '0.001'

/** Routes for `souk sell`. */
export const discoveryRoutes = [
  route({
    method: 'POST',
    path: '/upstreams/discover',
    summary: 'Finds out what API is at an address, and proposes a name and a price.',
    body: discoverSchema,
    response: discoveredViewSchema,
    async handler(context, { body: { protocol, ...input }, signal }) {
      const { registrations } = context
      const { found, refused } = await registrations.dryRun.discover(upstreamOf(present(input)), protocol, signal)
      const [best] = found
      if (best === undefined) throw new SoukError('internal_error')
      return {
        found: found.map(foundView),
        refused,
        name: await nameFor(context, best, signal),
        price: PROPOSED_PRICE,
        unpayable: registrations.unpayable ?? null
      }
    }
  }),
  route({
    method: 'GET',
    path: '/apis/:name/reach',
    summary: 'Asks the connected peers whether they have the API in their catalogue.',
    response: reachViewSchema,
    async handler({ souk, registrations, status }, { params, signal }) {
      const { listing, problem } = registrations.show(params.name)
      if (listing === undefined) throw new SoukError('api_paused', problem ?? 'The API is not served now.')
      const { signed, published } = listing
      const known = await souk.knownBy(signed.id, signal)
      const { ingress } = status()
      return {
        peers: souk.status().peers.length,
        stored: published?.stored ?? 0,
        known_by: [...known],
        earns: providerShare(signed.manifest.price),
        curl: ingress === null ? null : curlOf(ingress, signed.manifest),
        page: ingress === null ? null : `${ingress}/?q=${encodeURIComponent(signed.manifest.name)}`
      }
    }
  })
] as const

const SHARE_PERCENT = 95n
const SHARE_DECIMALS = 8

/** Exact, therefore with more decimals than a payment has. */
function providerShare(price: Atoms): string {
  const text = (price * SHARE_PERCENT).toString().padStart(SHARE_DECIMALS + 1, '0')
  return `${text.slice(0, -SHARE_DECIMALS)}.${text.slice(-SHARE_DECIMALS)}`.replace(/\.?0+$/, '')
}

function curlOf(ingress: string, manifest: Manifest): string {
  return curlLine({ url: `${ingress}/api/demo/api/${manifest.name}`, key: '$SOUK_KEY', body: exampleBody(manifest) })
}

/** The name under which the endpoint is registered; else one that neither this node nor its catalogue has. */
async function nameFor({ registrations, souk }: AdminContext, best: FoundApi, signal: AbortSignal): Promise<string> {
  const known = registrations.list().map(({ registration }) => registration)
  const same = known.find(({ kind, upstream }) => kind === 'own' && upstream.endpoint === best.config.endpoint)
  if (same !== undefined) return same.name
  return proposedName(best.title, best.config.endpoint, async (name) => {
    if (known.some((each) => each.name === name)) return true
    const { listings } = await souk.search({ text: name, limit: limits.PAGE_MAX }, signal)
    return listings.some(({ manifest }) => manifest.name === name)
  })
}

function foundView({ protocol, config, at, title, about, operations, warnings }: FoundApi) {
  const { endpoint, method = null, openapi } = config
  const url = openapi !== undefined && 'url' in openapi ? openapi.url : null
  return {
    protocol,
    endpoint,
    method,
    openapi: url,
    at,
    title,
    description: about,
    operations,
    warnings: [...warnings]
  }
}
