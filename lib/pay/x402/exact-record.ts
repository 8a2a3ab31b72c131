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

/** A payment that a call was run for, and what it was answered with. */
export interface ExactRecord {
  readonly payment: ExactPayment
  readonly price: Atoms
  readonly requestHash: Hex
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

/** The answer is absent where it was too long to be kept, or a stream. */
export function exactDocument(key: string, record: ExactRecord, response: StoredResponse | undefined): DocumentPut {
  const stored = response && { ...response, body: Buffer.from(response.body).toString('base64') }
  return { collection: EXACT_PAYMENTS, key, value: JSON.stringify({ ...record, response: stored }, numbers) }
}

export function readExactDocument(value: string): { record: ExactRecord; response: StoredResponse | undefined } {
  const { response, payment, price, ...rest } = JSON.parse(value) as Written
  const { value: amount, validAfter, validBefore, ...texts } = payment
  return {
    record: {
      ...rest,
      price: BigInt(price),
      payment: {
        ...texts,
        value: BigInt(amount),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore)
      }
    },
    response: response && { ...response, body: Buffer.from(response.body, 'base64') }
  }
}

/** As JSON has it: large numbers and bytes are texts. */
type Written = Omit<ExactRecord, 'payment' | 'price'> & {
  readonly price: string
  readonly payment: Record<'value' | 'validAfter' | 'validBefore', string> &
    Omit<ExactPayment, 'value' | 'validAfter' | 'validBefore'>
  readonly response?: Omit<StoredResponse, 'body'> & { readonly body: string }
}

const numbers = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
