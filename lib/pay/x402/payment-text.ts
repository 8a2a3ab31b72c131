import type { PaymentPayload, SettleResponse } from '@x402/core/types'
import { SoukError } from '../../base/errors.ts'
import { PAYMENT_CHARS_MAX } from '../../base/limits.ts'

/** x402's own extension by which a client names a payment, so that a repeat with a new signature is known for one. */
export const PAYMENT_IDENTIFIER = 'payment-identifier'

/** 16 to 128 characters, as the extension has it. */
const PAYMENT_ID = /^[a-zA-Z0-9_-]{16,128}$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The value of a `PAYMENT-SIGNATURE` header. Its form only: the scheme's own part of it is any object still.
 * @throws SoukError `payment_malformed`
 */
export async function readPayment(text: string): Promise<PaymentPayload> {
  if (text.length > PAYMENT_CHARS_MAX || !BASE64.test(text)) throw malformed('it is not base64, or too long')
  // Loaded with the first payment: most nodes and all commands never see one.
  const { PaymentPayloadV2Schema } = await import('@x402/core/schemas')
  const parsed = PaymentPayloadV2Schema.safeParse(json(Buffer.from(text, 'base64').toString()))
  if (!parsed.success) throw malformed('it is no payment of x402 version 2')
  return parsed.data as PaymentPayload
}

/** The value of a `PAYMENT-RESPONSE` header. */
export function writeSettlement(response: SettleResponse): string {
  return Buffer.from(JSON.stringify(response)).toString('base64')
}

/** What the client calls its payment. @throws SoukError `payment_malformed` for a name that is none */
export function paymentIdOf({ extensions }: PaymentPayload): string | undefined {
  const id = member(member(extensions?.[PAYMENT_IDENTIFIER], 'info'), 'id')
  if (id === undefined) return undefined
  if (typeof id === 'string' && PAYMENT_ID.test(id)) return id
  throw malformed('its payment identifier is not 16 to 128 letters, digits, "-" and "_"')
}

export function malformed(why: string): SoukError {
  return new SoukError('payment_malformed', `The payment could not be read: ${why}.`, { source: 'owner' })
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
