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
  const links = [...linksIn(header)].flatMap(([target, parameters]) => {
    const path = belowApi(target.trim())
    return path === undefined ? [] : [`<${path}>${parameters.trimEnd()}`]
  })
  return links.length === 0 ? undefined : links.join(', ')
}

/** Target and parameters of each link (RFC 8288 §3). An unfinished quoted string ends the header, so that each character is read once. */
function* linksIn(header: string): Generator<readonly [target: string, parameters: string]> {
  for (let open = header.indexOf('<'); open !== -1; ) {
    const close = header.indexOf('>', open)
    if (close === -1) return
    const target = header.slice(header.lastIndexOf('<', close) + 1, close)
    let end = close + 1
    let isQuoted = false
    for (; end < header.length; end++) {
      const char = header[end]
      if (isQuoted && char === '\\') end++
      else if (char === '"') isQuoted = !isQuoted
      else if (!isQuoted && (char === ',' || char === '<')) break
    }
    if (isQuoted) return
    yield [target, header.slice(close + 1, end)]
    open = header.indexOf('<', end)
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
