import { limits } from '../../lib/index.ts'
import { LISTING_SORTS } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES } from '../../protocols/protocol-descriptors.ts'

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 1 }
const usdc = { type: 'string', pattern: String.raw`^\d+(\.\d{1,6})?$` }

/** What a parameter of a route means and takes, by its name: one name means the same everywhere. */
export const PARAMETERS: Readonly<Record<string, { readonly description: string; readonly schema: object }>> = {
  scope: {
    description:
      '`demo`: the API is known by its name alone. Else who provides it: a provider id, an alias that this node has pinned, or a domain ' +
      'whose `_souk` TXT record names a provider.',
    schema: text
  },
  name: { description: 'Name of the API.', schema: text },
  path: { description: 'Passed on to the API, with the query.', schema: text },
  q: { description: 'Words that all begin words of name, description, tags or operations.', schema: text },
  protocol: { description: 'What the API behind it speaks.', schema: { enum: PROTOCOL_NAMES } },
  tag: { description: 'A tag that it has.', schema: text },
  max_price: { description: 'Most that a call may cost, in USDC.', schema: usdc },
  min_quality: {
    description: 'Least `quality.score`, by calls of this node.',
    schema: { type: 'number', minimum: 0, maximum: 1 }
  },
  sort: { description: 'What comes first. Default `relevance`.', schema: { enum: LISTING_SORTS } },
  limit: { description: 'How many are told at once.', schema: whole },
  cursor: { description: '`next_cursor` of the page before.', schema: text },
  'Idempotency-Key': {
    description: 'Of all calls with the same key one reaches the API, and the others get its answer, uncharged.',
    schema: { type: 'string', maxLength: limits.IDEMPOTENCY_KEY_CHARS_MAX }
  },
  'Souk-Max-Price': {
    description: 'Most that this call may cost, in USDC. Never more than the key allows.',
    schema: usdc
  },
  'Souk-Timeout-Ms': {
    description: `How long it may take. Default ${limits.UPSTREAM_TIMEOUT_MS}, at most ${limits.UPSTREAM_TIMEOUT_MS_MAX}.`,
    schema: whole
  },
  'PAYMENT-SIGNATURE': {
    description: 'Instead of a key: a payment by x402 version 2, for what the 402 asks in `PAYMENT-REQUIRED`.',
    schema: text
  }
}
