/**
 * Headers that a provider can never forward in either direction: credentials, cookies, framing, addresses, and headers
 * that this node sets. `location` and `content-location` would reveal internal addresses.
 */
const NEVER =
  /^(?:host|connection|keep-alive|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|date|server|user-agent|accept-encoding|authorization|www-authenticate|cookie2?|set-cookie2?|forwarded|via|location|content-location|x-consumer-key|x-request-id|alt-svc|strict-transport-security|(?:proxy|souk|access-control|x-forwarded|payment|x-payment|if)-.*)$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/

/** Whether a provider may forward a header. */
export function isExtraHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return TOKEN.test(lower) && !NEVER.test(lower)
}
