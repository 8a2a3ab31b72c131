import { SoukError, isSoukError } from '../lib/base/errors.ts'
import type { Protocol, UpstreamConfig } from '../lib/interface/adapter.ts'
import { RedirectedAway } from './upstream/failure.ts'

/**
 * What a provider is told when the endpoint cannot be registered. Consumers never learn where an upstream redirects to;
 * its provider, who has to correct the address, does.
 */
export function diagnosis(error: unknown): unknown {
  if (isSoukError(error) && error.cause instanceof RedirectedAway) {
    return new SoukError(
      'invalid_request',
      `The endpoint redirects to ${error.cause.to}: register that address instead.`,
      {
        cause: error,
        source: 'upstream'
      }
    )
  }
  return error
}

/**
 * What only a SOAP API can have is refused for any other, and not left lying: a password that is never sent, or a WSDL that nobody reads.
 * @throws SoukError `invalid_request`
 */
export function checkNotSoap({ wsdl, auth }: UpstreamConfig, protocol: Protocol): void {
  const given = { wsdl, 'auth.username_token': auth?.usernameToken, 'auth.soap_headers': auth?.soapHeaders }
  const [member] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (member === undefined) return
  throw new SoukError('invalid_request', `${member} is for SOAP APIs only, and this one is registered as ${protocol}.`)
}
