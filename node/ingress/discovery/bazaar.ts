import { z } from 'zod'
import { deadline, limits, SoukError } from '../../../lib/index.ts'
import type { Clock, SignedManifest, Souk } from '../../../lib/interface/index.ts'
import { list } from '../../http/schemas.ts'
import { callPath } from './api-catalog.ts'
import { bazaarOf } from './bazaar-extension.ts'
import { exampleBody } from './example.ts'
import type { Keyless } from '../calls/keyless.ts'
import { bazaarQuery } from '../parameters.ts'
import { publicUrl } from '../public-url.ts'
import { routesWith } from '../route.ts'
import { anyObject } from '../views.ts'

type BazaarQuery = z.output<typeof bazaarQuery>

interface PaymentRequirements {
  readonly scheme: string
  readonly network: string
  readonly payTo: string
}

/** An API that accepts x402, and its payment terms. */
interface Resource {
  readonly signed: SignedManifest
  readonly accepts: readonly PaymentRequirements[]
}

export interface BazaarInit {
  readonly souk: Pick<Souk, 'search'>
  readonly keyless: Pick<Keyless, 'offerFor'>
  readonly clock: Clock
}

/**
 * Implements x402’s bazaar: lists the known APIs that accept x402 payments, with their providers’ terms. All requests share one list, which
 * is read again every `BAZAAR_FRESH_MS`.
 */
export class Bazaar {
  readonly #init: BazaarInit
  #resources: readonly Resource[] | undefined
  #readAt = -Infinity
  #reading: Promise<void> | undefined

  constructor(init: BazaarInit) {
    this.#init = init
  }

  /** A page of the matching resources. @throws SoukError `invalid_request` */
  async page(query: BazaarQuery, base: string) {
    const limit = readCount('limit', query.limit, limits.BAZAAR_PAGE, limits.PAGE_MAX)
    const offset = readCount('offset', query.offset, 0, limits.BAZAAR_RESOURCES_MAX)
    const found = (await this.#all()).map((resource) => wanted(resource, query)).filter((each) => each !== undefined)
    return {
      x402Version: 2 as const,
      items: found.slice(offset, offset + limit).map((resource) => itemOf(resource, base)),
      pagination: { limit, offset, total: found.length }
    }
  }

  /** The URLs of all resources, as in their items. */
  async urls(base: string): Promise<string[]> {
    return (await this.#all()).map(({ signed }) => base + callPath(signed.manifest))
  }

  /** Returns the cached list while a new one is being read. */
  async #all(): Promise<readonly Resource[]> {
    const { clock } = this.#init
    if (clock.elapsed() - this.#readAt >= limits.BAZAAR_FRESH_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined
      })
      if (this.#resources === undefined) await this.#reading
      else this.#reading.catch(() => {})
    }
    return this.#resources ?? []
  }

  async #read(): Promise<void> {
    const { clock } = this.#init
    const late = deadline(clock, limits.BAZAAR_READ_MS, () => new SoukError('lookup_timeout'))
    try {
      const listings = await this.#listings(late.signal)
      const found: Array<Resource | undefined> = []
      const ask = async (): Promise<void> => {
        for (let at = found.length; at < listings.length; at = found.length) {
          found.push(undefined)
          const signed = listings[at]
          if (signed !== undefined) found[at] = await this.#ask(signed, late.signal)
        }
      }
      await Promise.all(Array.from({ length: limits.BAZAAR_ASKED_AT_ONCE }, ask))
      this.#resources = found.filter((each) => each !== undefined)
      this.#readAt = clock.elapsed()
    } finally {
      late.clear()
    }
  }

  async #listings(signal: AbortSignal): Promise<SignedManifest[]> {
    const all: SignedManifest[] = []
    for (let cursor: string | undefined; all.length < limits.BAZAAR_RESOURCES_MAX; ) {
      const query = { limit: limits.PAGE_MAX, ...(cursor === undefined ? {} : { cursor }) }
      const { listings, next } = await this.#init.souk.search(query, signal)
      all.push(...listings.filter(({ manifest }) => manifest.price > 0n))
      if (next === undefined) break
      cursor = next
    }
    return all.slice(0, limits.BAZAAR_RESOURCES_MAX)
  }

  /** An API whose provider does not respond is omitted. It does not delay the others. */
  async #ask(signed: SignedManifest, signal: AbortSignal): Promise<Resource | undefined> {
    const { name, provider } = signed.manifest
    try {
      const offer = await this.#init.keyless.offerFor({ name, provider }, signal)
      const { PaymentRequirementsV2Schema } = await import('@x402/core/schemas')
      // Providers are untrusted: drop malformed offers.
      const accepts = (offer?.accepts ?? []).filter((each) => PaymentRequirementsV2Schema.safeParse(each).success)
      if (accepts.length === 0 || JSON.stringify(accepts).length > limits.BAZAAR_OFFER_CHARS_MAX) return undefined
      return { signed, accepts: accepts as readonly PaymentRequirements[] }
    } catch {
      return undefined
    }
  }
}

/** The resource with its matching offers; undefined if none match. */
function wanted(resource: Resource, query: BazaarQuery): Resource | undefined {
  if ((query.type ?? 'http') !== 'http' || (query.extensions ?? 'bazaar') !== 'bazaar') return undefined
  const accepts = resource.accepts.filter(({ scheme, network, payTo }) => {
    const is = (asked: string | undefined, value: string) => (asked ?? value).toLowerCase() === value.toLowerCase()
    return is(query.scheme, scheme) && is(query.network, network) && is(query.payTo, payTo)
  })
  return accepts.length === 0 ? undefined : { ...resource, accepts }
}

function itemOf({ signed: { manifest }, accepts }: Resource, base: string) {
  const { name, description, tags, issuedAt } = manifest
  return {
    resource: base + callPath(manifest),
    type: 'http',
    x402Version: 2,
    accepts,
    lastUpdated: new Date(issuedAt).toISOString(),
    description,
    mimeType: 'application/json',
    serviceName: name,
    tags,
    extensions: { bazaar: bazaarOf(exampleBody(manifest)) }
  }
}

/** @throws SoukError `invalid_request` */
function readCount(name: string, text: string | undefined, usual: number, max: number): number {
  if (text === undefined) return usual
  if (/^\d{1,6}$/.test(text)) return Math.min(Number(text), max)
  throw new SoukError('invalid_request', `${name} must be a whole number.`)
}

const route = routesWith<{ readonly bazaar: Bazaar }>()

export const bazaarRoutes = [
  route({
    method: 'GET',
    path: '/discovery/resources',
    summary: 'APIs that accept x402 payments, with their terms, in the format of the x402 bazaar.',
    query: bazaarQuery,
    response: z.object({ x402Version: z.literal(2), items: list(anyObject), pagination: anyObject }),
    handler: ({ bazaar }, { query, request }) => bazaar.page(query, publicUrl(request.raw))
  }),
  route({
    method: 'GET',
    path: '/.well-known/x402',
    summary: 'URLs that accept x402 payments, as crawlers of x402 read them. `/discovery/resources` has the terms.',
    response: z.object({
      version: z.literal(1),
      x402Version: z.literal(2),
      resources: list(z.string()),
      discovery: z.string()
    }),
    async handler({ bazaar }, { request }) {
      const base = publicUrl(request.raw)
      const discovery = `${base}/discovery/resources`
      return { version: 1 as const, x402Version: 2 as const, resources: await bazaar.urls(base), discovery }
    }
  })
] as const
