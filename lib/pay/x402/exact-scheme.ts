import type { PaymentPayload } from '@x402/core/types'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { deadline } from '../../base/clock.ts'
import { fromHex, type Hex, toHex } from '../../base/hex.ts'
import { COLLECT_WAIT_MS, PAYMENT_REPLAY_MS, PAYMENTS_UNSETTLED_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import { REQUEST_ID_BYTES } from '../../base/request-id.ts'
import { within } from '../../base/within.ts'
import type { Redeemer } from '../../interface/redeem.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { CallLog, StoredResponse } from '../../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/payment-scheme.ts'
import type { ContractPayments } from '../chain/contract-payments.ts'
import { checksummed } from '../signing/address.ts'
import { recordOf } from '../payee/call-entry.ts'
import { type Accepted, checkExact, type ExactCheckInit } from './exact-check.ts'
import { ExactCollector, type ExactCollectorInit } from './exact-collector.ts'
import { type ExactPayment, nameOf, readExact } from './exact-payment.ts'
import {
  EXACT_PAYMENTS,
  exactAccounts,
  exactDocument,
  type ExactFate,
  type ExactRecord,
  readEmbedded,
  readExactDocument
} from './exact-record.ts'
import type { Extensions, OfferReceipts } from './offer-receipt.ts'
import { conflict, paymentNameOf, pendingSettlement, writeSettlement } from './payment-text.ts'
import type { PaymentHolders } from './payment-holders.ts'
import { notRepeated, unused } from './repeats.ts'

export interface ExactSchemeInit extends ExactCheckInit, ExactCollectorInit {
  readonly chain: ExactCheckInit['chain'] & ExactCollectorInit['chain']
  readonly calls: Pick<CallLog, 'append' | 'find'>
  readonly redeemer: Pick<Redeemer, 'costOf' | 'received' | 'refreshGas'>
  readonly offerReceipts: Pick<OfferReceipts, 'receipt'>
  readonly contractPayments: ContractPayments
  /** The payments of all owners that share a store with this one. Absent: there are none. */
  readonly holders?: Pick<PaymentHolders, 'take' | 'free'>
}

/** Makes the proof that a payment's call was served. */
type Prove = () => Promise<Extensions>

/** How the first call with a payment ended. `refused`: the call did not run. `released`: it ran unpaid. `spent`: it was paid. */
type End = 'refused' | 'released' | 'spent'

/** A payment whose call runs or has run. */
interface Entry {
  readonly payment: ExactPayment
  readonly requestHash: Hex
  readonly id: string | undefined
  readonly ended: Promise<End>
  readonly end: (end: End) => void
  /** Set once the payment is spent: time of its call, later of its transfer, on the monotonic clock. */
  at?: number
  fate?: Promise<ExactFate>
}

/**
 * Calls paid by `exact`: one EIP-3009 transfer per call, collected after the API's response and before ours is sent. A payment
 * pays for one call. Every repeat of the same request with it gets the stored response.
 */
export class ExactScheme {
  readonly #init: ExactSchemeInit
  readonly #collector: ExactCollector
  /** Keyed by payer and nonce, in order of arrival. */
  readonly #entries = new Map<string, Entry>()
  /** Payer and nonce, by payer and the client's name for the payment. */
  readonly #names = new Map<string, string>()
  readonly #open = new OpenPayments()

  constructor(init: ExactSchemeInit) {
    this.#init = init
    this.#collector = new ExactCollector(init)
  }

  /** Continues the collections of an earlier process. */
  async start(): Promise<void> {
    this.#collector.start()
    const documents = await this.#init.documents.list(EXACT_PAYMENTS)
    const records = documents.map(({ value }) => readExactDocument(value)).sort((a, b) => a.at - b.at)
    for (const record of records) {
      const { payment, requestHash, id } = record
      this.#open.add(payment)
      this.#spend(this.#enter(payment, requestHash, id), record)
    }
  }

  stop(): void {
    this.#collector.stop(
      new SoukError('settlement_pending', 'This node is stopping. Send the same payment again later.')
    )
    for (const entry of this.#entries.values()) this.#leave(entry, 'refused')
  }

  /**
   * @throws SoukError `payment_malformed`, `payment_rejected`, `insufficient_funds`, `payment_id_conflict`,
   *   `idempotency_in_flight`, `settlement_pending`, `settlement_unavailable`, `overloaded`, `call_interrupted`
   */
  async admit(admission: Admission, requestHash: Hex, payload: PaymentPayload): Promise<Reservation> {
    const payment = readExact(payload.payload)
    const name = paymentNameOf(payload, admission)
    const id = name?.text
    const prove = () => this.#init.offerReceipts.receipt(payload, admission, payment.from)
    const check = (counted: (accepted: Accepted) => Atoms) =>
      checkExact(this.#init, admission, payload, payment, counted)
    // Awaited first, because nothing may run between `#find` and `#enter`.
    // A repeat needs no gas, so an endpoint that does not respond must not stop it.
    const noGas = await this.#init.redeemer.refreshGas().catch(asSoukError)
    for (;;) {
      const known = this.#find(payment, id)
      if (known === undefined) break
      if (known.requestHash !== requestHash) throw (name?.conflict ?? conflict)()
      // Nonce and name are not secret, so a different payment under one of them must be signed by its payer.
      const isAnother = !isSame(known.payment, payment)
      if (isAnother) await check(() => payment.value)
      const end = await known.ended
      if (end === 'spent') return this.#replay(admission, known, prove, isAnother)
      if (end === 'released') throw notRepeated()
    }
    const entry = this.#enter(payment, requestHash, id)
    try {
      if (noGas !== undefined) throw noGas
      await check((accepted) => this.#count(payment, accepted))
      await this.#take(entry, name?.conflict)
    } catch (error) {
      this.#leave(entry, 'refused')
      throw error
    }
    return {
      capture: (outcome, _, alongside) => this.#capture(admission, entry, outcome, prove, alongside),
      release: async (outcome) => {
        try {
          await this.#init.calls.append(recordOf(admission, outcome, 'void', 0n))
        } finally {
          await this.#init.holders?.free(payment).catch((error: unknown) => this.#init.onError(asSoukError(error)))
          this.#leave(entry, 'released')
        }
        return { charged: 0n, receipt: EMPTY_BYTES }
      }
    }
  }

  /** @throws SoukError `settlement_pending` if another owner has the payment; for another request, `payment_id_conflict` */
  async #take({ payment, requestHash }: Entry, otherwise = conflict): Promise<void> {
    const known = await this.#init.holders?.take(payment, requestHash)
    if (known === undefined) return
    if (known.requestHash !== requestHash) throw otherwise()
    const { from, value } = payment
    const detail = 'Another node of this API has this payment. Send the same payment again to get the response.'
    const named = { network: this.#init.offers.network, payer: checksummed(from), amount: value.toString() }
    throw pendingSettlement(detail, { ...named, transaction: '' }, true)
  }

  async #capture(
    admission: Admission,
    entry: Entry,
    outcome: Outcome,
    prove: Prove,
    alongside: () => readonly DocumentPut[] = () => []
  ): Promise<Settled> {
    const { calls, clock } = this.#init
    const { payment, requestHash, id } = entry
    const { price } = admission
    const { receivable, earned } = exactAccounts(payment.to)
    const spent: ExactRecord = {
      payment,
      price,
      requestHash,
      call: { peer: admission.peer, requestId: toHex(admission.requestId) },
      ...(id === undefined ? {} : { id }),
      at: clock.now(),
      fate: { kind: 'owed' }
    }
    try {
      await calls.append(recordOf(admission, { ...outcome, isHeld: true }, 'captured', price), {
        postings: [
          { account: receivable, amount: price },
          { account: earned, amount: -price }
        ],
        documents: [exactDocument(nameOf(payment), spent), ...alongside()]
      })
    } catch (error) {
      this.#leave(entry, 'released')
      throw error
    }
    this.#spend(entry, spent)
    this.#forgetOld()
    const stored = await calls.find(admission.peer, admission.requestId)
    // If the response is not stored for a repeat, return it now. The owner then bears the risk of collection.
    return this.#settled(admission, entry, prove, stored?.response === undefined)
  }

  /**
   * Counts a signed payment until it is collected; anybody can name a payer in an unsigned one. Returns the sum of all that count of
   * this payer, because each of many concurrent payments would pass alone.
   */
  #count(payment: ExactPayment, { hasCode, gas }: Accepted): Atoms {
    if (this.#open.size >= PAYMENTS_UNSETTLED_MAX) {
      throw new SoukError('overloaded', 'Too many payments wait for the chain. Try again later.', { source: 'owner' })
    }
    if (this.#init.redeemer.costOf(gas) > payment.value * FEE_HEADROOM) throw costly()
    if (hasCode) this.#init.contractPayments.take(nameOf(payment))
    return this.#open.add(payment)
  }

  #spend(entry: Entry, record: ExactRecord): void {
    const { clock, redeemer, contractPayments } = this.#init
    entry.at = clock.elapsed()
    entry.fate = record.fate.kind === 'owed' ? this.#collector.collect(record) : Promise.resolve(record.fate)
    // Waiting callers get the error of a stop; the rest continues at the next start.
    entry.fate.then(
      (fate) => {
        this.#open.delete(entry.payment)
        if (fate.kind !== 'paid') return
        contractPayments.giveBack(nameOf(entry.payment))
        // The transfer may be much later than the call. Repeats are recognised for as long as a transfer counts.
        entry.at = clock.elapsed()
        if (record.fate.kind === 'owed') redeemer.received(record.price)
      },
      () => {}
    )
    entry.end('spent')
  }

  /** @param another true if the repeat came with a different payment, which stays unused */
  async #replay(admission: Admission, entry: Entry, prove: Prove, another: boolean): Promise<Reservation> {
    const paid = await this.#settled(admission, entry, prove, false)
    const settled = another ? { ...paid, charged: 0n } : paid
    const response = await this.#responseOf(entry)
    if (response === undefined) {
      throw new SoukError('call_interrupted', 'The call succeeded and was paid, but its response was not stored.')
    }
    return { replay: { response, settled }, capture: unused, release: unused }
  }

  async #responseOf({ payment }: Entry): Promise<StoredResponse | undefined> {
    const { documents, calls } = this.#init
    const stored = await documents.get(EXACT_PAYMENTS, nameOf(payment))
    if (stored === undefined) return undefined
    const { call, response } = readExactDocument(stored)
    if (response !== undefined) return readEmbedded(response)
    return call && (await calls.find(call.peer, fromHex(call.requestId, REQUEST_ID_BYTES)))?.response
  }

  /** @throws SoukError `settlement_pending`, `payment_rejected` */
  async #settled(admission: Admission, { payment, fate }: Entry, prove: Prove, isTrusted: boolean): Promise<Settled> {
    const { clock, offers } = this.#init
    const charged = payment.value
    const { from, value } = payment
    const named = { network: offers.network, payer: checksummed(from), amount: value.toString() }
    const pending = () =>
      pendingSettlement('The payment is not mined yet. Send the same payment again to get the response.', {
        ...named,
        transaction: this.#collector.hashOf(payment) ?? ''
      })
    const limit = deadline(clock, COLLECT_WAIT_MS, pending)
    try {
      const known = await within(fate ?? Promise.reject(pending()), limit.signal)
      if (known.kind !== 'paid') {
        const detail = 'The payment could not be collected, because its money was moved in the meantime.'
        const reason = 'invalid_exact_evm_transaction_failed'
        throw offers.refuse(admission, { code: 'payment_rejected', reason, detail })
      }
      const settlement = { success: true, transaction: known.hash, ...named, extensions: await prove() }
      return { charged, receipt: EMPTY_BYTES, payment: writeSettlement(settlement) }
    } catch (error) {
      if (isTrusted && asSoukError(error).code === 'settlement_pending') return { charged, receipt: EMPTY_BYTES }
      throw error
    } finally {
      limit.clear()
    }
  }

  // Payments in memory.

  #find(payment: ExactPayment, id: string | undefined): Entry | undefined {
    const named = id === undefined ? undefined : this.#names.get(`${payment.from}/${id}`)
    return this.#entries.get(nameOf(payment)) ?? (named === undefined ? undefined : this.#entries.get(named))
  }

  /** Registered before the first await, so that concurrent repeats find the first call. */
  #enter(payment: ExactPayment, requestHash: Hex, id: string | undefined): Entry {
    const { promise: ended, resolve: end } = Promise.withResolvers<End>()
    const entry: Entry = { payment, requestHash, id, ended, end }
    this.#entries.set(nameOf(payment), entry)
    if (id !== undefined) this.#names.set(`${payment.from}/${id}`, nameOf(payment))
    return entry
  }

  #leave(entry: Entry, end: End): void {
    const { payment, id } = entry
    this.#entries.delete(nameOf(payment))
    if (id !== undefined) this.#names.delete(`${payment.from}/${id}`)
    this.#open.delete(payment)
    if (end !== 'spent') this.#init.contractPayments.giveBack(nameOf(payment))
    entry.end(end)
  }

  /**
   * Drops old payments. The token still rejects their nonces, and their documents expire. The wall clock may be ahead for a moment: a
   * payment that is dropped too early would pay for a second call, as a transfer of somebody else.
   */
  #forgetOld(): void {
    const { clock } = this.#init
    for (const entry of this.#entries.values()) {
      if (entry.at === undefined || this.#open.has(entry.payment)) continue
      if (entry.at > clock.elapsed() - PAYMENT_REPLAY_MS) return
      this.#leave(entry, 'spent')
    }
  }
}

