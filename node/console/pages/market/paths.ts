export type ListingTab = 'try' | 'plans'

/** The page of a listing; its first tab where none is named. */
export function pathOf(id: string, tab?: ListingTab): string {
  return `/market/${encodeURIComponent(id)}${tab === undefined ? '' : `/${tab}`}`
}
