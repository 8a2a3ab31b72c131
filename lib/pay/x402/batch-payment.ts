import { fromHex, type Hex, isHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelConfig, Voucher } from '../../interface/channel.ts'
import { CEILING_MAX } from '../signing/authorization.ts'
import type { Deposit } from '../payee/deposit-service.ts'
import { malformed } from './payment-text.ts'

/** A payment through a channel: a voucher, and a deposit first if the channel holds too little. */
export interface BatchPayment {
  readonly config: ChannelConfig
  readonly voucher: Voucher
  readonly deposit?: Deposit
}

/** A payer's request for the unspent part of a deposit. It pays for no call: its voucher is for the charged total. */
export interface BatchRefund extends Omit<BatchPayment, 'deposit'> {
  /** The most that the payer wants back. Default: all. */
  readonly refundMax?: Atoms
}

/** True if a payment of any scheme has the form of a refund. Its content may be invalid. */
export function isRefund(payment: unknown): boolean {
  const { accepted, payload } = membersOf(payment)
  return membersOf(accepted)['scheme'] === BATCH_SCHEME && membersOf(payload)['type'] === 'refund'
}

export const BATCH_SCHEME = 'batch-settlement'

const ADDRESSES = ['payer', 'payerAuthorizer', 'receiver', 'receiverAuthorizer', 'token'] as const
const NUMBER = /^\d{1,20}$/
/** A salt is a 256-bit number, in decimal or as hex bytes. */
const SALT = /^(?:0x[0-9a-fA-F]{1,64}|\d{1,77})$/
const SIGNATURE_BYTES = 65

/** Parses the scheme-specific part of a `batch-settlement` payment. @throws SoukError `payment_malformed` */
export function readBatch(payload: Record<string, unknown>): BatchPayment {
  const config = readConfig(membersOf(payload['channelConfig']))
  const voucher = readVoucher(membersOf(payload['voucher']))
  if (voucher.ceiling === 0n) throw malformed('its voucher is for nothing')
  if (payload['type'] === 'voucher') return { config, voucher }
  if (payload['type'] !== 'deposit') throw malformed('it is neither a voucher, a deposit nor a refund')
  return { config, voucher, deposit: readDeposit(config, membersOf(payload['deposit'])) }
}

/** Parses a request for a refund. Its voucher is for 0 if no call was charged. @throws SoukError `payment_malformed` */
export function readRefund(payload: Record<string, unknown>): BatchRefund {
  const config = readConfig(membersOf(payload['channelConfig']))
  const voucher = readVoucher(membersOf(payload['voucher']))
  const { amount: asked } = payload
  return { config, voucher, ...(asked === undefined ? {} : { refundMax: amount(asked) }) }
}

function readVoucher({ channelId, maxClaimableAmount, signature }: Record<string, unknown>): Voucher {
  if (!isHex(channelId, 32) || !isHex(signature, SIGNATURE_BYTES)) throw malformed('it has no voucher')
  const ceiling = maxClaimableAmount === '0' ? 0n : amount(maxClaimableAmount)
  return { channelId: lower(channelId), ceiling, signature: fromHex(signature, SIGNATURE_BYTES) }
}

function readConfig(members: Record<string, unknown>): ChannelConfig {
  const { withdrawDelay, salt } = members
  const addresses = ADDRESSES.map((name) => {
    const address = members[name]
    if (!isHex(address, 20)) throw malformed(`its channel has no ${name}`)
    return [name, lower(address)]
  })
  if (typeof withdrawDelay !== 'number' || !Number.isSafeInteger(withdrawDelay) || withdrawDelay < 0) {
    throw malformed('its channel has no withdrawDelay')
  }
  if (!isHex(salt, 32)) throw malformed('its channel has no salt')
  const known = Object.fromEntries(addresses) as Pick<ChannelConfig, (typeof ADDRESSES)[number]>
  return { ...known, withdrawDelay, salt: lower(salt) }
}

function readDeposit(config: ChannelConfig, members: Record<string, unknown>): Deposit {
  const authorization = membersOf(membersOf(members['authorization'])['erc3009Authorization'])
  const { validAfter, validBefore, salt, signature } = authorization
  if (typeof salt !== 'string' || !SALT.test(salt) || !isHex(signature, SIGNATURE_BYTES)) {
    throw malformed('its deposit has no signed EIP-3009 authorization')
  }
  return {
    config,
    amount: amount(members['amount']),
    validAfter: seconds(validAfter),
    validBefore: seconds(validBefore),
    salt: BigInt(salt),
    signature: fromHex(signature, SIGNATURE_BYTES)
  }
}

function amount(text: unknown): Atoms {
  const atoms = typeof text === 'string' && NUMBER.test(text) ? BigInt(text) : undefined
  if (atoms === undefined || atoms === 0n || atoms > CEILING_MAX) throw malformed('one of its amounts is invalid')
  return atoms
}

function seconds(text: unknown): number {
  const number = typeof text === 'string' && NUMBER.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number)) throw malformed('a time of its deposit is invalid')
  return number
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex
