import type { Logger } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import { DISPUTE_KEPT_MS, DISPUTE_FAULT_CHARS_MAX } from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import { formatRequestId, isRequestId, requestIdBytes } from '../../base/request-id.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { Dispute, DisputeState } from '../../interface/disputes.ts'
import type { DocumentPut, Ledger } from '../../interface/ledger.ts'
import type { Settled } from '../../interface/payment-scheme.ts'
import type { ChannelWatch, Redeemer } from '../../interface/redeem.ts'
import type { CallLog, CallRecord, Documents } from '../../interface/store.ts'
import type { Submitter } from '../../interface/submitter.ts'
import type { ReceiptRequest } from '../channel/pay-messages.ts'
import { postingsOf } from './call-entry.ts'
import { type PayeeChannel, receivableOf } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import type { ReceiptSigner } from './receipt-signer.ts'

export interface ReceiptServiceInit {
  readonly calls: Pick<CallLog, 'find'>
  readonly documents: Pick<Documents, 'get' | 'putAll' | 'list'>
  readonly ledger: Pick<Ledger, 'book'>
  readonly channels: Pick<PayeeChannels, 'get'>
  readonly watch: Pick<ChannelWatch, 'refresh' | 'snapshot'>
  readonly submitter: Pick<Submitter, 'status'>
  readonly redeemer: Pick<Redeemer, 'isClaiming'>
  readonly receiptSigner: ReceiptSigner
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** Called when a payer disputes a charge, and when the dispute ends. */
  readonly onDispute: (dispute: Dispute) => void
}

/** Collection of charges that payers dispute, by request id and peer. */
const PAYEE_DISPUTES = 'payee-disputes'

interface KeptDispute {
  readonly api: string
  readonly channelId: ChannelId
  readonly amount: string
  readonly fault: string
  readonly state: DisputeState
  readonly at: number
}

/** A charged call with the channel that paid for it. */
interface Charge {
  readonly record: CallRecord
  readonly channel: PayeeChannel
}

/** Receipts of earlier calls: signs them again, and takes disputed charges back. */
export class ReceiptService {
  readonly #init: ReceiptServiceInit
  /** Concurrent requests for one charge share one, because each would lower the captured amount. */
  readonly #taking = new SingleFlight<string, Dispute>()

  constructor(init: ReceiptServiceInit) {
    this.#init = init
  }

  /** The charge and the receipt of a captured call. Without a known channel, or while the key is locked, the receipt is empty. */
  async settled(record: CallRecord): Promise<Settled> {
    const channel = this.#channelOf(record)
    if (channel === undefined) return { charged: record.charged, receipt: EMPTY_BYTES }
    const charged = await this.#chargedNow(record)
    const receipt = await this.#sign({ record, channel }, charged).catch(() => EMPTY_BYTES)
    return { charged, receipt }
  }

  /** @throws SoukError `payment_rejected` for a call that the books do not have; `settlement_unavailable` while the key is locked */
  async receipt({ channelId, requestId, dispute: fault }: ReceiptRequest, peer: string): Promise<Uint8Array> {
    const charge = await this.#find(peer, requestId)
    if (charge?.channel.info.channelId !== channelId) {
      throw new SoukError('payment_rejected', 'The owner’s books have no such call on this channel.')
    }
    const charged = await this.#chargedNow(charge.record)
    const signing = this.#sign(charge, charged)
    if (fault === '' || charged === 0n) return signing
    const isSigned = await signing.then(
      () => true,
      () => false
    )
    await this.#note(charge, fault.slice(0, DISPUTE_FAULT_CHARS_MAX), isSigned ? 'proved' : 'open')
    return signing
  }

  async disputes(): Promise<Dispute[]> {
    const kept = await this.#init.documents.list(PAYEE_DISPUTES)
    return kept.map(({ key, value }) => ownerDispute(key, JSON.parse(value) as KeptDispute))
  }

  /**
   * Takes a charge back: the payer gets the amount for other calls. Durable when it resolves.
   * @throws SoukError `invalid_request` for a call without a charge through a channel, or one that is claimed on chain;
   *   `settlement_pending` while transactions are on their way
   */
  takeBack(peer: string, requestId: string): Promise<Dispute> {
    return this.#taking.run(`${requestId}/${peer}`, () => this.#takeBack(peer, requestId))
  }

  async #takeBack(peer: string, requestId: string): Promise<Dispute> {
    const { clock, ledger, watch, submitter, redeemer, log, onDispute } = this.#init
    const charge = isRequestId(requestId) ? await this.#find(peer, requestIdBytes(requestId)) : undefined
    if (charge === undefined)
      throw new SoukError('invalid_request', 'This node charged no such call through a channel.')
    const { record, channel } = charge
    const { channelId } = channel.info
    const key = keyOf(record)
    const before = await this.#kept(key)
    if (before?.state === 'taken_back') return ownerDispute(key, before)
    await watch.refresh([channelId])
    const { planned, unmined } = submitter.status()
    if (redeemer.isClaiming || planned + unmined > 0)
      throw new SoukError('settlement_pending', 'A transaction of this node is on its way. Try again when it is mined.')
    const claimed = watch.snapshot(channelId)?.latest.claimed ?? 0n
    if (channel.phase === 'closed' || channel.payeeFunds.captured - record.charged < claimed)
      throw new SoukError(
        'invalid_request',
        'The amount is already claimed on chain, so the charge cannot be taken back.'
      )
    const kept = keptOf(charge, before?.fault ?? '', 'taken_back', clock.now())
    const postings = postingsOf(channel, -record.charged)
    const entry = { kind: 'taken_back', reference: `${channelId}/${requestId}`, at: clock.now(), postings }
    // Before it is stored, so that no claim contains it.
    channel.payeeFunds.giveBack(record.charged)
    try {
      await ledger.book(entry, [documentOf(key, kept)])
    } catch (error) {
      channel.payeeFunds.giveBack(-record.charged)
      throw error
    }
    log('%s: takes %s USDC back, which %s paid', requestId, formatUsdc(record.charged), peer)
    const dispute = ownerDispute(key, kept)
    onDispute(dispute)
    return dispute
  }

  async #find(peer: string, requestId: Uint8Array): Promise<Charge | undefined> {
    const record = await this.#init.calls.find(peer, requestId)
    const channel = record && this.#channelOf(record)
    return record === undefined || channel === undefined ? undefined : { record, channel }
  }

  /** Only a charged call names its channel: in its ledger entry. */
  #channelOf({ peer, debited }: CallRecord): PayeeChannel | undefined {
    if (debited === undefined) return undefined
    const channelId = debited.slice(debited.indexOf('/') + 1) as ChannelId
    const channel = receivableOf(channelId) === debited ? this.#init.channels.get(channelId) : undefined
    return channel?.info.peer === peer ? channel : undefined
  }

  async #chargedNow(record: CallRecord): Promise<Atoms> {
    return (await this.#kept(keyOf(record)))?.state === 'taken_back' ? 0n : record.charged
  }

  async #kept(key: string): Promise<KeptDispute | undefined> {
    const document = await this.#init.documents.get(PAYEE_DISPUTES, key)
    return document === undefined ? undefined : (JSON.parse(document) as KeptDispute)
  }

  /** The totals are those of now, which include the call. */
  #sign({ record, channel }: Charge, charged: Atoms): Promise<Uint8Array> {
    const { requestId, requestHash, api, status, at, rule } = record
    const { captured, reserved } = channel.payeeFunds
    const { channelId } = channel.info
    const why = charged === 0n ? undefined : rule
    const body = { channelId, requestId, requestHash, api, charged, captured, reserved, status, at, rule: why }
    return this.#init.receiptSigner.sign(body)
  }

  /** `proved`: a receipt was sent. The payer may still dispute it. */
  async #note(charge: Charge, fault: string, state: 'open' | 'proved'): Promise<void> {
    const { documents, clock, log, onDispute } = this.#init
    const { record, channel } = charge
    const key = keyOf(record)
    const before = await this.#kept(key)
    if (before?.state === state) return
    const kept = keptOf(charge, fault, state, before?.at ?? clock.now())
    await documents.putAll([documentOf(key, kept, clock.now() + DISPUTE_KEPT_MS)])
    const id = formatRequestId(record.requestId)
    log('%s: %s USDC on %s, disputed (%s): %s', id, formatUsdc(record.charged), channel.info.channelId, fault, state)
    onDispute(ownerDispute(key, kept))
  }
}

const keyOf = ({ requestId, peer }: CallRecord): string => `${formatRequestId(requestId)}/${peer}`

function keptOf({ record, channel }: Charge, fault: string, state: DisputeState, at: number): KeptDispute {
  const { api, charged } = record
  return { api, channelId: channel.info.channelId, amount: charged.toString(), fault, state, at }
}

function documentOf(key: string, kept: KeptDispute, expiresAt?: number): DocumentPut {
  const document = { collection: PAYEE_DISPUTES, key, value: JSON.stringify(kept) }
  return expiresAt === undefined ? document : { ...document, expiresAt }
}

function ownerDispute(key: string, { amount, ...kept }: KeptDispute): Dispute {
  const [requestId = '', peer = ''] = key.split('/')
  return { role: 'owner', requestId, peer, amount: BigInt(amount), ...kept }
}
