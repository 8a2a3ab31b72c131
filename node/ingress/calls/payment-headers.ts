import { limits, type SoukError } from '../../../lib/index.ts'
import { PAYMENT_MEMBER } from '../../../lib/interface/index.ts'
import type { RequestContext } from '../request-context.ts'

/** Headers of x402 version 2. */

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The `PAYMENT-REQUIRED` header for an error that carries payment terms. */
export function paymentRequired({ req }: RequestContext, error: SoukError): string[] {
  const offer = offerOf(error)
  if (offer === undefined) return []
  // Only the sender sees this URL, so the proxy’s header needs no trust.
  const isTls = 'encrypted' in req.socket || req.headers['x-forwarded-proto'] === 'https'
  const url = `${isTls ? 'https' : 'http'}://${req.headers.host ?? ''}${req.url ?? ''}`
  const value = { x402Version: 2, ...offer, resource: { url, mimeType: 'application/json' } }
  const header = Buffer.from(JSON.stringify(value)).toString('base64')
  return header.length > limits.HEADER_BYTES_MAX / 2 ? [] : ['Payment-Required', header]
}

/** The `PAYMENT-RESPONSE` header of a response. Providers are untrusted: an invalid value is omitted. */
export function paymentResponse(payment: string | undefined): string[] {
  return isPayment(payment) ? ['Payment-Response', payment] : []
}

/** Checks the form of a payment header, not its content. */
export function isPayment(text: unknown): text is string {
  return typeof text === 'string' && text.length <= limits.PAYMENT_CHARS_MAX && BASE64.test(text)
}

/** The payment terms in an error, if the provider sent any. */
export function offerOf(error: SoukError): { readonly accepts: readonly unknown[] } | undefined {
  const offer = error.members?.[PAYMENT_MEMBER]
  const isOffer = typeof offer === 'object' && offer !== null && 'accepts' in offer && Array.isArray(offer.accepts)
  return isOffer ? (offer as { readonly accepts: readonly unknown[] }) : undefined
}
