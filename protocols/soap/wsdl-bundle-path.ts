/** One file of a bundle. @throws SoukError `response_too_large` past so many bytes, `invalid_request` */
export type ReadFile = (bytesMax: number) => Promise<Uint8Array>

/** A path within a bundle as it is looked up: `/` between folders, no dots. Undefined for one that leads out, or nowhere. */
export function bundlePath(name: string): string | undefined {
  const path = name.replaceAll('\\', '/')
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\0')) return undefined
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  return steps.length === 0 || steps.includes('..') ? undefined : steps.join('/')
}

/** The URL by which a file of a bundle is referred to; nothing is ever read from there. */
export function bundleUrl(path: string): URL {
  return new URL(path.replaceAll(/[%?#]/g, encodeURIComponent), 'file:///')
}

/** The path in a bundle that a URL means, for what was resolved against `bundleUrl`. */
export function pathIn(url: URL): string {
  const path = url.pathname.slice(1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** A file as its provider knows it. */
export function shownUrl(url: string | URL): string {
  const parsed = new URL(url)
  if (parsed.protocol === 'file:') return pathIn(parsed)
  return /^https?:$/.test(parsed.protocol) ? parsed.origin + parsed.pathname + parsed.search : parsed.href
}
