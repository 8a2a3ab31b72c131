import { type ErrorCode, isErrorCode, SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'
import { isRequestIdBytes } from '../../base/request-id.ts'
import { bytes, hex, named, nonEmpty, required, text, textAs, uint32, uint53, uint64 } from '../../base/wire/field.ts'
import { message, nested } from '../../base/wire/message.ts'
import { union } from '../../base/wire/union.ts'
import type { ChannelConfig, ChannelId } from '../../interface/channel.ts'
import type { Address, Signature } from '../../interface/signer.ts'
import { RECEIPT } from '../signing/receipt.ts'

export const PAY_PROTOCOL = '/souk/pay/1.0.0'

/** Member of a refusal's problem document: the owner's books of the channel, so that the payer can correct its own. */
export const BOOKS_MEMBER = 'channel'

/** A deposit that the payer asks an owner to submit. */
export interface DepositRequest {
  readonly config: ChannelConfig
  /** The counter of the salt in the config. */
  readonly counter: bigint
  readonly amount: Atoms
  /** Unix seconds. */
  readonly validAfter: number
  readonly validBefore: number
  /** The salt of the authorisation's nonce. */
  readonly salt: bigint
  readonly signature: Signature
  /** True if the owner may respond before the deposit is mined, with a credit. */
  readonly isEarly?: boolean
}

/** Asks for the receipt of a call that was charged to the channel. */
export interface ReceiptRequest {
  readonly channelId: ChannelId
  readonly requestId: Uint8Array
  /** The fault of the receipt that came with the response. Empty: the payer does not dispute the charge. */
  readonly dispute: string
}

export type PayRequest =
  | { readonly kind: 'terms' }
  | { readonly kind: 'deposit'; readonly deposit: DepositRequest }
  | { readonly kind: 'state'; readonly channelId: ChannelId }
  | { readonly kind: 'close'; readonly channelId: ChannelId }
  | { readonly kind: 'receipt'; readonly receipt: ReceiptRequest }

/** An owner's conditions for a channel. */
export interface Terms {
  readonly settlement: Address
  /** Minimum, in seconds. */
  readonly withdrawDelay: number
  readonly depositMin: Atoms
}

/** The owner's books of a channel: A with its signature, S and R. */
export interface ChannelBooks {
  readonly ceiling: Atoms
  /** Empty if there is no voucher yet. */
  readonly signature: Signature
  readonly captured: Atoms
  readonly reserved: Atoms
}

export type PayReply =
  | { readonly kind: 'terms'; readonly terms: Terms }
  /** `credit`: the total of calls that the owner serves although the deposit is not mined. */
  | { readonly kind: 'state'; readonly state: ChannelBooks; readonly credit?: Atoms }
  /** `receipt`: encoded as in a response. */
  | { readonly kind: 'receipt'; readonly receipt: Uint8Array }
  | { readonly kind: 'refusal'; readonly code: ErrorCode; readonly detail: string; readonly retryAfterMs?: number }

const ADDRESS_BYTES = 20
const WORD_BYTES = 32

export const CHANNEL_CONFIG = message('ChannelConfig', 'ChannelConfig of the channel contract.', {
  payer: hex(1, ADDRESS_BYTES),
  payerAuthorizer: hex(2, ADDRESS_BYTES),
  receiver: hex(3, ADDRESS_BYTES),
  receiverAuthorizer: hex(4, ADDRESS_BYTES),
  token: hex(5, ADDRESS_BYTES),
  withdrawDelay: uint53(6, 'Seconds.'),
  salt: hex(7, WORD_BYTES)
})

export const TERMS_REQUEST = message('TermsRequest', 'Asks for the conditions of a channel.', {})

export const DEPOSIT_REQUEST = message(
  'DepositRequest',
  `A deposit into a channel, new or known. The response is a ChannelState once the deposit is mined, or earlier: see
  \`early\`.`,
  {
    config: required(nested(CHANNEL_CONFIG, 1)),
    counter: uint64(
      2,
      'config.salt is keccak256("souk channel 1" || peer id of the payer, as text || counter, 8 bytes big-endian).'
    ),
    amount: uint64(3),
    validAfter: uint53(4, 'Unix seconds.'),
    validBefore: uint53(5),
    salt: uint64(
      6,
      'Chosen by the payer, never twice for one channel. The EIP-3009 nonce is keccak256(channel id, salt).'
    ),
    signature: bytes(7, 'EIP-3009 ReceiveWithAuthorization to the collector, by config.payer.'),
    early: uint32(
      8,
      `1 if the owner may respond before the deposit is mined, with \`credit\` in the ChannelState. The payer then sends
      the request again without this field, to learn when the deposit is mined. Owners that do not know the field
      respond when it is mined.`
    )
  }
)

export const STATE_REQUEST = message('StateRequest', 'Asks for the owner’s books of a channel.', {
  channelId: named('channel', hex(1, WORD_BYTES))
})

export const CLOSE_REQUEST = message(
  'CloseRequest',
  `The owner accepts no more calls on the channel. When the running ones have ended, it claims what is owed and returns
  the rest. The response is a ChannelState once that is mined: \`captured\` is what the owner received.`,
  { channelId: named('channel', hex(1, WORD_BYTES)) }
)

export const RECEIPT_REQUEST = message(
  'ReceiptRequest',
  `Asks for the receipt of a call that was charged to the channel. The response is a Receipt, signed again. Its totals are
  current, and \`charged\` is 0 if the owner took the charge back. Owners of revision 2 refuse it with payment_malformed.`,
  {
    channelId: named('channel', hex(1, WORD_BYTES)),
    requestId: bytes(2),
    dispute: text(
      3,
      'Why the payer disputes the charge (docs/reference/protocol-payments.md, section 6). Empty: it does not.'
    )
  }
)

export const PAY_REQUEST = union('PayRequest', 'A request of /souk/pay/1.0.0: exactly one field.', {
  terms: [1, TERMS_REQUEST],
  deposit: [2, DEPOSIT_REQUEST],
  state: [3, STATE_REQUEST],
  close: [4, CLOSE_REQUEST],
  receipt: [5, RECEIPT_REQUEST]
})

export const TERMS = message('Terms', 'The owner’s conditions for a channel.', {
  settlement: hex(1, ADDRESS_BYTES, 'Use it as receiver_authorizer.'),
  withdrawDelay: uint53(2, 'Seconds, at least.'),
  depositMin: named('deposit', uint64(3, 'At least.'))
})

export const CHANNEL_STATE = message('ChannelState', 'The owner’s books of a channel.', {
  ceiling: uint64(1, 'The highest voucher. Both fields are empty if there is none.'),
  signature: bytes(2),
  captured: uint64(3),
  reserved: uint64(4),
  credit: nonEmpty(
    uint64(
      5,
      `The deposit is being submitted and is not mined yet. Until then, the owner serves calls up to this total, with
      vouchers as usual. 0: the deposit is mined.`
    )
  )
})

export const REFUSAL = message('Refusal', 'The owner refuses the request.', {
  code: textAs<ErrorCode>(1, 'Of docs/reference/errors.md.'),
  detail: text(2),
  retryAfterMs: nonEmpty(uint53(3, 'Milliseconds until a repeat is useful. 0: not known.'))
})

export const PAY_REPLY = union('PayReply', 'Exactly one field.', {
  terms: [1, TERMS],
  state: [2, CHANNEL_STATE],
  refusal: [3, REFUSAL],
  receipt: [4, RECEIPT]
})

export function encodePayRequest(request: PayRequest): Uint8Array {
  if (request.kind === 'receipt') return PAY_REQUEST.encode({ kind: 'receipt', ...request.receipt })
  if (request.kind !== 'deposit') return PAY_REQUEST.encode(request)
  const { isEarly = false, ...deposit } = request.deposit
  return PAY_REQUEST.encode({ kind: 'deposit', ...deposit, early: isEarly ? 1 : 0 })
}

/** @throws SoukError `payment_malformed` */
export function decodePayRequest(encoded: Uint8Array): PayRequest {
  return reading(() => {
    const request = PAY_REQUEST.decode(encoded)
    if (request?.kind === 'receipt') {
      const { kind, ...receipt } = request
      return isRequestIdBytes(receipt.requestId) ? { kind, receipt } : undefined
    }
    if (request?.kind !== 'deposit') return request
    const { kind, early, ...deposit } = request
    return { kind, deposit: early === 0 ? deposit : { ...deposit, isEarly: true } }
  })
}

export function encodePayReply(reply: PayReply): Uint8Array {
  if (reply.kind === 'terms') return PAY_REPLY.encode({ kind: 'terms', ...reply.terms })
  if (reply.kind === 'refusal') return PAY_REPLY.encode(reply)
  if (reply.kind === 'receipt') return PAY_REPLY.encode({ kind: 'receipt', ...RECEIPT.decode(reply.receipt) })
  const { state, credit = 0n } = reply
  return PAY_REPLY.encode({ kind: 'state', ...state, credit })
}

/** @throws SoukError `payment_malformed` */
export function decodePayReply(encoded: Uint8Array): PayReply {
  return reading(() => {
    const reply = PAY_REPLY.decode(encoded)
    if (reply?.kind === 'terms') {
      const { kind, ...terms } = reply
      return { kind, terms }
    }
    if (reply?.kind === 'state') {
      const { kind, credit, ...state } = reply
      return { kind, state, ...(credit === undefined ? {} : { credit }) }
    }
    if (reply?.kind === 'receipt') {
      const { kind, ...receipt } = reply
      return { kind, receipt: RECEIPT.encode(receipt) }
    }
    return reply && { ...reply, code: isErrorCode(reply.code) ? reply.code : 'internal_error' }
  })
}

function reading<T>(read: () => T | undefined): T {
  try {
    const value = read()
    if (value !== undefined) return value
  } catch {
    // The error below covers it. The detail of a peer's invalid bytes is of no use.
  }
  throw new SoukError('payment_malformed', 'The payment message is not valid.')
}
