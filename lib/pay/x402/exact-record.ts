import type { Hex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { StoredResponse } from '../../interface/store.ts'
import { paidDirectly } from '../settle/settlement-entries.ts'
import type { ExactPayment } from './exact-payment.ts'

/** Documents of an owner: `exact` payments that were spent on a call, by payer and nonce. */
export const EXACT_PAYMENTS = 'x402-exact'

/**
 * What became of a spent payment. `owed`: it is being collected. `paid`: it is in a block. `lost`: the payer had taken the
 * money away when it was to be collected.
 */
export type ExactFate =
  | { readonly kind: 'owed' | 'lost' }
  | {
      readonly kind: 'paid'
      /** Of the transaction. */
      readonly hash: Hex
      /** When that was known, milliseconds since the epoch. Absent in records of the first release. */
      readonly at?: number
    }

/** A response in a document of an earlier version. */
export type EmbeddedResponse = Omit<StoredResponse, 'body'> & { readonly body: string }

export const readEmbedded = ({ body, ...head }: EmbeddedResponse): StoredResponse => ({
  ...head,
  body: Buffer.from(body, 'base64')
})

/** A payment that a call was run for, and what it was answered with. */
export interface ExactRecord {
  readonly payment: ExactPayment
  readonly price: Atoms
  readonly requestHash: Hex
  /** Of the call, whose record has the response. Absent in documents of earlier versions, which hold it themselves. */
  readonly call?: { readonly peer: string; readonly requestId: Hex }
  readonly response?: EmbeddedResponse
  /** What the client calls it. */
  readonly id?: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly fate: ExactFate
}

/** Accounts of an owner: what is to come, what was earned, what came, and what did not, by splitter. */
export const exactAccounts = (splitter: Address) => ({
  receivable: `receivable/exact/${splitter}`,
  earned: `earned/exact/${splitter}`,
  collected: paidDirectly(splitter),
  lost: `lost/exact/${splitter}`
})

/** @param expiresAt - once nothing is to be collected any more */
export function exactDocument(key: string, record: ExactRecord, expiresAt?: number): DocumentPut {
  const value = JSON.stringify(record, numbers)
  return { collection: EXACT_PAYMENTS, key, value, ...(expiresAt === undefined ? {} : { expiresAt }) }
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

/** As JSON has it: large numbers are texts. */
type Written = Omit<ExactRecord, 'payment' | 'price'> & {
  readonly price: string
  readonly payment: Record<'value' | 'validAfter' | 'validBefore', string> &
    Omit<ExactPayment, 'value' | 'validAfter' | 'validBefore'>
}

const numbers = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
