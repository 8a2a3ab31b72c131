import { SoukError, isSoukError } from '../lib/base/errors.ts'
import type { Protocol, UpstreamConfig } from '../lib/interface/adapter.ts'
import { RedirectedAway } from './upstream/failure.ts'

/**
 * The provider's error if the endpoint cannot be registered. It contains the target of a redirect, which consumers never see, so
 * that the provider can correct the address.
 */
export function diagnosis(error: unknown): unknown {
  if (isSoukError(error) && error.cause instanceof RedirectedAway) {
    return new SoukError(
      'invalid_request',
      `The endpoint redirects to ${error.cause.to}. Register that address instead.`,
      {
        cause: error,
        source: 'upstream'
      }
    )
  }
  return error
}

/**
 * Rejects SOAP-only settings for other protocols, instead of ignoring a password or a WSDL.
 * @throws SoukError `invalid_request`
 */
export function checkNotSoap({ wsdl, auth }: UpstreamConfig, protocol: Protocol): void {
  const given = { wsdl, 'auth.username_token': auth?.usernameToken, 'auth.soap_headers': auth?.soapHeaders }
  const [member] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (member === undefined) return
  throw new SoukError('invalid_request', `${member} is only for SOAP APIs, but this API is registered as ${protocol}.`)
}
