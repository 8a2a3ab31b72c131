/** Where an operation is called, and what about it is worth telling. */
export interface Target {
  readonly url: string
  readonly warning: string | undefined
}

/**
 * The address of a port, always at the origin that the WSDL was read from. WSDLs name inner hosts, test machines and
 * placeholders; and what a provider registered must decide where its node sends requests, not what a document says.
 */
export function addressOf(endpoint: URL, address: string | undefined): Target {
  const own = endpoint.origin + endpoint.pathname
  if (address === undefined || address === '') return { url: own, warning: undefined }
  const url = URL.parse(address, endpoint)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return {
      url: own,
      warning: `The address "${address.slice(0, 200)}" in the WSDL is not an HTTP URL; ${own} is called instead.`
    }
  }
  const here = endpoint.origin + url.pathname + url.search
  const foreign = url.origin !== endpoint.origin
  return {
    url: here,
    warning: foreign
      ? `The WSDL's address is at ${url.origin}, but it was read from ${endpoint.origin}: ${here} is called.`
      : undefined
  }
}
