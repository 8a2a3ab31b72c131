import { z } from 'zod'
import { limits, parseUsdc, SoukError } from '../../lib/index.ts'
import { LISTING_SORTS, type ListingSort } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES, protocolNamed } from '../../protocols/protocol-descriptors.ts'

/** Parameters of the ingress: what each takes and means. One name means the same everywhere. */

const usdc = { type: 'string', pattern: String.raw`^\d+(\.\d{1,6})?$` } as const

/** A parameter in the query. `read` throws SoukError `invalid_request`; `about` is its JSON Schema. */
function queried<T>(read: (text: string) => T, about: Readonly<Record<string, unknown>>) {
  return z.string().transform(read).optional().meta(about)
}

const text = (description: string) => z.string().optional().describe(description)

const limit = queried(readLimit, {
  type: 'integer',
  minimum: 1,
  maximum: limits.PAGE_MAX,
  description: 'How many are told at once.'
})

/** A page of a list whose cursors are numbers. */
export const pageQuery = z.object({
  limit,
  cursor: queried(readCursor, { type: 'string', description: '`next_cursor` of the page before.' })
})

export const searchQuery = z.object({
  q: text('Words that all begin words of name, description, tags or operations.'),
  protocol: queried(readProtocol, { enum: PROTOCOL_NAMES, description: 'What the API behind it speaks.' }),
  tag: text('A tag that it has.'),
  max_price: queried(parseUsdc, { ...usdc, description: 'Most that a call may cost, in USDC.' }),
  min_quality: queried(readQuality, {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Least `quality.score`, by calls of this node.'
  }),
  sort: queried(readSort, { enum: LISTING_SORTS, description: 'What comes first. Default `relevance`.' }),
  limit,
  cursor: text('`next_cursor` of the page before.')
})

export const bazaarQuery = z.object({
  type: text('`http`, or nothing is found.'),
  scheme: text('Of the payment.'),
  network: text('Of the payment, as CAIP-2 has it.'),
  payTo: text('Who is paid.'),
  extensions: text('`bazaar`, or nothing is found.'),
  limit: text('How many are told at once.'),
  offset: text('How many are left out first.')
})

/** Parameters in paths, for documents. Others are any text. */
export const PATH_PARAMETERS = {
  scope: z
    .string()
    .describe(
      '`demo`: the API is known by its name alone. Else who provides it: a provider id, an alias that this node has pinned, or a domain ' +
        'whose `_souk` TXT record names a provider.'
    ),
  name: z.string().describe('Name of the API.'),
  path: z.string().describe('Passed on to the API, with the query.')
}

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': z
    .string()
    .max(limits.IDEMPOTENCY_KEY_CHARS_MAX)
    .describe('Of all calls with the same key one reaches the API, and the others get its response, uncharged.')
}

export const PAYMENT_HEADER = {
  'PAYMENT-SIGNATURE': z
    .string()
    .describe('Instead of a key: a payment by x402 version 2, for what the 402 asks in `PAYMENT-REQUIRED`.')
}

export const CALL_HEADERS = {
  ...IDEMPOTENCY_HEADER,
  'Souk-Max-Price': z
    .string()
    .regex(new RegExp(usdc.pattern))
    .describe('Most that this call may cost, in USDC. Never more than the key allows.'),
  'Souk-Timeout-Ms': z
    .int()
    .min(1)
    .describe(
      `How long it may take. Default ${limits.UPSTREAM_TIMEOUT_MS}, at most ${limits.UPSTREAM_TIMEOUT_MS_MAX}.`
    ),
  ...PAYMENT_HEADER
}

function readProtocol(text: string): string {
  const protocol = protocolNamed(text)
  if (protocol === undefined) throw new SoukError('invalid_request', `protocol is one of ${PROTOCOL_NAMES.join(', ')}.`)
  return protocol
}

function readQuality(typed: string): number {
  const quality = /^(?:0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(typed) ? Number(typed) : Number.NaN
  if (!(quality >= 0 && quality <= 1)) throw new SoukError('invalid_request', 'min_quality is a number from 0 to 1.')
  return quality
}

function readSort(typed: string): ListingSort {
  const sort = LISTING_SORTS.find((known) => known === typed)
  if (sort === undefined) throw new SoukError('invalid_request', `sort is one of ${LISTING_SORTS.join(', ')}.`)
  return sort
}

function readLimit(typed: string): number {
  const count = /^\d{1,4}$/.test(typed) ? Number(typed) : 0
  if (count < 1 || count > limits.PAGE_MAX) {
    throw new SoukError('invalid_request', `limit is a whole number from 1 to ${limits.PAGE_MAX}.`)
  }
  return count
}

function readCursor(typed: string): number {
  if (!/^\d{1,15}$/.test(typed)) throw new SoukError('invalid_request', 'cursor is what the page before gave.')
  return Number(typed)
}
