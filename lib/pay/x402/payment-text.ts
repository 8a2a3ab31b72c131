import type { PaymentPayload, SettleResponse } from '@x402/core/types'
import { sha256, utf8 } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import { type Hex, toHex } from '../../base/hex.ts'
import { PAYMENT_CHARS_MAX } from '../../base/limits/call.ts'
import { COLLECT_WAIT_MS } from '../../base/limits/pay.ts'
import { type Admission, CHALLENGE_EXTENSION, PAYMENT_MEMBER } from '../../interface/payment-scheme.ts'

/** The x402 extension for client-chosen payment names. It identifies a repeat with a new signature. */
export const PAYMENT_IDENTIFIER = 'payment-identifier'

/** 16 to 128 characters, as the extension requires. */
const PAYMENT_ID = /^[a-zA-Z0-9_-]{16,128}$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * Parses the value of a `PAYMENT-SIGNATURE` header. The scheme-specific part is not validated here.
 * @throws SoukError `payment_malformed`
 */
export async function readPayment(text: string): Promise<PaymentPayload> {
  if (!hasForm(text)) throw malformed('it is not base64, or it is too long')
  // Loaded with the first payment, because most nodes and all commands never see one.
  const { PaymentPayloadV2Schema } = await import('@x402/core/schemas')
  const parsed = PaymentPayloadV2Schema.safeParse(json(Buffer.from(text, 'base64').toString()))
  if (!parsed.success) throw malformed('it is not a payment of x402 version 2')
  return parsed.data as PaymentPayload
}

/** The JSON value in a `PAYMENT-SIGNATURE` header, not validated. Undefined if it has none. */
export const peekPayment = (text: string): unknown =>
  hasForm(text) ? json(Buffer.from(text, 'base64').toString()) : undefined

const hasForm = (text: string): boolean => text.length <= PAYMENT_CHARS_MAX && BASE64.test(text)

/** The value of a `PAYMENT-RESPONSE` header. */
export function writeSettlement(response: SettleResponse): string {
  return Buffer.from(JSON.stringify(response)).toString('base64')
}

/**
 * The error for a settlement whose outcome is not known yet.
 * @param settlement its state in x402 terms
 * @param notAccepted true if another owner of the API knows more
 */
export function pendingSettlement(
  detail: string,
  settlement: Omit<SettleResponse, 'success' | 'errorReason'>,
  notAccepted = false
): SoukError {
  return new SoukError('settlement_pending', detail, {
    source: 'owner',
    notAccepted,
    retryAfterMs: COLLECT_WAIT_MS / 2,
    members: { [PAYMENT_MEMBER]: { settlement: { success: false, errorReason: 'settlement_pending', ...settlement } } }
  })
}

/** A name that identifies a payment even after the client signs it again. */
export interface PaymentName {
  readonly text: string
  /** The error for a payment under this name for another request. */
  readonly conflict: () => SoukError
}

/**
 * The client's name for its payment, else its idempotency key for calls of this API.
 * @throws SoukError `payment_malformed` for an invalid name
 */
export function paymentNameOf(payload: PaymentPayload, { api, payment }: Admission): PaymentName | undefined {
  const id = paymentIdOf(payload)
  if (id !== undefined) return { text: id, conflict }
  const key = payment?.idempotencyKey
  if (key === undefined) return undefined
  // Contains a colon, which client names cannot contain, so the two kinds never collide.
  const text = `key:${toHex(sha256(utf8(`${api}\n${key}`)))}`
  return { text, conflict: () => new SoukError('idempotency_mismatch', undefined, { source: 'owner' }) }
}

/**
 * Identifies a payment that is sent twice. Undefined if a client that lost its state could write the same payment for another
 * call: a voucher alone has nothing that is used once.
 */
export function fingerprintOf({ extensions, payload }: PaymentPayload, { payment }: Admission): Hex | undefined {
  const challenge = member(member(extensions?.[CHALLENGE_EXTENSION], 'info'), 'id')
  const isUnique = payload['type'] === 'deposit' || (typeof challenge === 'string' && challenge !== '')
  return isUnique && payment !== undefined ? toHex(sha256(utf8(payment.text))) : undefined
}

/** A payment, or a payment name, that was used for another request. */
export const conflict = () => new SoukError('payment_id_conflict', undefined, { source: 'owner' })

function paymentIdOf({ extensions }: PaymentPayload): string | undefined {
  const id = member(member(extensions?.[PAYMENT_IDENTIFIER], 'info'), 'id')
  if (id === undefined) return undefined
  if (typeof id === 'string' && PAYMENT_ID.test(id)) return id
  throw malformed('its payment identifier is not 16 to 128 letters, digits, "-" and "_"')
}

export function malformed(why: string): SoukError {
  return new SoukError('payment_malformed', `The payment is malformed: ${why}.`, { source: 'owner' })
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