/** The highest fee of a transaction is twice the current one. */
const FEE_HEADROOM = 2n

function costly(): SoukError {
  const detail =
    'The gas to collect this payment costs more than the price at the moment. Pay by batch-settlement, or try again later.'
  return new SoukError('settlement_unavailable', detail, { source: 'owner' })
}

/** Payments whose calls run or have run, and whose money has not arrived. */
class OpenPayments {
  readonly #payments = new Set<ExactPayment>()
  readonly #sums = new Map<Address, Atoms>()

  get size(): number {
    return this.#payments.size
  }

  has(payment: ExactPayment): boolean {
    return this.#payments.has(payment)
  }

  #sumOf(payer: Address): Atoms {
    return this.#sums.get(payer) ?? 0n
  }

  /** Returns the sum of the payer's open payments. */
  add(payment: ExactPayment): Atoms {
    const sum = this.#sumOf(payment.from) + payment.value
    this.#payments.add(payment)
    this.#sums.set(payment.from, sum)
    return sum
  }

  delete(payment: ExactPayment): void {
    if (!this.#payments.delete(payment)) return
    const sum = this.#sumOf(payment.from) - payment.value
    if (sum === 0n) this.#sums.delete(payment.from)
    else this.#sums.set(payment.from, sum)
  }
}

const FIELDS = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce', 'signature'] as const
const isSame = (a: ExactPayment, b: ExactPayment): boolean => FIELDS.every((field) => a[field] === b[field])
