import type { IncomingMessage } from 'node:http'
import { limits, type SoukError } from '../../../lib/index.ts'
import { CHALLENGE_EXTENSION, PAYMENT_MEMBER } from '../../../lib/interface/index.ts'
import { publicUrl } from '../public-url.ts'
import type { RequestContext } from '../request-context.ts'

/** Headers of x402 version 2. */

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The `PAYMENT-REQUIRED` header for an error that carries payment terms. */
export function paymentRequired({ req, requestIdText: id }: RequestContext, error: SoukError): string[] {
  const offer = offerOf(error)
  if (offer === undefined) return []
  const url = resourceUrl(req)
  const extensions = { ...offer.extensions, [CHALLENGE_EXTENSION]: { info: { id }, schema: CHALLENGE_SCHEMA } }
  const value = { x402Version: 2, ...offer, resource: { url, mimeType: 'application/json' }, extensions }
  const header = encoded(value)
  return header.length > limits.HEADER_BYTES_MAX / 2 ? [] : ['Payment-Required', header]
}

/** The URL of the API that a request names, or of another paid resource, without a query. Signed offers name it. */
export function resourceUrl(req: Pick<IncomingMessage, 'headers' | 'socket' | 'url'>): string {
  const path = req.url?.split('?', 1)[0] ?? ''
  return publicUrl(req) + (/^\/api\/[^/]+\/api\/[^/]+/.exec(path)?.[0] ?? path)
}

const CHALLENGE_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id']
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** The `PAYMENT-RESPONSE` header for an error that carries the state of a settlement. */
export function settlementState(error: SoukError): string[] {
  const settlement = memberOf(error)['settlement']
  return typeof settlement === 'object' && settlement !== null ? paymentResponse(encoded(settlement)) : []
}

/** The `PAYMENT-RESPONSE` header of a response. Providers are untrusted: an invalid value is omitted. */
export function paymentResponse(payment: string): string[] {
  return isPayment(payment) ? ['Payment-Response', payment] : []
}

/** Checks the form of a payment header, not its content. */
export function isPayment(text: unknown): text is string {
  return typeof text === 'string' && text.length <= limits.PAYMENT_CHARS_MAX && BASE64.test(text)
}

/** The payment terms in an error, if the provider sent any. */
export function offerOf(error: SoukError): Offer | undefined {
  const { accepts, extensions, ...rest } = memberOf(error)
  if (!Array.isArray(accepts)) return undefined
  return { ...rest, accepts, extensions: plainObject(extensions) }
}

export interface Offer {
  readonly accepts: readonly unknown[]
  readonly extensions: Readonly<Record<string, unknown>>
}

const memberOf = (error: SoukError) => plainObject(error.members?.[PAYMENT_MEMBER])

/** A copy of an untrusted JSON object; empty for any other value. */
export const plainObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
