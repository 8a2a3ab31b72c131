import type { Deprecation } from '../../../lib/interface/index.ts'

const SECOND = 1_000

/**
 * Deprecation notice of an API: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and `Link` to the successor and further information. All
 * values come from the signed manifest.
 * @param ingress its base URL
 */
export function deprecationHeaders({ at, sunsetAt, successor, link }: Deprecation, ingress: string): string[] {
  const links = [
    ...(successor === undefined
      ? []
      : [`<${ingress}/v1/apis/${encodeURIComponent(successor)}>; rel="successor-version"`]),
    ...(link === undefined ? [] : [`<${link}>; rel="deprecation"; type="text/html"`])
  ]
  return [
    'Deprecation',
    `@${Math.floor(at / SECOND)}`,
    'Sunset',
    new Date(sunsetAt).toUTCString(),
    ...(links.length === 0 ? [] : ['Link', links.join(', ')])
  ]
}
