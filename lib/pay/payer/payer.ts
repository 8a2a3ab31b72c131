import type { Logger } from '@libp2p/interface'
import { min } from '../../base/bigints.ts'
import { latin1 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import { SILENT_LOG } from '../../base/component-log.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { fromHex, isHex } from '../../base/hex.ts'
import {
  COUNTED_LATEST_ATOMS_MAX,
  EXPOSURE_WAIT_MS,
  PENDING_LOOK_MS,
  TOP_UP_PART,
  TOP_UP_PAUSE_MS
} from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import { PassingMap } from '../../base/passing-map.ts'
import { type HashedRequest, requestHash } from '../../base/request-hash.ts'
import { formatRequestId } from '../../base/request-id.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import type { Failure, Order, PaidAnswer } from '../../interface/payment-scheme.ts'
import type { ChannelOpener } from './channel-opener.ts'
import type { ChannelSync } from './channel-sync.ts'
import type { Disputes } from './disputes.ts'
import { checkPrice } from '../../base/check-price.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { BOOKS_MEMBER, type ChannelBooks } from '../channel/pay-messages.ts'
import type { PayRules } from './pay-rules.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'
import type { Promised } from './payer-funds.ts'
import { readReceipt } from '../signing/receipt.ts'
import { type Expected, readProof, rulesFor } from './receipt-fault.ts'
import type { ReceiptInspector } from './receipt-inspector.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { receiptDocument } from './stored-receipts.ts'
import { signerOf } from '../signing/signature.ts'

export interface PayerInit {
  readonly channels: PayerChannels
  readonly opener: ChannelOpener
  readonly channelSync: ChannelSync
  readonly signer: Signer
  readonly domain: SettlementDomain
  readonly inspector: ReceiptInspector
  readonly disputes: Disputes
  readonly rules: PayRules
  readonly clock: Clock
  readonly splitterOf: (payout: Address) => Address
  /** This node's own peer id. Calls to itself are free. */
  readonly self: string
  /** Default: none. */
  readonly log?: Logger
}

type Payable = Pick<Order, 'owner' | 'payout' | 'api' | 'price'>

interface Paid {
  readonly channel: PayerChannel
  readonly promised: Promised
  readonly price: Atoms
}

/** The payer's side of calls: promises money within the payment rules, signs vouchers ahead and stores receipts. */
export class Payer {
  readonly #init: PayerInit
  readonly #log: Logger
  /** Keyed by request id, as latin1 text. */
  readonly #orders = new PassingMap<string, Paid>()
  readonly #opening = new SingleFlight<string, PayerChannel>()
  /** Reads of a channel's owner or of the chain, one at a time per channel. */
  readonly #hearing = new SingleFlight<PayerChannel, void>()
  /** Calls that wait until other calls of their channel end. */
  readonly #waiting = new Map<PayerChannel, Set<() => void>>()

  constructor(init: PayerInit) {
    this.#init = init
    this.#log = init.log ?? SILENT_LOG
  }

  /** Not a promise if the last voucher covers the call. */
  authorise(order: Order): Promise<Uint8Array> | Uint8Array | undefined {
    const { rules, self, clock } = this.#init
    const { price, owner, isFee } = order
    checkPrice(price, order.maxPrice ?? rules.priceMax)
    if (price === 0n || owner === self) return undefined
    const channel = this.#readyChannel(order)
    const promised = channel?.payerFunds.promise(price, clock.now(), isFee)
    if (channel === undefined || promised === undefined || !('ceiling' in promised)) return this.#openAndSign(order)
    this.#topUp(channel)
    const { signed } = channel
    return signed === undefined ? this.#sign(order, channel, promised) : this.#note(order, channel, promised, signed)
  }

  async #openAndSign(order: Order): Promise<Uint8Array> {
    const channel = await this.#channelFor(order)
    return this.#sign(order, channel, await this.#promise(channel, order.price, order.isFee))
  }

  async #sign(order: Order, channel: PayerChannel, promised: Promised): Promise<Uint8Array> {
    const { domain, signer, disputes } = this.#init
    let authorization: Uint8Array
    try {
      // Wait a microtask: all calls of this turn are promised before one voucher is signed for them. They continue together, so
      // they leave in one packet.
      await Promise.resolve()
      channel.checkOpen()
      disputes.check(order.owner)
      authorization = await channel.authorization(domain, signer)
    } catch (error) {
      promised.release()
      this.#wake(channel)
      throw error
    }
    return this.#note(order, channel, promised, authorization)
  }

  /** Remembers the promise until the call ends. @throws SoukError `idempotency_in_flight` */
  #note(order: Order, channel: PayerChannel, promised: Promised, authorization: Uint8Array): Uint8Array {
    const { price, requestId } = order
    const key = latin1(requestId)
    // A second call under this id would take the first one's promise, which then held its money until a restart.
    if (this.#orders.get(key) !== undefined) {
      promised.release()
      this.#wake(channel)
      throw new SoukError('idempotency_in_flight')
    }
    this.#orders.set(key, { channel, promised, price })
    this.#init.channels.touch(channel)
    if (this.#log.enabled) {
      const amounts = `${formatUsdc(price)} USDC, voucher up to ${formatUsdc(channel.payerFunds.ceiling)} USDC`
      this.#log('%s: pays %s on channel %s', formatRequestId(requestId), amounts, channel.info.channelId)
    }
    return authorization
  }

  /** Opens the channel that pays for calls to an owner, or returns the one there is. When it resolves, its deposit is mined. */
  async open(to: Pick<Order, 'owner' | 'payout' | 'api'>): Promise<PayerChannel> {
    const channel = await this.#channelFor({ ...to, price: 0n })
    await this.#init.opener.finish(channel)
    return channel
  }

  accept(order: Order, { status, charged, receipt }: PaidAnswer, sent: HashedRequest): void | Promise<void> {
    const paid = this.#take(order)
    if (paid === undefined) return undefined
    const { channel, promised, price } = paid
    const { inspector, channels, disputes } = this.#init
    if (charged === 0n && receipt.length === 0) {
      promised.release()
      this.#wake(channel)
      return channels.touch(channel)
    }
    const expected = expectedOf(order, channel, { sent, status, charged, price })
    const proof = readProof(receipt, expected)
    if (typeof proof === 'string') {
      const most = channel.payerFunds.hasEnded ? 0n : mostCharged(receipt, expected)
      promised.contest(most)
      this.#wake(channel)
      return most === 0n
        ? channels.touch(channel)
        : disputes.open(channel, { ...expected, charged: most }, proof, 'deposited')
    }
    const { captured, reserved } = proof.body
    const counted = promised.settle(charged, captured)
    this.#wake(channel)
    if (charged > 0n) inspector.look(proof, channel, expected)
    // When no call of this node is running there, the owner's books must equal this node's.
    if (reserved === 0n && !channel.payerFunds.reconcile(captured)) channels.dispute(channel)
    return this.#book(order, channel, counted, receipt)
  }

  /** A charge that is booked already turns out to have a forged receipt. */
  onForged(channel: PayerChannel, expected: Expected): void {
    const { channels, disputes } = this.#init
    // An ended channel has no amount to dispute; the owner took it.
    if (channel.payerFunds.hasEnded) return channels.dispute(channel)
    channel.payerFunds.contestSpent(expected.charged)
    channel.booked -= expected.charged
    void disputes.open(channel, expected, 'signature', 'spent')
  }

  fail(order: Order, { fate, error }: Failure): boolean {
    const paid = this.#take(order)
    if (paid === undefined) return false
    const { channel, promised, price } = paid
    this.#log.trace('channel %s: a call of %d atoms ended as %s', channel.info.channelId, price, fate)
    let isWorthIt = false
    if (fate === 'lost') promised.lose()
    else if (fate === 'failed') promised.doubt()
    else {
      isWorthIt = this.#hear(channel, price, error)
      promised.release()
    }
    this.#wake(channel)
    return isWorthIt
  }

  /** Applies the books that an owner sends when it rejects a call. Returns true if a retry can succeed. */
  #hear(channel: PayerChannel, price: Atoms, error: SoukError): boolean {
    const member = error.members?.[BOOKS_MEMBER]
    if (member === undefined) return error.code === 'payment_rejected' && this.#doubt(channel)
    // A refused call ends the owner's credit: calls wait for the deposit from now on.
    const hadCredit = channel.payerFunds.credit > 0n
    if (member === null) {
      channel.payerFunds.lend(0n)
      channel.isKnown = false
      return true
    }
    const books = readBooks(member)
    if (books === undefined) return false
    this.#believe(channel, books, price)
    const isOver = hadCredit && error.code === 'insufficient_funds'
    if (isOver) channel.payerFunds.lend(0n)
    if (channel.isDisputed) return false
    if (isOver || error.code === 'payment_required') return true
    return error.code === 'insufficient_funds' && this.#doubt(channel)
  }

  /** The next call reads the chain first, at most once per `PENDING_LOOK_MS`. Returns true if a retry can succeed. */
  #doubt(channel: PayerChannel): boolean {
    const now = this.#init.clock.elapsed()
    if (now < channel.doubtAfter) return false
    channel.doubtAfter = now + PENDING_LOOK_MS
    channel.isInDoubt = true
    return true
  }

  /** @param price as in `PayerFunds.hear` */
  #believe(channel: PayerChannel, { ceiling, signature, captured, reserved }: ChannelBooks, price: Atoms): void {
    const { domain, signer, channels } = this.#init
    const isOwn = signerOf(domain.voucher(channel.info.channelId, ceiling), signature) === signer.address
    if (isOwn) channel.payerFunds.recall(ceiling)
    if (!channel.payerFunds.hear(captured, reserved, price)) channels.dispute(channel)
    channels.touch(channel)
  }

  /** Learns from the owner what an earlier process signed and did not save. Nothing is signed before that. */
  async #recall(channel: PayerChannel): Promise<void> {
    this.#believe(channel, await this.#booksOf(channel), 0n)
    channel.checkOpen()
  }

  /** Reads the owner's books. Registers the channel first if the owner does not know it. */
  #booksOf(channel: PayerChannel): Promise<ChannelBooks> {
    const { opener } = this.#init
    return opener.books(channel).catch(async (error: unknown) => {
      if (asSoukError(error).code !== 'payment_required') throw error
      // The owner forgot its credit too. It takes no channel without a deposit.
      channel.payerFunds.lend(0n)
      const isEmpty = channel.payerFunds.deposit === 0n && channel.pending !== undefined
      await (isEmpty ? opener.fund(channel) : opener.introduce(channel))
      return opener.books(channel)
    })
  }

  /** A lost call stays promised until the owner reports its outcome. Returns true if that freed money. */
  async #findLost(channel: PayerChannel): Promise<boolean> {
    const { lost } = channel.payerFunds
    if (lost === 0n) return false
    await this.#hearing.run(channel, () => this.#reconcile(channel))
    return channel.payerFunds.lost < lost
  }

  async #reconcile(channel: PayerChannel): Promise<void> {
    const { channels } = this.#init
    const { captured, reserved } = await this.#booksOf(channel)
    // Some of the lost calls may still be running.
    if (reserved > 0n)
      throw new SoukError(
        'overloaded',
        'The calls in flight to this owner use the whole exposure limit. Try again later.'
      )
    if (!channel.payerFunds.reconcile(captured)) channels.dispute(channel)
    channels.touch(channel)
    channel.checkOpen()
  }

  /** Written asynchronously: no call waits for the payer's ledger. */
  #book({ requestId }: Order, channel: PayerChannel, charged: Atoms, receipt: Uint8Array): void {
    const { channels } = this.#init
    if (charged === 0n) channels.touch(channel)
    else channels.charge(channel, charged, receiptDocument(formatRequestId(requestId), receipt))
  }

  async #channelFor({ owner, payout, api, price }: Payable): Promise<PayerChannel> {
    const { channels, splitterOf, disputes } = this.#init
    if (payout === undefined) {
      throw new SoukError(
        'settlement_unavailable',
        `The provider of ${api} has set no payout address, so it cannot be paid.`
      )
    }
    // Computed here, never requested from the owner, so that money can go only to the provider and the treasury.
    const receiver = splitterOf(payout)
    channels.checkTrust(owner)
    if (disputes.areOpen(owner)) await disputes.attend(owner)
    try {
      return await this.#ready(owner, receiver, price)
    } catch (thrown) {
      const channel = channels.get(owner, receiver)
      const isRejected = asSoukError(thrown).code === 'payment_rejected'
      if (channel === undefined || !isRejected || !this.#doubt(channel)) throw thrown
      return this.#ready(owner, receiver, price)
    }
  }

  /** The channel, if a call can be promised without a wait. @throws SoukError `settlement_unavailable` */
  #readyChannel({ owner, payout }: Payable): PayerChannel | undefined {
    const { channels, splitterOf, disputes } = this.#init
    if (payout === undefined) return undefined
    channels.checkTrust(owner)
    const channel = disputes.areOpen(owner) ? undefined : channels.get(owner, splitterOf(payout))
    return channel?.isReady === true ? channel : undefined
  }

  /** The channel, funded and known to the owner. */
  async #ready(owner: string, receiver: Address, price: Atoms): Promise<PayerChannel> {
    const { channels, opener, channelSync } = this.#init
    const known = channels.get(owner, receiver)
    if (known?.isInDoubt === true) await this.#hearing.run(known, () => channelSync.sync(known))
    const channel =
      channels.get(owner, receiver) ??
      (await this.#opening.run(`${owner}/${receiver}`, () => opener.open(owner, receiver, price)))
    channel.checkOpen()
    const { deposit, credit } = channel.payerFunds
    const isFundable = channel.pending !== undefined || !channel.isKnown
    if (isFundable && deposit + credit === 0n) await opener.fund(channel, price)
    if (!channel.isKnown) await opener.introduce(channel)
    if (!channel.payerFunds.isWhole) await this.#hearing.run(channel, () => this.#recall(channel))
    return channel
  }

  async #promise(channel: PayerChannel, price: Atoms, isFee?: boolean): Promise<Promised> {
    const { clock, opener, channels } = this.#init
    const until = clock.elapsed() + EXPOSURE_WAIT_MS
    for (;;) {
      const answer = channel.payerFunds.promise(price, clock.now(), isFee)
      if ('ceiling' in answer) {
        this.#topUp(channel)
        return answer
      }
      if (answer.why === 'deposit') await opener.fund(channel, answer.missing)
      else if (answer.why === 'day') {
        if (await channels.lease()) continue
        throw new SoukError(
          'spend_cap_reached',
          'This node has reached its daily spending cap. Raise the cap, or try again tomorrow (UTC).'
        )
      } else if (!answer.mayPass) {
        if (await this.#findLost(channel)) continue
        throw new SoukError('spend_cap_reached', 'The call would exceed the amount that this owner may hold unearned.')
      } else if (!(await this.#ended(channel, until - clock.elapsed()))) {
        throw new SoukError(
          'overloaded',
          'The calls in flight to this owner use the whole exposure limit. Try again later.'
        )
      }
    }
  }

  /** Runs in the background, before calls have to wait for a deposit. */
  #topUp(channel: PayerChannel): void {
    const { rules, clock, opener } = this.#init
    const { left, spent, credit } = channel.payerFunds
    const now = clock.elapsed()
    const recent = channel.pace.recent(spent, now)
    // On credit, the first deposit is on its way.
    if (credit > 0n || now < channel.topUpAfter) return
    // Of recent deposits, the owner counts only this much until they settle. A payer that spends more needs the rest ahead.
    const ahead = recent + min(rules.deposit, COUNTED_LATEST_ATOMS_MAX) - COUNTED_LATEST_ATOMS_MAX
    const isLow = left * TOP_UP_PART < rules.deposit
    if (!isLow && left >= min(ahead, rules.dailyMax)) return
    channel.topUpAfter = now + TOP_UP_PAUSE_MS
    // Few large deposits instead of many small ones, because each costs gas. If it fails, the call that needs the deposit reports the error.
    const wish = min(recent / TOP_UP_PART, rules.depositMax)
    opener.fundAhead(channel, wish, isLow ? 0n : left).then(
      (isFunded) => {
        if (isFunded) channel.topUpAfter = 0
      },
      () => {}
    )
  }

  /** True if a call of the channel ended in time. */
  #ended(channel: PayerChannel, withinMs: number): Promise<boolean> {
    if (withinMs <= 0) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = this.#waiting.get(channel) ?? new Set()
    this.#waiting.set(channel, waiting)
    const wake = () => resolve(true)
    waiting.add(wake)
    const timer = this.#init.clock.after(withinMs, () => {
      waiting.delete(wake)
      resolve(false)
    })
    return promise.finally(() => timer.cancel())
  }

  /** A call of the channel has ended, so those that wait for it may continue. */
  #wake(channel: PayerChannel): void {
    const waiting = this.#waiting.get(channel)
    if (waiting === undefined) return
    this.#waiting.delete(channel)
    for (const wake of waiting) wake()
  }

  #take(order: Order): Paid | undefined {
    const key = latin1(order.requestId)
    const paid = this.#orders.get(key)
    this.#orders.delete(key)
    return paid
  }
}

