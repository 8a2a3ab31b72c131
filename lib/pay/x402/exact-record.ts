import type { Hex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { StoredResponse } from '../../interface/store.ts'
import { paidDirectly } from '../settle/settlement-entries.ts'
import type { ExactPayment } from './exact-payment.ts'

/** Collection of an owner's spent `exact` payments, by payer and nonce. */
export const EXACT_PAYMENTS = 'x402-exact'

/**
 * The result of a spent payment. `owed`: collection continues. `paid`: the transfer is in a block. `lost`: the payer moved the
 * money before it was collected.
 */
export type ExactFate =
  | { readonly kind: 'owed' | 'lost' }
  | {
      readonly kind: 'paid'
      /** The transaction's hash. */
      readonly hash: Hex
    }

/** A response inside a document of an earlier version. */
export type EmbeddedResponse = Omit<StoredResponse, 'body'> & { readonly body: string }

export const readEmbedded = ({ body, ...head }: EmbeddedResponse): StoredResponse => ({
  ...head,
  body: Buffer.from(body, 'base64')
})

/** A payment that a call ran for, and the call's response. */
export interface ExactRecord {
  readonly payment: ExactPayment
  readonly price: Atoms
  readonly requestHash: Hex
  /** The call whose record has the response. Absent in documents of earlier versions, which contain the response. */
  readonly call?: { readonly peer: string; readonly requestId: Hex }
  readonly response?: EmbeddedResponse
  /** The client's name for the payment. */
  readonly id?: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly fate: ExactFate
}

/** Ledger accounts of a splitter: expected, earned, received and lost. */
export const exactAccounts = (splitter: Address) => ({
  receivable: `receivable/exact/${splitter}`,
  earned: `earned/exact/${splitter}`,
  collected: paidDirectly(splitter),
  lost: `lost/exact/${splitter}`
})

/** @param expiresAt set once nothing is left to collect */
export function exactDocument(key: string, record: ExactRecord, expiresAt?: number): DocumentPut {
  return { collection: EXACT_PAYMENTS, key, value: JSON.stringify(record, numbers), expiresAt }
}

export function readExactDocument(value: string): ExactRecord {
  const { payment, price, ...rest } = JSON.parse(value) as Written
  const { value: amount, validAfter, validBefore, ...texts } = payment
  return {
    ...rest,
    price: BigInt(price),
    payment: {
      ...texts,
      value: BigInt(amount),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore)
    }
  }
}

/** The JSON form: bigints are texts. */
type Written = Omit<ExactRecord, 'payment' | 'price'> & {
  readonly price: string
  readonly payment: Record<'value' | 'validAfter' | 'validBefore', string> &
    Omit<ExactPayment, 'value' | 'validAfter' | 'validBefore'>
}

const numbers = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
