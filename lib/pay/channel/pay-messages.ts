import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { type ErrorCode, isErrorCode, SoukError } from '../../base/errors.ts'
import { fromHex, type Hex, toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import { bytesTag, codec, readSafeInteger, varintTag, writeBytes, writeInteger, writeText } from '../../base/wire.ts'
import type { ChannelConfig, ChannelId } from '../../interface/channel.ts'
import type { Address, Signature } from '../../interface/signer.ts'

export const PAY_PROTOCOL = '/souk/pay/1.0.0'

/** Member of a refusal's problem document: the owner's books of the channel, so that the payer can correct its own. */
export const BOOKS_MEMBER = 'channel'

/** These types encode `souk.PayRequest` and `souk.PayReply` of `docs/reference/souk-pay.proto`. */

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

export type PayRequest =
  | { readonly kind: 'terms' }
  | { readonly kind: 'deposit'; readonly deposit: DepositRequest }
  | { readonly kind: 'state'; readonly channelId: ChannelId }
  | { readonly kind: 'close'; readonly channelId: ChannelId }

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
  | { readonly kind: 'refusal'; readonly code: ErrorCode; readonly detail: string; readonly retryAfterMs?: number }

const ADDRESS_BYTES = 20
const WORD_BYTES = 32

/** One field of a flat message: its number and its type. */
type Fields<T> = { readonly [K in keyof T]-?: readonly [number, 'integer' | 'number' | 'bytes' | 'text'] }

const START = { integer: 0n, number: 0, bytes: EMPTY_BYTES, text: '' } as const

/** The codec of a message whose fields are all scalars. */
function flat<T extends object>(fields: Fields<T>) {
  const entries = Object.entries(fields) as Array<[keyof T & string, Fields<T>[keyof T]]>
  return codec<T>({
    start: () => Object.fromEntries(entries.map(([name, [, type]]) => [name, START[type]])) as T,
    write(value, writer) {
      for (const [name, [field, type]] of entries) {
        const member = value[name]
        if (type === 'bytes') writeBytes(writer, field, member as Uint8Array)
        else if (type === 'text') writeText(writer, field, member as string)
        else writeInteger(writer, field, member as bigint)
      }
    },
    read(value, tag, reader) {
      for (const [name, [field, type]] of entries) {
        const isVarint = type === 'integer' || type === 'number'
        if (tag !== (isVarint ? varintTag(field) : bytesTag(field))) continue
        const reads = {
          integer: () => reader.uint64(),
          number: () => readSafeInteger(reader),
          bytes: () => reader.bytes(),
          text: () => reader.string()
        }
        Object.assign(value, { [name]: reads[type]() })
        return true
      }
      return false
    }
  })
}

interface ConfigMessage {
  payer: Uint8Array
  payerAuthorizer: Uint8Array
  receiver: Uint8Array
  receiverAuthorizer: Uint8Array
  token: Uint8Array
  withdrawDelay: number
  salt: Uint8Array
}
const configCodec = flat<ConfigMessage>({
  payer: [1, 'bytes'],
  payerAuthorizer: [2, 'bytes'],
  receiver: [3, 'bytes'],
  receiverAuthorizer: [4, 'bytes'],
  token: [5, 'bytes'],
  withdrawDelay: [6, 'number'],
  salt: [7, 'bytes']
})
const depositCodec = flat<{
  config: Uint8Array
  counter: bigint
  amount: bigint
  validAfter: number
  validBefore: number
  salt: bigint
  signature: Uint8Array
  early: number
}>({
  // An embedded message is bytes on the wire.
  config: [1, 'bytes'],
  counter: [2, 'integer'],
  amount: [3, 'integer'],
  validAfter: [4, 'number'],
  validBefore: [5, 'number'],
  salt: [6, 'integer'],
  signature: [7, 'bytes'],
  early: [8, 'number']
})
const channelRequestCodec = flat<{ channel: Uint8Array }>({ channel: [1, 'bytes'] })
const termsCodec = flat<{ settlement: Uint8Array; withdrawDelay: number; depositMin: bigint }>({
  settlement: [1, 'bytes'],
  withdrawDelay: [2, 'number'],
  depositMin: [3, 'integer']
})
const stateCodec = flat<{
  ceiling: bigint
  signature: Uint8Array
  captured: bigint
  reserved: bigint
  credit: bigint
}>({
  ceiling: [1, 'integer'],
  signature: [2, 'bytes'],
  captured: [3, 'integer'],
  reserved: [4, 'integer'],
  credit: [5, 'integer']
})
const refusalCodec = flat<{ code: string; detail: string; retryAfterMs: number }>({
  code: [1, 'text'],
  detail: [2, 'text'],
  retryAfterMs: [3, 'number']
})

/** One of several messages: its field number and its bytes. */
interface Choice {
  field: number
  bytes: Uint8Array
}
const choiceCodec = codec<Choice>({
  start: () => ({ field: 0, bytes: EMPTY_BYTES }),
  write: ({ field, bytes }, writer) => void writer.uint32(bytesTag(field)).bytes(bytes),
  read(value, tag, reader) {
    if (![bytesTag(1), bytesTag(2), bytesTag(3), bytesTag(4)].includes(tag)) return false
    Object.assign(value, { field: tag >>> 3, bytes: reader.bytes() })
    return true
  }
})
const choose = (field: number, bytes: Uint8Array): Uint8Array => encodeMessage({ field, bytes }, choiceCodec)

export function encodePayRequest(request: PayRequest): Uint8Array {
  if (request.kind === 'terms') return choose(1, EMPTY_BYTES)
  if (request.kind !== 'deposit') {
    const channel = fromHex(request.channelId, WORD_BYTES)
    return choose(request.kind === 'state' ? 3 : 4, encodeMessage({ channel }, channelRequestCodec))
  }
  const { config, isEarly = false, ...rest } = request.deposit
  const message = { ...rest, config: encodeConfig(config), early: isEarly ? 1 : 0 }
  return choose(2, encodeMessage(message, depositCodec))
}

/** @throws SoukError `payment_malformed` */
export function decodePayRequest(bytes: Uint8Array): PayRequest {
  return reading(() => {
    const { field, bytes: inner } = decodeMessage(bytes, choiceCodec)
    if (field === 1) return { kind: 'terms' }
    if (field === 3 || field === 4) {
      const channelId = sized(decodeMessage(inner, channelRequestCodec).channel, WORD_BYTES)
      return { kind: field === 3 ? 'state' : 'close', channelId }
    }
    if (field !== 2) return undefined
    const { config, early, ...rest } = decodeMessage(inner, depositCodec)
    const deposit = { ...rest, config: decodeConfig(config) }
    return { kind: 'deposit', deposit: early === 0 ? deposit : { ...deposit, isEarly: true } }
  })
}

export function encodePayReply(reply: PayReply): Uint8Array {
  if (reply.kind === 'terms') {
    const settlement = fromHex(reply.terms.settlement, ADDRESS_BYTES)
    return choose(1, encodeMessage({ ...reply.terms, settlement }, termsCodec))
  }
  if (reply.kind === 'state') {
    const { state, credit = 0n } = reply
    return choose(2, encodeMessage({ ...state, credit }, stateCodec))
  }
  const { code, detail, retryAfterMs = 0 } = reply
  return choose(3, encodeMessage({ code, detail, retryAfterMs }, refusalCodec))
}

/** @throws SoukError `payment_malformed` */
export function decodePayReply(bytes: Uint8Array): PayReply {
  return reading(() => {
    const { field, bytes: inner } = decodeMessage(bytes, choiceCodec)
    if (field === 1) {
      const { settlement, ...terms } = decodeMessage(inner, termsCodec)
      return { kind: 'terms', terms: { ...terms, settlement: sized(settlement, ADDRESS_BYTES) } }
    }
    if (field === 2) {
      const { credit, ...state } = decodeMessage(inner, stateCodec)
      return { kind: 'state', state, ...(credit === 0n ? {} : { credit }) }
    }
    if (field !== 3) return undefined
    const { code, detail, retryAfterMs } = decodeMessage(inner, refusalCodec)
    const refusal = { kind: 'refusal', code: isErrorCode(code) ? code : 'internal_error', detail } as const
    return retryAfterMs === 0 ? refusal : { ...refusal, retryAfterMs }
  })
}

function encodeConfig({ withdrawDelay, salt, ...addresses }: ChannelConfig): Uint8Array {
  const bytes = Object.fromEntries(Object.entries(addresses).map(([name, hex]) => [name, fromHex(hex, ADDRESS_BYTES)]))
  return encodeMessage({ ...bytes, withdrawDelay, salt: fromHex(salt, WORD_BYTES) } as ConfigMessage, configCodec)
}

function decodeConfig(bytes: Uint8Array): ChannelConfig {
  const { withdrawDelay, salt, ...config } = decodeMessage(bytes, configCodec)
  return {
    payer: sized(config.payer, ADDRESS_BYTES),
    payerAuthorizer: sized(config.payerAuthorizer, ADDRESS_BYTES),
    receiver: sized(config.receiver, ADDRESS_BYTES),
    receiverAuthorizer: sized(config.receiverAuthorizer, ADDRESS_BYTES),
    token: sized(config.token, ADDRESS_BYTES),
    withdrawDelay,
    salt: sized(salt, WORD_BYTES)
  }
}

function sized(bytes: Uint8Array, length: number): Hex {
  if (bytes.length !== length) throw new RangeError('A field has a wrong length.')
  return toHex(bytes)
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
