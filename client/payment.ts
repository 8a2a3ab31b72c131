import { atomsOf } from './price.ts'
import { SoukError } from './souk-error.ts'

/** One way to pay, as in x402 version 2. */
export interface PaymentOption {
  readonly scheme: string
  /** CAIP-2, such as `eip155:8453`. */
  readonly network: `${string}:${string}`
  readonly asset: string
  /** The price in the asset's smallest unit. */
  readonly amount: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Record<string, unknown>
}

/** The payment terms of a call: the content of the `PAYMENT-REQUIRED` header. */
export interface PaymentTerms {
  x402Version: number
  error?: string
  resource: { url: string; mimeType?: string; description?: string }
  /** Only options within `maxPrice`. */
  accepts: PaymentOption[]
  extensions?: Record<string, unknown>
}

/**
 * Pays for one call. Returns the `PAYMENT-SIGNATURE` header: its value, or an object with it, as `encodePaymentSignatureHeader` of
 * `@x402/core` returns it.
 */
export type PaymentHook = (
  terms: PaymentTerms
) => string | Readonly<Record<string, string>> | Promise<string | Readonly<Record<string, string>>>

/**
 * Asks the hook to pay for the call that this response refused.
 * @returns the header's value; undefined if the response has no payment terms
 * @throws SoukError `price_exceeds_limit` before the hook is asked, if every option costs more than `maxPrice`; `payment_malformed` if the
 * hook returns no header; errors of the hook
 */
export async function paymentFor(
  { headers }: Response,
  hook: PaymentHook,
  maxPrice: string | undefined
): Promise<string | undefined> {
  const terms = termsOf(headers.get('payment-required'))
  if (terms === undefined) return undefined
  const most = maxPrice === undefined ? undefined : atomsOf(maxPrice)
  const accepts = terms.accepts.filter(({ amount }) => isWithin(amount, most))
  if (accepts.length === 0) {
    throw new SoukError('price_exceeds_limit', `The call costs more than your limit of ${maxPrice} USDC.`, { headers })
  }
  const paid = await hook({ ...terms, accepts })
  const payment = typeof paid === 'string' ? paid : Object.entries(paid ?? {}).find(isPaymentHeader)?.[1]
  if (payment === undefined || !/^[!-~]+$/.test(payment)) {
    throw new SoukError('payment_malformed', 'The payment hook returned no PAYMENT-SIGNATURE header.', { headers })
  }
  return payment
}

const isPaymentHeader = ([name]: [string, string]): boolean => name.toLowerCase() === 'payment-signature'

function isWithin(amount: unknown, most: bigint | undefined): boolean {
  return typeof amount === 'string' && /^\d{1,30}$/.test(amount) && (most === undefined || BigInt(amount) <= most)
}

/** Base64 of JSON. Undefined if it is missing or malformed. */
function termsOf(header: string | null): PaymentTerms | undefined {
  try {
    const bytes = Uint8Array.from(atob(header ?? ''), (char) => char.charCodeAt(0))
    const terms: unknown = JSON.parse(new TextDecoder().decode(bytes))
    const isTerms = typeof terms === 'object' && terms !== null && 'accepts' in terms && Array.isArray(terms.accepts)
    return isTerms ? (terms as PaymentTerms) : undefined
  } catch {
    return undefined
  }
}
