/**
 * What no provider can let through, either way: credentials, cookies, framing, addresses, and what this node says itself.
 * `location` and `content-location` name inner addresses.
 */
const NEVER =
  /^(?:host|connection|keep-alive|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|date|server|user-agent|accept-encoding|authorization|www-authenticate|cookie2?|set-cookie2?|forwarded|via|location|content-location|x-consumer-key|x-request-id|alt-svc|strict-transport-security|(?:proxy|souk|access-control|x-forwarded|payment|x-payment|if)-.*)$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/

/** Whether a header may be let through at all. */
export function isExtraHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return TOKEN.test(lower) && !NEVER.test(lower)
}
