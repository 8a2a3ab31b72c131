/** One link of a header `Link` (RFC 8288 §3): its target, and its parameters. */
const LINK = /<([^<>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g

/** The address of the API, as its registration and its node know it. */
export interface ApiAddress {
  readonly endpoint: URL
  /** Request target of the call, which relative references start from. */
  readonly target: string
  /** Names of query parameters that the node adds to each request. */
  readonly own: ReadonlySet<string>
}

/** A reference as path, query and fragment below the API's endpoint; undefined if it leads elsewhere. */
export function pathBelow(reference: string, { endpoint, target, own }: ApiAddress): string | undefined {
  const url = URL.parse(reference, endpoint.origin + target)
  if (url === null || url.origin !== endpoint.origin) return undefined
  const base = endpoint.pathname.replace(/\/$/, '')
  if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined
  const query = url.search.slice(1).split('&')
  const left = query.filter((pair) => pair !== '' && !own.has(decoded(pair.split('=', 1)[0] ?? '')))
  const path = url.pathname.slice(base.length)
  return `${path === '' ? '/' : path}${left.length === 0 ? '' : `?${left.join('&')}`}${url.hash}`
}

/** The links that lead to the API; undefined if there is none. */
export function linksBelow(header: string, belowApi: (reference: string) => string | undefined): string | undefined {
  const links = [...header.matchAll(LINK)].flatMap(([, target = '', parameters = '']) => {
    const path = belowApi(target.trim())
    return path === undefined ? [] : [`<${path}>${parameters.trimEnd()}`]
  })
  return links.length === 0 ? undefined : links.join(', ')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
