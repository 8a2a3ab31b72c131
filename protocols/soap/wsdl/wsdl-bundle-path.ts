/** Reads one file of a bundle. @throws SoukError `response_too_large` above `bytesMax`, `invalid_request` */
export type ReadFile = (bytesMax: number) => Promise<Uint8Array>

/** The normalised path in a bundle: `/` between folders, no dots. Undefined for an empty path or one that leads out. */
export function bundlePath(name: string): string | undefined {
  const path = name.replaceAll('\\', '/')
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\0')) return undefined
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  return steps.length === 0 || steps.includes('..') ? undefined : steps.join('/')
}

/** The URL that identifies a file of a bundle; nothing is ever read from it. */
export function bundleUrl(path: string): URL {
  return new URL(path.replaceAll(/[%?#]/g, encodeURIComponent), 'file:///')
}

/** The path in a bundle of a URL that was resolved against `bundleUrl`. */
export function pathIn(url: URL): string {
  const path = url.pathname.slice(1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** A file's name as shown to its provider. */
export function shownUrl(url: string | URL): string {
  const parsed = new URL(url)
  if (parsed.protocol === 'file:') return pathIn(parsed)
  return /^https?:$/.test(parsed.protocol) ? parsed.origin + parsed.pathname + parsed.search : parsed.href
}
