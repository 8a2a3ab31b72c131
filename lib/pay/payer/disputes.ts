import type { Logger } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import { type Clock, deadline } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import { SoukError } from '../../base/errors.ts'
import { DISPUTE_ASK_MS, DISPUTE_ASK_PAUSE_MS, DISPUTE_WAIT_MS } from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import { formatRequestId } from '../../base/request-id.ts'
import { within } from '../../base/within.ts'
import type { Dispute, DisputeState } from '../../interface/disputes.ts'
import type { DocumentPut, Entry, Ledger } from '../../interface/ledger.ts'
import type { Documents } from '../../interface/store.ts'
import { type PayClient, unreadable } from '../channel/pay-client.ts'
import { RetryQueue } from '../channel/retry-queue.ts'
import { readReceipt, type ReceiptCheck } from '../signing/receipt.ts'
import { type DisputedCharge, disputeDocument, disputedIn, PAYER_DISPUTES, readDispute } from './disputed-charge.ts'
import { PAYER_CHANNELS, type PayerChannel, payerDocument } from './payer-channel.ts'
import type { PayerChannels } from './payer-channels.ts'
import { type Expected, readProof, type ReceiptFault } from './receipt-fault.ts'
import { receiptDocument } from './stored-receipts.ts'

export interface DisputesInit {
  readonly channels: Pick<PayerChannels, 'find'>
  readonly ask: PayClient
  readonly check: ReceiptCheck
  readonly documents: Pick<Documents, 'list' | 'putAll'>
  readonly ledger: Pick<Ledger, 'book'>
  readonly clock: Clock
  readonly log: Logger
  /** Called for a new dispute, and when one ends. */
  readonly onDispute: (dispute: Dispute) => void
}

interface OpenDispute {
  readonly charge: DisputedCharge
  readonly channel: PayerChannel
}

/**
 * A payer's charges without a valid receipt. While one is open, nothing is signed to its owner. The payer asks for the receipt until
 * it comes, or the owner takes the charge back, or the payer's operator accepts it.
 */
export class Disputes {
  readonly #init: DisputesInit
  /** By request id, in its canonical form. */
  readonly #open = new Map<string, OpenDispute>()
  readonly #asks: RetryQueue<string>
  /** By owner, on the monotonic clock. */
  readonly #askedAt = new Map<string, number>()

  constructor(init: DisputesInit) {
    this.#init = init
    this.#asks = new RetryQueue({ clock: init.clock, pauseMs: DISPUTE_ASK_MS, onError: () => {} })
  }

  /** Loads the open disputes of an earlier process, once the channels are loaded. */
  async start(): Promise<void> {
    const { documents, channels } = this.#init
    for (const { key, value } of await documents.list(PAYER_DISPUTES)) {
      const charge = readDispute(key, value)
      const channel = channels.find(charge.expected.channelId)
      if (charge.state !== 'open' || channel === undefined) continue
      this.#open.set(key, { charge, channel })
      if (!charge.isTaken) channel.payerFunds.contest(charge.expected.charged)
      void this.#askFor(charge.owner)
    }
  }

  stop(): Promise<void> {
    return this.#asks.stop()
  }

  /** True while a charge of this owner is disputed. */
  areOpen(owner: string): boolean {
    return this.#open.size > 0 && this.#of(owner).length > 0
  }

  /** @throws SoukError `settlement_unavailable` while a charge of this owner is disputed */
  check(owner: string): void {
    if (this.areOpen(owner)) throw unproved()
  }

