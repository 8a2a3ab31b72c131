import { z } from 'zod'
import { limits, SoukError } from '../../lib/index.ts'

/** The page of a list that a request asks for. */
export const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(limits.ADMIN_PAGE_MAX).default(limits.ADMIN_PAGE_MAX),
  cursor: z.string().optional().describe('`next` of the previous page.')
})

export const nextPage = z.string().nullable().describe('`cursor` of the next page; null on the last page.')

interface Listed {
  readonly id: string
  readonly createdAt: number
}

const CURSOR = /^(\d{1,16})\.([\w-]{1,80})$/

/**
 * A page of a list, newest first. A cursor names the last entry that was seen, so entries that come or go move no others.
 * @throws SoukError `invalid_request`
 */
export function pageOf<T extends Listed>(
  all: readonly T[],
  { limit, cursor }: z.output<typeof pageSchema>
): { readonly page: readonly T[]; readonly next: string | null } {
  const seen = cursor === undefined ? undefined : lastSeen(cursor)
  const rest = all.toSorted(newestFirst).filter((each) => seen === undefined || newestFirst(seen, each) < 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return { page, next: last === undefined || page.length === rest.length ? null : `${last.createdAt}.${last.id}` }
}

function lastSeen(cursor: string): Listed {
  const [, at, id] = CURSOR.exec(cursor) ?? []
  if (at === undefined || id === undefined) {
    throw new SoukError('invalid_request', 'The cursor is not one of an earlier page.')
  }
  return { id, createdAt: Number(at) }
}

function newestFirst(a: Listed, b: Listed): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
