import type { Logger } from '@libp2p/interface'
import { SILENT_LOG } from '../../base/component-log.ts'
import { asSoukError, SoukError, type SoukErrorOptions } from '../../base/errors.ts'
import { toHex } from '../../base/hex.ts'
import { DEPOSIT_WAIT_MS, VOUCHERS_CACHED_MAX } from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import { formatRequestId } from '../../base/request-id.ts'
import type { Voucher } from '../../interface/channel.ts'
import type { ChannelWatch } from '../../interface/redeem.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { CallLog, CallOutcome } from '../../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/payment-scheme.ts'
import { BOOKS_MEMBER } from '../channel/pay-messages.ts'
import { decodeAuthorization } from '../signing/authorization.ts'
import { postingsOf, recordOf } from './call-entry.ts'
import type { DepositLook } from './deposit-look.ts'
import type { PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import type { ReceiptSigner } from './receipt-signer.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import type { Hold } from './payee-funds.ts'
import { unpaidReservation } from './unpaid-reservation.ts'

export interface PayeeInit {
  readonly calls: Pick<CallLog, 'append'>
  readonly channels: PayeeChannels
  readonly watch: Pick<ChannelWatch, 'refresh'>
  readonly depositLook: DepositLook
  readonly domain: SettlementDomain
  readonly receiptSigner: ReceiptSigner
  readonly splitterOf: (payout: Address) => Address
  /** This node's own peer id. Calls to itself are free. */
  readonly self: string
  /** Default: none. */
  readonly log?: Logger
}

/** The owner's side of paid calls: admits each call against its channel, and books it. */
export class Payee {
  readonly #init: PayeeInit
  readonly #log: Logger
  /** The last voucher of each peer. */
  readonly #last = new Map<string, { readonly bytes: Uint8Array; readonly voucher: Voucher }>()

  constructor(init: PayeeInit) {
    this.#init = init
    this.#log = init.log ?? SILENT_LOG
  }

  /** Synchronous, unless the chain must be read first. */
  admit(admission: Admission): Reservation | Promise<Reservation> {
    const { price, peer, authorization } = admission
    if (price === 0n || peer === this.#init.self) return unpaidReservation(this.#init.calls, admission)
    if (authorization === undefined) throw refusal('payment_required', 'This call has to be paid through a channel.')
    const ready = this.#init.receiptSigner.ready()
    if (ready !== undefined) return ready.then(() => this.admit(admission))
    const voucher = this.#voucherIn(authorization, peer)
    const channel = this.#channelOf(admission, voucher)
    const { channels, depositLook } = this.#init
    const look = channels.isFresh(channel) ? depositLook.look(channel, price) : this.#look(channel)
    if (look === undefined) return this.#reserve(admission, channel, voucher)
    return look.then(() => {
      if (!channels.isFresh(channel)) {
        throw refusal('settlement_unavailable', 'The owner’s view of the chain is too old. Try again later.')
      }
      // Looked up again: the owner may have forgotten the channel, and the payer registered it again.
      return this.#reserve(admission, this.#channelOf(admission, voucher), voucher)
    })
  }

  /** A payer sends the same voucher with all calls of a window, so its bytes are decoded once. */
  #voucherIn(authorization: Uint8Array, peer: string): Voucher {
    const last = this.#last.get(peer)
    if (last !== undefined && Buffer.compare(last.bytes, authorization) === 0) return last.voucher
    const voucher = decodeAuthorization(authorization)
    if (this.#last.size >= VOUCHERS_CACHED_MAX) this.#last.clear()
    this.#last.set(peer, { bytes: Uint8Array.from(authorization), voucher })
    return voucher
  }

  async #look({ info }: PayeeChannel): Promise<void> {
    try {
      await this.#init.watch.refresh([info.channelId])
    } catch (cause) {
      throw refusal('settlement_unavailable', 'The owner cannot read the chain at the moment. Try again later.', {
        cause
      })
    }
  }

  #channelOf({ peer, payout }: Admission, { channelId }: Voucher): PayeeChannel {
    const { channels, splitterOf } = this.#init
    const channel = channels.get(channelId)
    // The error does not reveal whether another peer has such a channel.
    if (channel === undefined || channel.info.peer !== peer) {
      throw refusal('payment_required', 'The owner does not know this channel.', { members: { [BOOKS_MEMBER]: null } })
    }
    if (payout === undefined || splitterOf(payout) !== channel.info.config.receiver) {
      throw refusal('payment_rejected', 'This channel pays another provider.')
    }
    return channel
  }

  #reserve(admission: Admission, channel: PayeeChannel, voucher: Voucher): Reservation {
    const { channels, domain } = this.#init
    if (!channel.take(voucher, domain)) throw refusal('payment_rejected', 'The voucher is not signed by the payer.')
    if (channel.isLeft) throw refusal('payment_rejected', 'The channel is closed, or about to be.')
    const hold = channel.payeeFunds.reserve(admission.price)
    if (this.#log.enabled) this.#logReserve(admission, channel, hold)
    if (typeof hold === 'object') return this.#reservation(admission, channel, hold)
    if (hold === 'ceiling') {
      throw refusal('payment_required', 'The channel’s vouchers do not cover this call.', booksOf(channel))
    }
    const sum = channel.payeeFunds.captured + channel.payeeFunds.reserved + admission.price
    const isComing = sum <= channels.shownAt(channel.info.channelId)
    if (!isComing) {
      throw refusal('insufficient_funds', 'The channel’s deposit does not cover this call.', booksOf(channel))
    }
    const options = { ...booksOf(channel), retryAfterMs: DEPOSIT_WAIT_MS }
    throw refusal('settlement_pending', 'The deposit is too new to count in full. Try again later.', options)
  }

  #logReserve({ requestId, price }: Admission, { info, payeeFunds }: PayeeChannel, hold: Hold | string): void {
    const how = typeof hold === 'object' ? 'reserved' : `not reserved (${hold} too low)`
    const books = [payeeFunds.ceiling, payeeFunds.captured, payeeFunds.reserved].map(formatUsdc).join('/')
    const id = formatRequestId(requestId)
    this.#log('%s: %s USDC %s on %s, ceiling/captured/reserved %s', id, formatUsdc(price), how, info.channelId, books)
  }

  #reservation(admission: Admission, channel: PayeeChannel, hold: Hold): Reservation {
    const { calls, receiptSigner } = this.#init
    receiptSigner.underWay++
    const finish = async (
      kind: CallOutcome,
      charged: Atoms,
      outcome: Outcome,
      alongside?: Alongside
    ): Promise<Settled> => {
      const vouchers = channel.unsaved()
      try {
        await calls.append(recordOf(admission, outcome, kind, charged), {
          documents: alongside === undefined ? vouchers : [...vouchers, ...alongside()],
          ...(charged === 0n ? {} : { postings: postingsOf(channel, charged) })
        })
      } catch (error) {
        if (vouchers.length > 0) channel.notSaved()
        // Unknown: the store has ended, and its ledger may have the charge. The next start reads the ledger.
        if (!asSoukError(error).isChargeUnknown) hold.release()
        receiptSigner.underWay--
        throw error
      }
      hold.capture(charged)
      const receipt = await receiptSigner.receiptFor(admission, channel, charged, outcome)
      receiptSigner.underWay--
      return { charged, receipt }
    }
    return {
      capture: (outcome, amount = hold.amount, alongside) =>
        finish('captured', within(amount, hold.amount), outcome, alongside),
      release: (outcome) => finish('void', 0n, outcome)
    }
  }
}

type Alongside = () => readonly DocumentPut[]

/** The adapter's cost of a call, limited to the amount that was reserved. */
function within(amount: Atoms, most: Atoms): Atoms {
  if (amount > most) return most
  return amount < 0n ? 0n : amount
}

function booksOf({ books }: PayeeChannel): Pick<SoukErrorOptions, 'members'> {
  const { ceiling, signature, captured, reserved } = books
  return {
    members: {
      [BOOKS_MEMBER]: {
        ceiling: ceiling.toString(),
        signature: toHex(signature),
        captured: captured.toString(),
        reserved: reserved.toString()
      }
    }
  }
}

/** An error before anything happened: the payer may correct the request and retry, or use another owner. */
function refusal(
  code:
    | 'payment_required'
    | 'payment_rejected'
    | 'insufficient_funds'
    | 'settlement_unavailable'
    | 'settlement_pending',
  detail: string,
  options: SoukErrorOptions = {}
): SoukError {
  return new SoukError(code, detail, { ...options, source: 'owner', notAccepted: true })
}