  /** Asks the owner for its missing receipts, waits shortly, then checks. @throws as `check` */
  async attend(owner: string): Promise<void> {
    const limit = deadline(this.#init.clock, DISPUTE_WAIT_MS, unproved)
    try {
      await within(this.#askFor(owner), limit.signal)
    } finally {
      limit.clear()
    }
    this.check(owner)
  }

  /**
   * Opens a dispute. The caller has moved the amount in the channel's funds.
   * @param booked where the amount is in the ledger: still in the channel, or booked as spent
   * @returns resolves when the dispute is durable, or the store failed; never rejects
   */
  async open(channel: PayerChannel, expected: Expected, fault: ReceiptFault, booked: 'deposited' | 'spent') {
    const { clock, log } = this.#init
    const { owner, channelId } = channel.info
    const key = formatRequestId(expected.requestId)
    const at = clock.now()
    const charge: DisputedCharge = { expected, owner, fault, at, state: 'open', isTaken: false }
    this.#open.set(key, { charge, channel })
    log('%s: disputes %s USDC of %s, receipt: %s', key, formatUsdc(expected.charged), owner, fault)
    const postings = [
      { account: disputedIn(channelId), amount: expected.charged },
      { account: channel[booked], amount: -expected.charged }
    ]
    await this.#book({ kind: 'disputed', reference: key, at, postings }, channel, [disputeDocument(charge, at)])
    this.#init.onDispute(payerDispute(charge))
    void this.#askFor(owner)
  }

  /**
   * Ends a dispute without a receipt: the payer's operator accepts the charge.
   * @throws SoukError `invalid_request` if no such dispute is open
   */
  async accept(requestId: string): Promise<Dispute> {
    const dispute = this.#open.get(requestId)
    if (dispute === undefined) throw new SoukError('invalid_request', 'This node has no open dispute about this call.')
    return this.#end(requestId, dispute, 'accepted', dispute.charge.expected.charged)
  }

  /**
   * The channel is closed. Returns the documents to write with its last entry.
   * @param isTaken the owner kept more than the payer's own calls explain
   */
  onEnd({ info }: PayerChannel, isTaken: boolean): DocumentPut[] {
    const now = this.#init.clock.now()
    return [...this.#open]
      .filter(([, { charge }]) => charge.expected.channelId === info.channelId)
      .map(([key, { charge, channel }]) => {
        const ended: DisputedCharge = isTaken ? { ...charge, isTaken } : { ...charge, state: 'returned' }
        if (isTaken) this.#open.set(key, { charge: ended, channel })
        else this.#open.delete(key)
        return disputeDocument(ended, now)
      })
  }

  /** Includes those that ended lately. */
  async all(): Promise<Dispute[]> {
    const kept = await this.#init.documents.list(PAYER_DISPUTES)
    return kept.map(({ key, value }) => payerDispute(readDispute(key, value)))
  }

  #of(owner: string): Array<[string, OpenDispute]> {
    return [...this.#open].filter(([, { charge }]) => charge.owner === owner)
  }

  /** Joins a running request, and pauses between two of them. */
  #askFor(owner: string): Promise<void> {
    const { clock } = this.#init
    const askedAt = this.#askedAt.get(owner) ?? Number.NEGATIVE_INFINITY
    if (!this.#asks.isRunning(owner)) {
      if (clock.elapsed() - askedAt < DISPUTE_ASK_PAUSE_MS) return Promise.resolve()
      this.#askedAt.set(owner, clock.elapsed())
    }
    // The error below says enough: the dispute stays open.
    return this.#asks.run(owner, (signal) => this.#ask(owner, signal)).catch(() => {})
  }

  /** One after the other, because an owner serves one such request of a peer at a time. */
  async #ask(owner: string, signal: AbortSignal): Promise<void> {
    for (const [key, dispute] of this.#of(owner)) {
      const { requestId, channelId } = dispute.charge.expected
      const receipt = { channelId, requestId, dispute: dispute.charge.fault }
      const reply = await within(this.#init.ask(owner, { kind: 'receipt', receipt }, signal), signal)
      if (reply.kind !== 'receipt') throw unreadable()
      if (this.#open.has(key)) await this.#hear(key, dispute, reply.receipt)
    }
    this.#askedAt.delete(owner)
  }

  async #hear(key: string, dispute: OpenDispute, bytes: Uint8Array): Promise<void> {
    const { expected, isTaken } = dispute.charge
    const receipt = readReceipt(bytes)
    const by = dispute.channel.info.config.receiverAuthorizer
    if (receipt === undefined || !this.#init.check.isSigned(receipt, by)) throw noProof()
    const { body } = receipt
    const isOfCall = body.channelId === expected.channelId && equals(body.requestId, expected.requestId)
    // A charge of 0 that the owner kept on chain is not taken back.
    if (isOfCall && body.charged === 0n && !isTaken) return void (await this.#end(key, dispute, 'taken_back', 0n))
    // The owner may correct the charge down.
    const charged = body.charged < expected.charged ? body.charged : expected.charged
    if (charged === 0n || typeof readProof(bytes, { ...expected, charged }) === 'string') throw noProof()
    await this.#end(key, dispute, 'proved', charged, { bytes, captured: body.captured })
  }

  async #end(
    key: string,
    { charge, channel }: OpenDispute,
    state: DisputeState,
    charged: Atoms,
    proof?: { readonly bytes: Uint8Array; readonly captured: Atoms }
  ): Promise<Dispute> {
    const { clock, log, onDispute } = this.#init
    const { channelId, charged: amount } = charge.expected
    const now = clock.now()
    const ended: DisputedCharge = { ...charge, state }
    const documents = [disputeDocument(ended, now)]
    if (proof !== undefined) documents.push(receiptDocument(key, proof.bytes))
    this.#open.delete(key)
    if (charge.isTaken) await this.#write(key, () => this.#init.documents.putAll(documents))
    else {
      const counted = channel.payerFunds.uncontest(amount, charged, proof?.captured)
      channel.booked += counted
      const postings = [
        { account: channel.spent, amount: counted },
        { account: channel.deposited, amount: amount - counted },
        { account: disputedIn(channelId), amount: -amount }
      ].filter(({ amount }) => amount !== 0n)
      await this.#book({ kind: state, reference: key, at: now, postings }, channel, documents)
    }
    log('%s: dispute with %s ends: %s, charged %s USDC', key, charge.owner, state, formatUsdc(charged))
    const dispute = payerDispute(ended)
    onDispute(dispute)
    return dispute
  }

  /** In one commit. */
  #book(entry: Entry, channel: PayerChannel, documents: readonly DocumentPut[]): Promise<void> {
    const document = { collection: PAYER_CHANNELS, key: channel.info.channelId, value: payerDocument(channel) }
    return this.#write(entry.reference, () => this.#init.ledger.book(entry, [...documents, document]))
  }

  /** If it fails, the store reports it. */
  async #write(key: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#init.log('%s: the dispute could not be stored: %s', key, reasonOf(error))
    }
  }
}

function payerDispute({ expected, owner, fault, state, at }: DisputedCharge): Dispute {
  const { requestId, api, channelId, charged } = expected
  return {
    role: 'payer',
    requestId: formatRequestId(requestId),
    api,
    peer: owner,
    channelId,
    amount: charged,
    fault,
    state,
    at
  }
}

const noProof = () => new SoukError('payment_malformed', 'The owner sent no valid receipt for the charge.')

/** Its source is the owner, so that other owners are tried first. */
function unproved(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'This owner charged for a call without a valid receipt, so this node pays it no more until it sends the receipt. See: souk disputes',
    { source: 'owner' }
  )
}
