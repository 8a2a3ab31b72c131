export type ListingTab = 'try' | 'plans'

/** Path of a listing's page. The default is the first tab. */
export function pathOf(id: string, tab?: ListingTab): string {
  return `/market/${encodeURIComponent(id)}${tab === undefined ? '' : `/${tab}`}`
}
