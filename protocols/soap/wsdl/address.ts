import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { parseEndpoint } from '../../upstream/target.ts'
import { isHandedOver } from './wsdl-source.ts'

/** The URL of an operation, and a warning for the provider. */
export interface Target {
  readonly url: string
  readonly warning: string | undefined
}

/** Resolves an operation's URL from the address in the WSDL. */
export type Targeting = (address: string | undefined) => Target

/** The query under which frameworks publish a service's WSDL at the service's own address. */
const WSDL_QUERY = /^\?(?:single)?wsdl\d?(?:[=&]|$)/i

/**
 * Decides the URLs of an API's operations. The provider's registration decides where its node sends requests, not the WSDL,
 * because WSDLs name internal hosts, test machines and placeholders.
 *
 * - A WSDL that was read from the endpoint: each operation at its path in the WSDL, at the endpoint's origin.
 * - An uploaded WSDL: all operations at the endpoint, without a query such as `?wsdl`. If the endpoint is only an origin, or is
 * one of the WSDL's addresses: each operation at its path in the WSDL, at the endpoint's origin.
 */
export function targetsOf(
  config: Pick<UpstreamConfig, 'endpoint' | 'wsdl'>,
  addresses: readonly (string | undefined)[]
): Targeting {
  const endpoint = parseEndpoint(config.endpoint)
  if (!isHandedOver(config)) return (address) => addressOf(endpoint, address)
  const isOrigin = endpoint.pathname === '/' && endpoint.search === ''
  if (isOrigin || addresses.some((address) => isAt(endpoint, address))) {
    return (address) => {
      const { url, warning } = addressOf(endpoint, address)
      return { url, warning: isElsewhere(endpoint, address) ? undefined : warning }
    }
  }
  const url = endpoint.origin + endpoint.pathname + (WSDL_QUERY.test(endpoint.search) ? '' : endpoint.search)
  const paths = new Set(addresses.map((address) => URL.parse(address ?? '')?.pathname ?? ''))
  const warning =
    paths.size < 2
      ? undefined
      : `The WSDL has ${paths.size} addresses, and the endpoint is none of them. All operations are called at ${url}. To use the paths of the WSDL, register only ${endpoint.origin}.`
  return () => ({ url, warning })
}

/** The URL is always at the endpoint's origin. */
function addressOf(endpoint: URL, address: string | undefined): Target {
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
  return {
    url: here,
    warning: isElsewhere(endpoint, address)
      ? `The WSDL's address is at ${url.origin}, but it was read from ${endpoint.origin}: ${here} is called.`
      : undefined
  }
}

function isElsewhere(endpoint: URL, address: string | undefined): boolean {
  const url = URL.parse(address ?? '', endpoint)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin !== endpoint.origin
}

function isAt(endpoint: URL, address: string | undefined): boolean {
  const url = URL.parse(address ?? '')
  return url !== null && url.origin === endpoint.origin && url.pathname === endpoint.pathname
}
