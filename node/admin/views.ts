import { type ApiRef, formatUsdc, reachabilityText } from '../../lib/index.ts'
import { operationCount, type SignedManifest, type SoukStatus, type UsageRow } from '../../lib/interface/index.ts'
import type { RegistrationStatus } from '../registrations/registration.ts'
import type { ApiView, ListingView } from './api.ts'
import { termsView } from '../subscriptions/terms-view.ts'
import { rateLimitView } from './subscriptions/rate-api.ts'

export function listingView({ id, manifest }: SignedManifest, now: number): ListingView {
  return {
    id,
    name: manifest.name,
    provider: manifest.provider,
    protocol: manifest.protocol,
    description: manifest.description,
    tags: manifest.tags,
    price: formatUsdc(manifest.price),
    price_per_event: manifest.events === undefined ? null : formatUsdc(manifest.events.price),
    events_included: manifest.events?.included ?? null,
    currency: manifest.currency,
    idempotent: manifest.idempotent,
    rate_limit: rateLimitView(manifest.rateLimit),
    ...termsView(manifest, now),
    state: manifest.state,
    revision: manifest.revision,
    operations: manifest.api.operations.map((operation) => operation.name),
    operation_count: operationCount(manifest.api)
  }
}

export interface ApiViewInit {
  readonly usage: readonly UsageRow[]
  /** This node's provider id is part of an own API's id even while the API is not served. */
  readonly node: Pick<SoukStatus, 'provider' | 'reachability'>
  readonly now: number
}

export function apiView(status: RegistrationStatus, { usage, node, now }: ApiViewInit): ApiView {
  const { registration, listing, problem, warnings } = status
  const { upstream } = registration
  const known =
    listing === undefined
      ? unservedView(status, node.provider)
      : { ...listingView(listing.signed, now), state: listing.state }
  const row = usage.find(({ api }) => api === known.id)
  return {
    ...known,
    own: registration.kind === 'own',
    endpoint: upstream.endpoint,
    method: upstream.method ?? null,
    timeout_ms: upstream.timeoutMs ?? null,
    has_auth: registration.sealedAuth !== undefined,
    registered_at: registration.registeredAt,
    published: listing?.published ?? null,
    reach: listing === undefined ? 'not served' : reachabilityText(node.reachability).text,
    in_flight: listing?.inFlight ?? 0,
    calls: { captured: row?.captured ?? 0, voided: row?.voided ?? 0 },
    metered: formatUsdc(row?.metered ?? 0n),
    charged: formatUsdc(row?.charged ?? 0n),
    problem: problem ?? (listing === undefined ? 'This node does not serve the API.' : null),
    warnings
  }
}

function unservedView({ registration }: RegistrationStatus, self: string): ListingView {
  const terms = registration.kind === 'own' ? registration.terms : undefined
  const { name, provider }: Required<ApiRef> = {
    name: registration.name,
    provider: registration.kind === 'own' ? self : registration.provider
  }
  return {
    id: `${name}@${provider}`,
    name,
    provider,
    protocol: registration.protocol,
    description: terms?.description ?? '',
    tags: terms?.tags ?? [],
    price: terms?.price ?? '0',
    price_per_event: terms?.pricePerEvent ?? null,
    events_included: terms?.pricePerEvent === undefined ? null : (terms.eventsIncluded ?? 0),
    currency: 'USDC',
    idempotent: terms?.idempotent ?? false,
    rate_limit: rateLimitView(terms?.rateLimit),
    pay_per_call: terms?.payPerCall ?? true,
    major: terms?.major ?? 1,
    // Plans are known only once the API is served.
    plans: [],
    deprecation: null,
    state: 'unserved',
    revision: 0,
    operations: [],
    operation_count: 0
  }
}