interface Answered {
  readonly sent: HashedRequest
  readonly status: number
  readonly charged: Atoms
  readonly price: Atoms
}

function expectedOf({ requestId, api }: Order, { info }: PayerChannel, { sent, ...answered }: Answered): Expected {
  const { channelId } = info
  return { requestId, api, channelId, requestHash: requestHash(sent), rules: rulesFor(sent), ...answered }
}

/** The most that the owner can have charged for the call, by its response or its receipt. */
function mostCharged(bytes: Uint8Array, { channelId, requestId, charged, price }: Expected): Atoms {
  const body = readReceipt(bytes)?.body
  const isOfCall = body?.channelId === channelId && Buffer.compare(body.requestId, requestId) === 0
  const most = isOfCall && body.charged > charged ? body.charged : charged
  return most < price ? most : price
}

const SIGNATURE_BYTES = 65

/** Validates the books, because an owner is not trusted. */
function readBooks(member: unknown): ChannelBooks | undefined {
  if (typeof member !== 'object' || member === null) return undefined
  const { ceiling, captured, reserved, signature } = member as Record<string, unknown>
  if (!isAmount(ceiling) || !isAmount(captured) || !isAmount(reserved)) return undefined
  return {
    ceiling: BigInt(ceiling),
    captured: BigInt(captured),
    reserved: BigInt(reserved),
    signature: isHex(signature, SIGNATURE_BYTES) ? fromHex(signature, SIGNATURE_BYTES) : new Uint8Array(0)
  }
}

function isAmount(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}$/.test(text)
}
