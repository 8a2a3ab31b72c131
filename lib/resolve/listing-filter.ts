import { type ApiId, parseApiRef } from '../base/api-name.ts'
import { text, utf8 } from '../base/bytes.ts'
import { SoukError } from '../base/errors.ts'
import { PAGE_MAX, SEARCH_CHARS_MAX } from '../base/limits.ts'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { SearchPage, SearchQuery } from '../interface/directory.ts'
import type { ListingState, SignedManifest } from '../interface/manifest.ts'

/** What a search shows: what can be called. */
const SHOWN: ReadonlySet<ListingState> = new Set(['published', 'deprecated'])

/**
 * One page of the listings that match, in the order of their ids. The cursor names the last listing shown, so that pages
 * neither repeat nor skip anything when listings come and go.
 * @throws SoukError `invalid_request` for a limit or cursor that is none
 */
export function searchPage(listings: Iterable<SignedManifest>, query: SearchQuery): SearchPage {
  const { limit = PAGE_MAX, cursor } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new SoukError('invalid_request', `The limit is 1 to ${PAGE_MAX}.`)
  }
  const after = cursor === undefined ? '' : decodeCursor(cursor)
  const matches = matcher(query)
  const found = [...listings].filter((signed) => signed.id > after && matches(signed))
  found.sort((a, b) => (a.id < b.id ? -1 : 1))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    listings: page,
    ...(last === undefined || found.length === page.length ? {} : { next: encodeCursor(last.id) })
  }
}

function matcher({ text = '', protocol, tag, maxPrice }: SearchQuery): (signed: SignedManifest) => boolean {
  if (text.length > SEARCH_CHARS_MAX) {
    throw new SoukError('invalid_request', `A search has at most ${SEARCH_CHARS_MAX} characters.`)
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ manifest }) => {
    const { name, description, tags, price, state } = manifest
    const all = [name, description, ...tags].join('\n').toLowerCase()
    return (
      SHOWN.has(state) &&
      (protocol === undefined || manifest.protocol.toLowerCase() === protocol.toLowerCase()) &&
      (tag === undefined || tags.some((own) => own.toLowerCase() === tag.toLowerCase())) &&
      (maxPrice === undefined || price <= maxPrice) &&
      words.every((word) => all.includes(word))
    )
  }
}

const encodeCursor = (id: ApiId): string => toString(utf8(id), 'base64url')

function decodeCursor(cursor: string): string {
  try {
    const id = text(fromString(cursor, 'base64url'))
    parseApiRef(id)
    return id
  } catch (error) {
    throw new SoukError('invalid_request', 'The cursor is not one of ours.', { cause: error })
  }
}
