import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { isApiName, isProviderId } from '../base/api-name.ts'
import { text, utf8 } from '../base/bytes.ts'
import { malformed } from '../base/malformed.ts'
import { LISTING_SORTS, type ListingSort } from '../interface/listing-index.ts'

/** The position of a listing in an order: compared by tier, then value, then id, ascending. */
export interface Place {
  readonly tier: number
  readonly value: number
  readonly id: string
}

export function encodeCursor(sort: ListingSort, { tier, value, id }: Place): string {
  return toString(utf8(JSON.stringify([LISTING_SORTS.indexOf(sort), tier, value, id])), 'base64url')
}

/** @throws SoukError `invalid_request` if the cursor is invalid, or of another order */
export function decodeCursor(sort: ListingSort, cursor: string): Place {
  try {
    const [kind, tier, value, id, ...rest] = JSON.parse(text(fromString(cursor, 'base64url'))) as unknown[]
    if (rest.length > 0 || kind !== LISTING_SORTS.indexOf(sort)) throw new TypeError('of another order')
    if (!Number.isSafeInteger(tier) || !Number.isSafeInteger(value) || typeof id !== 'string')
      throw new TypeError('no place')
    const [name = '', provider = '', ...more] = id.split('@')
    if (more.length > 0 || !isApiName(name) || !isProviderId(provider)) throw new TypeError('no id')
    return { tier: tier as number, value: value as number, id }
  } catch (error) {
    throw malformed('cursor', 'The cursor is invalid. Use the cursor of an earlier page with the same order.', error)
  }
}
