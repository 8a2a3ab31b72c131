import type { PaymentPayload } from '@x402/core/types'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { DEPOSIT_WAIT_MS } from '../../base/limits/pay.ts'
import { type Hex, toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelId, Voucher } from '../../interface/channel.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Redeemer } from '../../interface/redeem.ts'
import type { CallLog } from '../../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/payment-scheme.ts'
import type { DepositLook } from '../payee/deposit-look.ts'
import { noDeposit } from '../payee/deposit-service.ts'
import type { PayeeChannel } from '../payee/payee-channel.ts'
import { postingsOf, recordOf } from '../payee/call-entry.ts'
import { checksummed } from '../signing/address.ts'
import type { ReceiptSigner } from '../payee/receipt-signer.ts'
import type { Hold } from '../payee/payee-funds.ts'
import type { PaidResponses } from './paid-responses.ts'
import { type BatchCheckInit, checkBatch, ERROR_PREFIX } from './batch-check.ts'
import { type BatchPayment, isRefund, readBatch, readRefund } from './batch-payment.ts'
import { BatchAnswers } from './batch-answers.ts'
import { BatchRefunds, type BatchRefundsInit } from './batch-refunds.ts'
import type { Extensions, OfferReceipts } from './offer-receipt.ts'
import { conflict, fingerprintOf, paymentNameOf, pendingSettlement } from './payment-text.ts'
import { notRepeated, unused } from './repeats.ts'

export interface BatchSchemeInit extends BatchCheckInit, BatchRefundsInit {
  readonly calls: Pick<CallLog, 'append'>
  readonly receiptSigner: Pick<ReceiptSigner, 'receiptFor'>
  readonly paidResponses: PaidResponses
  readonly depositLook: DepositLook
  readonly redeemer: Pick<Redeemer, 'depositHash'>
  readonly offerReceipts: Pick<OfferReceipts, 'receipt'>
}

/** How a call with a voucher ended. `refused`: the API did not run. `released`: it ran, and the call was not charged. */
type End = 'refused' | 'released' | 'captured'

/** The one running call of a channel. */
interface Running {
  readonly ceiling: Atoms
  readonly requestHash: Hex
  readonly ended: Promise<End>
  readonly end: (end: End) => void
}

/** A payment to accept, with its context. */
interface Payment extends BatchPayment {
  readonly requestHash: Hex
  /** Key of its stored response. */
  readonly key: string
  /** Absent if another call's payment could be equal. */
  readonly fingerprint?: Hex
  /** Makes the proof that its call was served. */
  readonly prove: () => Promise<Extensions>
  /** The error if the stored response belongs to another request. */
  readonly refuseOther: () => SoukError
}

/**
 * Calls that a client without a node pays by vouchers, under the strict rule of the standard scheme. A voucher is for exactly one
 * price above the charged total, a channel runs one call at a time, and a voucher not above the last is stale. A voucher counts
 * only when its call is charged. So a failed call leaves it usable, and a published claim cannot be reused.
 */
export class BatchScheme {
  readonly #init: BatchSchemeInit
  readonly #answers: BatchAnswers
  readonly #refunds: BatchRefunds
  readonly #running = new Map<ChannelId, Running>()

  constructor(init: BatchSchemeInit) {
    this.#init = init
    this.#answers = new BatchAnswers(init.offers, init.channels)
    this.#refunds = new BatchRefunds(init, this.#answers)
  }

