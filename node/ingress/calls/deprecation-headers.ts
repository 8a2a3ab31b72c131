import type { Deprecation } from '../../../lib/interface/index.ts'

const SECOND = 1_000

/**
 * Notice that an API ends: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and by `Link` what to call instead and where more is said. All of it
 * is of the signed manifest.
 */
export function deprecationHeaders({ at, sunsetAt, successor, link }: Deprecation): string[] {
  const links = [
    ...(successor === undefined ? [] : [`</v1/apis/${encodeURIComponent(successor)}>; rel="successor-version"`]),
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
