import { z } from 'zod'
import { limits, parseUsdc, SoukError } from '../../lib/index.ts'
import { LISTING_SORTS, type ListingSort } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES, protocolNamed } from '../../protocols/protocol-descriptors.ts'

/** Parameters of the ingress. A parameter name means the same on every route. */

const usdc = { type: 'string', pattern: String.raw`^\d+(\.\d{1,6})?$` } as const

/** A query parameter. `read` throws SoukError `invalid_request`; `about` is its JSON Schema. */
function queried<T>(read: (text: string) => T, about: Readonly<Record<string, unknown>>) {
  return z.string().transform(read).optional().meta(about)
}

const text = (description: string) => z.string().optional().describe(description)

const limit = queried(readLimit, {
  type: 'integer',
  minimum: 1,
  maximum: limits.PAGE_MAX,
  description: 'Page size.'
})

/** A page of a list with numeric cursors. */
export const pageQuery = z.object({
  limit,
  cursor: queried(readCursor, { type: 'string', description: '`next_cursor` of the previous page.' })
})

export const searchQuery = z.object({
  q: text('Search words. Each must match the beginning of a word in the name, description, tags or operations.'),
  protocol: queried(readProtocol, { enum: PROTOCOL_NAMES, description: 'Protocol of the API.' }),
  tag: text('A tag of the API.'),
  provider: text('A provider id. Lists its APIs by name, from its own nodes.'),
  max_price: queried(parseUsdc, { ...usdc, description: 'Maximum price of a call, in USDC.' }),
  min_quality: queried(readQuality, {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Minimum `quality.score`, as measured by this node’s calls.'
  }),
  sort: queried(readSort, { enum: LISTING_SORTS, description: 'Sort order. Default `relevance`.' }),
  limit,
  cursor: text('`next_cursor` of the previous page.')
})

export const bazaarQuery = z.object({
  type: text('Only `http` has results.'),
  scheme: text('The payment scheme.'),
  network: text('The network of the payment, as a CAIP-2 id.'),
  payTo: text('The address of the payee.'),
  extensions: text('Only `bazaar` has results.'),
  limit: text('Page size.'),
  offset: text('Number of results to skip.')
})

/** Path parameters, for documents. Parameters not listed here are any text. */
export const PATH_PARAMETERS = {
  scope: z
    .string()
    .describe(
      '`demo` selects the API by its name alone. Otherwise the provider: a provider id, an alias that this node has pinned, or a domain ' +
        'whose `_souk` TXT record names a provider.'
    ),
  name: z.string().describe('Name of the API.'),
  path: z.string().describe('Forwarded to the API, with the query.')
}

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': z
    .string()
    .max(limits.IDEMPOTENCY_KEY_CHARS_MAX)
    .describe('Only one of all calls with the same key reaches the API. The others get its response, uncharged.')
}

export const PAYMENT_HEADER = {
  'PAYMENT-SIGNATURE': z
    .string()
    .describe('Instead of a key: an x402 version 2 payment that satisfies the `PAYMENT-REQUIRED` header of the 402.')
}

export const CALL_HEADERS = {
  ...IDEMPOTENCY_HEADER,
  'Souk-Max-Price': z
    .string()
    .regex(new RegExp(usdc.pattern))
    .describe('Maximum price of this call, in USDC. The key’s own limit still applies.'),
  'Souk-Timeout-Ms': z
    .int()
    .min(1)
    .describe(
      `Time limit of the call in milliseconds. Default ${limits.UPSTREAM_TIMEOUT_MS}, at most ${limits.UPSTREAM_TIMEOUT_MS_MAX}.`
    ),
  ...PAYMENT_HEADER
}

function readProtocol(text: string): string {
  const protocol = protocolNamed(text)
  if (protocol === undefined)
    throw new SoukError('invalid_request', `protocol must be one of ${PROTOCOL_NAMES.join(', ')}.`)
  return protocol
}

function readQuality(typed: string): number {
  const quality = /^(?:0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(typed) ? Number(typed) : Number.NaN
  if (!(quality >= 0 && quality <= 1))
    throw new SoukError('invalid_request', 'min_quality must be a number from 0 to 1.')
  return quality
}

function readSort(typed: string): ListingSort {
  const sort = LISTING_SORTS.find((known) => known === typed)
  if (sort === undefined) throw new SoukError('invalid_request', `sort must be one of ${LISTING_SORTS.join(', ')}.`)
  return sort
}

function readLimit(typed: string): number {
  const count = /^\d{1,4}$/.test(typed) ? Number(typed) : 0
  if (count < 1 || count > limits.PAGE_MAX) {
    throw new SoukError('invalid_request', `limit must be a whole number from 1 to ${limits.PAGE_MAX}.`)
  }
  return count
}

function readCursor(typed: string): number {
  if (!/^\d{1,15}$/.test(typed))
    throw new SoukError('invalid_request', 'cursor must be the next_cursor of the previous page.')
  return Number(typed)
}