  /**
   * @throws SoukError `payment_malformed`, `payment_rejected`, `insufficient_funds`, `payment_id_conflict`,
   *   `idempotency_in_flight`, `settlement_pending`, `settlement_unavailable`, `overloaded`, `call_interrupted`
   */
  async admit(admission: Admission, requestHash: Hex, payload: PaymentPayload): Promise<Reservation> {
    if (isRefund(payload)) return this.#refund(admission, requestHash, payload)
    const read = readBatch(payload.payload)
    const { channelId, ceiling } = read.voucher
    checkBatch(this.#init, admission, payload, read)
    const name = paymentNameOf(payload, admission)
    const key = name === undefined ? channelId : `${channelId}/${name.text}`
    const fingerprint = fingerprintOf(payload, admission)
    const refuseOther = name?.conflict ?? conflict
    const prove = () => this.#init.offerReceipts.receipt(payload, admission, read.config.payer)
    const payment = { ...read, requestHash, key, prove, refuseOther, ...(fingerprint && { fingerprint }) }
    let isRepeat = name !== undefined
    for (let before = this.#running.get(channelId); before !== undefined; before = this.#running.get(channelId)) {
      if (before.ceiling !== ceiling || before.requestHash !== requestHash) throw this.#answers.busy(admission)
      const end = await before.ended
      if (end === 'released') throw notRepeated()
      isRepeat ||= end === 'captured'
    }
    // Registered before the first await, so that concurrent repeats find the first call.
    const running = this.#enter(channelId, ceiling, requestHash)
    try {
      const replay = await this.#replay(admission, payment, isRepeat)
      if (replay === undefined) return await this.#reserve(admission, payment, running)
      running.end('refused')
      return replay
    } catch (error) {
      running.end('refused')
      throw error
    }
  }

  /** No call is admitted on the channel meanwhile. A call that runs is waited for only by a repeat of itself. */
  async #refund(admission: Admission, requestHash: Hex, payload: PaymentPayload): Promise<Reservation> {
    const request = readRefund(payload.payload)
    const { channelId, ceiling } = request.voucher
    checkBatch(this.#init, admission, payload, request)
    if (this.#running.has(channelId)) throw this.#answers.busy(admission)
    const running = this.#enter(channelId, ceiling, requestHash)
    try {
      return await this.#refunds.refund(admission, request)
    } finally {
      running.end('refused')
    }
  }

  #enter(channelId: ChannelId, ceiling: Atoms, requestHash: Hex): Running {
    const { promise: ended, resolve } = Promise.withResolvers<End>()
    const end = (how: End) => {
      this.#running.delete(channelId)
      resolve(how)
    }
    const running: Running = { ceiling, requestHash, ended, end }
    this.#running.set(channelId, running)
    return running
  }

  /**
   * The response of an earlier call that this call repeats: under the client's own payment name, during the first call, after
   * a broken link, or with the same payment. A stale voucher alone is no repeat, because its client may have lost its state and
   * mean another call.
   */
  async #replay(
    { requestId }: Admission,
    { voucher, requestHash, key, fingerprint, prove, refuseOther }: Payment,
    isRepeat: boolean
  ): Promise<Reservation | undefined> {
    const { paidResponses, channels } = this.#init
    const channel = channels.get(voucher.channelId)
    const answer = channel === undefined ? undefined : await paidResponses.find(key)
    if (channel === undefined || answer === undefined) return undefined
    const isSame = fingerprint !== undefined && answer.fingerprint === fingerprint
    if (!isRepeat && !isSame && answer.requestId !== toHex(requestId)) return undefined
    if (answer.requestHash !== requestHash) {
      throw refuseOther()
    }
    if (answer.response === undefined) {
      throw new SoukError('call_interrupted', 'The call succeeded and was paid, but its response was not stored.')
    }
    // A repeat with the voucher of the charged call reports that charge again; another voucher stays uncharged.
    const charged = answer.ceiling === voucher.ceiling ? answer.charged : 0n
    const result = { charged, extensions: await prove() }
    const settled = { charged, receipt: EMPTY_BYTES, payment: this.#answers.settlement(channel, result) }
    return { replay: { response: answer.response, settled }, capture: unused, release: unused }
  }

  async #reserve(admission: Admission, payment: Payment, running: Running): Promise<Reservation> {
    const { calls, channels } = this.#init
    const { voucher } = payment
    const known = channels.get(voucher.channelId)
    // Check before a deposit: with a stale voucher, the deposit would stay in the channel unused.
    if (known !== undefined) this.#checkCeiling(admission, known, voucher)
    const { channel, deposited, hold } = await this.#fill(admission, payment, known)
    return {
      capture: async (outcome, amount = hold.amount, alongside) => {
        const entered = { channel, hold, deposited, charged: within(amount, hold.amount) }
        try {
          return await this.#capture(admission, payment, entered, outcome, alongside)
        } finally {
          running.end('captured')
        }
      },
      release: async (outcome) => {
        try {
          await calls.append(recordOf(admission, outcome, 'void', 0n))
        } finally {
          hold.release()
          running.end('released')
        }
        // A deposit with the call stays in the channel, so the response must tell the client.
        const paid =
          deposited === undefined
            ? {}
            : { payment: this.#answers.settlement(channel, { charged: 0n, ...sent(deposited) }) }
        return { charged: 0n, receipt: EMPTY_BYTES, ...paid }
      }
    }
  }

  async #capture(
    admission: Admission,
    { voucher, requestHash, key, fingerprint, prove }: Payment,
    { channel, hold, deposited, charged }: Entered & { readonly charged: Atoms },
    outcome: Outcome,
    alongside: () => readonly DocumentPut[] = () => []
  ): Promise<Settled> {
    const { calls, domain, paidResponses } = this.#init
    channel.take(voucher, domain)
    const vouchers = channel.unsaved()
    const { ceiling } = voucher
    const requestId = toHex(admission.requestId)
    const ids = { requestId, requestHash, ...(fingerprint && { fingerprint }) }
    const answer = { peer: admission.peer, ...ids, ceiling, charged }
    try {
      await calls.append(recordOf(admission, { ...outcome, isHeld: true }, 'captured', charged), {
        documents: [...vouchers, paidResponses.document(key, answer), ...alongside()],
        postings: postingsOf(channel, charged)
      })
    } catch (error) {
      if (vouchers.length > 0) channel.notSaved()
      hold.release()
      throw error
    }
    hold.capture(charged)
    const [receipt, extensions] = await Promise.all([
      this.#init.receiptSigner.receiptFor(admission, channel, charged, outcome),
      prove()
    ])
    return {
      charged,
      receipt,
      payment: this.#answers.settlement(channel, { charged, extensions, ...(deposited && sent(deposited)) })
    }
  }

  /** Brings the payment's deposit, if it has one, and reserves the price. */
  async #fill(admission: Admission, payment: Payment, known: PayeeChannel | undefined): Promise<Entered> {
    const { redeemer, offers } = this.#init
    try {
      const filled = await this.#channelOf(admission, payment, known)
      return { ...filled, hold: await this.#hold(admission, filled.channel, payment.voucher) }
    } catch (thrown) {
      const { code, message } = asSoukError(thrown)
      if (code !== 'settlement_pending' || payment.deposit === undefined) throw thrown
      const { config, salt, amount } = payment.deposit
      const named = { network: offers.network, payer: checksummed(config.payer), amount: amount.toString() }
      throw pendingSettlement(message, { ...named, transaction: redeemer.depositHash(config, salt) ?? '' })
    }
  }

  /** The payment's channel. Registers and funds it if necessary. */
  async #channelOf(
    admission: Admission,
    { config, deposit }: Payment,
    known: PayeeChannel | undefined
  ): Promise<Filled> {
    if (deposit === undefined && known?.isLeft === false && known.info.peer === undefined) return { channel: known }
    try {
      const asked = { ...(deposit ?? noDeposit(config)), isEarly: true }
      const { channel, transaction } = await this.#init.deposits.bring(asked, undefined)
      return deposit === undefined ? { channel } : { channel, deposited: { transaction, amount: deposit.amount } }
    } catch (thrown) {
      const { code, message: detail } = asSoukError(thrown)
      if (code !== 'payment_rejected') throw thrown
      const reason = deposit === undefined ? 'channel_not_found' : 'deposit_transaction_failed'
      throw this.#init.offers.refuse(admission, { code, reason: ERROR_PREFIX + reason, detail })
    }
  }

  /** The rule of the standard scheme. The error contains the channel's state, so that the client can continue from it. */
  #checkCeiling(admission: Admission, channel: PayeeChannel, { ceiling }: Voucher): void {
    const due = channel.payeeFunds.captured + admission.price
    if (channel.info.peer === undefined && ceiling !== due) throw this.#answers.mismatch(admission, channel, due)
  }

  async #hold(admission: Admission, channel: PayeeChannel, voucher: Voucher): Promise<Hold> {
    const { channels, deposits, depositLook, watch, offers } = this.#init
    const { channelId } = channel.info
    if (!channels.isFresh(channel)) await watch.refresh([channelId])
    if (!channels.isFresh(channel)) {
      throw new SoukError('settlement_unavailable', 'The owner’s view of the chain is too old. Try again later.')
    }
    this.#checkCeiling(admission, channel, voucher)
    const { captured } = channel.payeeFunds
    if ((channels.snapshot(channelId)?.latest.claimed ?? 0n) > captured) {
      const reason = `${ERROR_PREFIX}missing_channel`
      const detail = 'The owner has lost its books of this channel. Withdraw from it, and pay with another salt.'
      throw offers.refuse(admission, { code: 'payment_rejected', reason, detail })
    }
    let hold = channel.payeeFunds.reserve(admission.price, voucher.ceiling)
    if (hold === 'limit' && channel.payeeFunds.credit > 0n) {
      // The deposit is on its way, and the call needs more than the credit.
      await deposits.settled(channelId)
      hold = channel.payeeFunds.reserve(admission.price, voucher.ceiling)
    }
    if (hold === 'limit') {
      await depositLook.look(channel, admission.price)
      hold = channel.payeeFunds.reserve(admission.price, voucher.ceiling)
    }
    if (typeof hold === 'object') return hold
    if (voucher.ceiling <= channels.shownAt(channelId)) {
      const detail = 'The deposit is too new to count in full. Try again later.'
      throw new SoukError('settlement_pending', detail, { source: 'owner', retryAfterMs: DEPOSIT_WAIT_MS })
    }
    const reason = `${ERROR_PREFIX}cumulative_exceeds_balance`
    throw offers.refuse(admission, {
      code: 'insufficient_funds',
      reason,
      detail: 'The channel’s deposit does not cover this call.',
      extra: { channelState: this.#answers.state(channel) }
    })
  }
}

/**
 * The adapter's cost of a call, limited to the reserved amount. At least one atom, because the next voucher must be higher than
 * the last.
 */
function within(amount: Atoms, most: Atoms): Atoms {
  if (amount > most) return most
  return amount < 1n ? 1n : amount
}

interface Deposited {
  /** The hash of its transaction, as far as known. */
  readonly transaction: () => Hex | undefined
  readonly amount: Atoms
}

/** Evaluated when the response is written: the deposit may be sent by then. */
const sent = ({ transaction, amount }: Deposited) => ({ transaction: transaction(), amount })

interface Filled {
  readonly channel: PayeeChannel
  readonly deposited?: Deposited | undefined
}

/** An admitted call. */
interface Entered extends Filled {
  readonly hold: Hold
}
