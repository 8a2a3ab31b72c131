import type { Clock, Timer } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { ignore } from '../../base/ignore.ts'
import { DEPOSIT_VALID_MS, PAYER_RECEIPTS_MAX, PAYER_WRITE_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { DocumentPut, Entry, Ledger } from '../../interface/ledger.ts'
import type { Documents } from '../../interface/store.ts'
import type { CapLease, DailyCap } from './daily-cap.ts'
import { disputedIn } from './disputed-charge.ts'
import {
  depositedIn,
  disputed,
  PAYER_CHANNELS,
  PAYER_STATE,
  PayerChannel,
  payerDocument,
  type PendingDeposit,
  readPayerChannel,
  spentThrough,
  unclaimedOf,
  uncollectedFrom
} from './payer-channel.ts'
import { PayerFunds, type PayerFundsRules } from './payer-funds.ts'

export interface PayerChannelsInit {
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'book' | 'balance'>
  readonly rules: PayerFundsRules
  readonly cap: DailyCap
  readonly clock: Clock
  /** Called once for a channel whose owner's books cannot be explained. */
  readonly onDispute: (channel: PayerChannel) => void
  /**
   * Called when a channel ends. Returns documents of its disputed charges, for the same commit.
   * @param isTaken the owner kept more than this node's calls explain
   */
  readonly onEnd: (channel: PayerChannel, isTaken: boolean) => readonly DocumentPut[]
}

/** Charges of one channel that wait for the next write. */
interface Charges {
  amount: Atoms
  readonly receipts: DocumentPut[]
}

const COUNTER = 'counter'
const CAP = 'cap'

/** The last lease of the daily cap of an earlier process. */
export async function lastLease(documents: Documents): Promise<CapLease | undefined> {
  const kept = await documents.get(PAYER_STATE, CAP)
  if (kept === undefined) return undefined
  const { day, leased } = JSON.parse(kept) as { day: number; leased: string }
  return { day, leased: BigInt(leased) }
}

/**
 * A payer's channels and ledger entries, and their storage. Changes by calls are written asynchronously and in batches; after a
 * crash the owners' books supply the lost part. Changes that money depends on are durable first.
 */
export class PayerChannels {
  readonly #init: PayerChannelsInit
  readonly #channels = new Map<ChannelId, PayerChannel>()
  /** Channels that are not closed, by owner and receiver. Each call looks here, so no key is joined. */
  readonly #byOwner = new Map<string, Map<string, PayerChannel>>()
  /** Owners of disputed channels, including closed ones where the owner took more than was agreed to. */
  readonly #distrusted = new Set<string>()
  readonly #changed = new Set<PayerChannel>()
  readonly #charges = new Map<PayerChannel, Charges>()
  /** Number of receipts that wait for the next write. */
  #hasStopped = false
  #receipts = 0
  #timer: Timer | undefined
  #counter = 0n
  #leasing: Promise<boolean> | undefined

  constructor(init: PayerChannelsInit) {
    this.#init = init
  }

  /** The channel to one owner for one receiver. */
  get(owner: string, receiver: string): PayerChannel | undefined {
    return this.#byOwner.get(owner)?.get(receiver)
  }

  find(channelId: ChannelId): PayerChannel | undefined {
    return this.#channels.get(channelId)
  }

  /** Includes closed channels. */
  all(): Iterable<PayerChannel> {
    return this.#channels.values()
  }

  /** @throws SoukError `settlement_unavailable` for an owner that charged for calls that were never sent */
  checkTrust(owner: string): void {
    if (this.#distrusted.has(owner)) throw disputed()
  }

  async start(): Promise<void> {
    const { documents, ledger, rules, cap } = this.#init
    this.#counter = BigInt((await documents.get(PAYER_STATE, COUNTER)) ?? 0)
    for (const { key, value } of await documents.list(PAYER_CHANNELS)) {
      const read = readPayerChannel(key as ChannelId, value)
      const { info, ceiling, spent, deposit, pending, channelState } = read
      const booked = await ledger.balance(spentThrough(info.channelId))
      const state = { ceiling, spent: spent > booked ? spent : booked, deposit, isWhole: false }
      const channel = new PayerChannel(info, new PayerFunds(state, rules, cap), pending, channelState)
      channel.booked = booked
      channel.withdrawableAt = read.withdrawableAt
      channel.mined = read.mined
      this.#place(channel)
    }
  }

  /** Writes the queued changes and returns the unused part of the daily cap. Nothing may be signed after this. */
  async stop(): Promise<void> {
    await this.#flush()
    await this.#leasing?.catch(ignore)
    const lease = this.#init.cap.giveBack()
    if (lease !== undefined) await this.#keep(lease)
    this.#hasStopped = true
  }

  /** A deposit may end after the stop. Then it is left to the next start, whose changes a write of this one would undo. */
  #checkRunning(): void {
    if (this.#hasStopped) throw new SoukError('settlement_pending', 'The node has stopped.')
  }

  /**
   * Books the end of a channel. The owner keeps `kept`. If that is more than was agreed, the surplus is booked as paid; if less, the
   * difference is booked as unclaimed. Durable when it resolves.
   */
  async end(channel: PayerChannel, kept: Atoms): Promise<void> {
    // A response may come while the earlier ones are written.
    do await this.#flush()
    while (this.#charges.has(channel))
    const isExplained = channel.payerFunds.end(kept)
    channel.booked = channel.payerFunds.spent
    const { documents, ledger, clock, onEnd } = this.#init
    const { channelId } = channel.info
    const [inside, disputed, spent, uncollected] = await Promise.all([
      ledger.balance(depositedIn(channelId)),
      ledger.balance(disputedIn(channelId)),
      ledger.balance(spentThrough(channelId)),
      ledger.balance(uncollectedFrom(channelId))
    ])
    const put = inside + disputed + spent + uncollected
    const returned = put > kept ? put - kept : 0n
    const taken = inside + disputed - returned
    const postings = [
      { account: 'wallet', amount: returned },
      { account: depositedIn(channelId), amount: -inside },
      { account: disputedIn(channelId), amount: -disputed },
      { account: taken > 0n ? spentThrough(channelId) : unclaimedOf(channelId), amount: taken }
    ].filter(({ amount }) => amount !== 0n)
    // The chain shows finally what the owner took. Unexplained books no longer matter if that is no more than was agreed to.
    const isDisputed = (channel.isDisputed && taken > 0n) || !isExplained
    const value = payerDocument(channel, { phase: 'closed', isDisputed, returned })
    const ended = [{ collection: PAYER_CHANNELS, key: channelId, value }, ...onEnd(channel, taken > 0n)]
    if (postings.length === 0) await documents.putAll(ended)
    else await ledger.book({ kind: 'return', reference: channelId, at: clock.now(), postings }, ended)
    // Changes the phase only now, so that nothing shows the channel as closed before the ledger does.
    channel.move('closed', returned)
    if (!isDisputed) this.#settle(channel)
    this.#unplace(channel)
    if (isDisputed) this.dispute(channel)
  }

  /**
   * The payer's operator accepts what the owner of a closed channel took, so the owner is paid again. Durable when it resolves.
   * @throws SoukError `invalid_request` if the channel is not closed and disputed
   */
  async accept(channelId: ChannelId): Promise<PayerChannel> {
    const channel = this.#channels.get(channelId)
    if (channel?.phase !== 'closed' || !channel.isDisputed) {
      throw new SoukError('invalid_request', 'This node pays through no closed and disputed channel with this id.')
    }
    this.#settle(channel)
    await this.save(channel)
    return channel
  }

  /**
   * Books a mined deposit once. It pays first for charges that were written off. Durable when it resolves.
   */
  async onMined(channel: PayerChannel, pending: PendingDeposit): Promise<void> {
    const { ledger, clock } = this.#init
    const { channelId } = channel.info
    const { amount, salt } = pending
    const writtenOff = -(await ledger.balance(uncollectedFrom(channelId)))
    const recovered = writtenOff < amount ? writtenOff : amount
    const postings = [
      { account: depositedIn(channelId), amount: amount - recovered },
      { account: uncollectedFrom(channelId), amount: recovered },
      { account: 'wallet', amount: -amount }
    ].filter(({ amount }) => amount !== 0n)
    await ledger.book({ kind: 'deposit', reference: `${channelId}/${salt}`, at: clock.now(), postings })
    // A concurrent caller has handled the deposit.
    if (channel.pending !== pending) return
    // Add the amount instead of reading it: the endpoint's next response may be older than the deposit.
    channel.payerFunds.hold(channel.payerFunds.deposit + amount)
    channel.payerFunds.lend(0n)
    channel.pending = undefined
    // Long after its expiry, a mined deposit is final.
    const isRecent = ({ validBefore }: PendingDeposit) => validBefore * 1_000 > clock.now() - DEPOSIT_VALID_MS
    channel.mined = [...channel.mined.filter(isRecent), pending]
    await this.save(channel)
  }

  /** A reorganisation removed the deposit, so it is pending again. It stays booked until it is void. Durable when it resolves. */
  async onRemoved(channel: PayerChannel, deposit: PendingDeposit): Promise<void> {
    if (channel.pending !== undefined || !channel.mined.includes(deposit)) return
    const { payerFunds } = channel
    channel.mined = channel.mined.filter((other) => other !== deposit)
    channel.pending = { ...deposit, isBooked: true }
    payerFunds.hold(payerFunds.deposit > deposit.amount ? payerFunds.deposit - deposit.amount : 0n)
    await this.save(channel)
  }

  /**
   * Forgets a deposit that can never be mined, and writes off what the owner charged for it. Durable when it resolves.
   */
  async onVoid(channel: PayerChannel, pending: PendingDeposit): Promise<void> {
    this.#checkRunning()
    await this.#flush()
    const { ledger, clock } = this.#init
    const { channelId } = channel.info
    const booked = pending.isBooked === true ? pending.amount : 0n
    const inside = (await ledger.balance(depositedIn(channelId))) - booked
    if (channel.pending !== pending) return
    channel.payerFunds.lend(0n)
    channel.pending = undefined
    const document = { collection: PAYER_CHANNELS, key: channelId, value: payerDocument(channel) }
    const missing = inside < 0n ? -inside : 0n
    const postings = [
      { account: depositedIn(channelId), amount: missing - booked },
      { account: uncollectedFrom(channelId), amount: -missing },
      { account: 'wallet', amount: booked }
    ].filter(({ amount }) => amount !== 0n)
    if (postings.length === 0) return this.save(channel)
    const reference = `${channelId}/${pending.salt}`
    await ledger.book({ kind: 'write_off', reference, at: clock.now(), postings }, [document])
  }

  /** A number that no channel of this node has used. Durable when it resolves. */
  async nextCounter(): Promise<bigint> {
    const counter = ++this.#counter
    await this.#init.documents.put(PAYER_STATE, COUNTER, counter.toString())
    return counter
  }

  /** Leases the next slice of the daily cap; false if there is none. Durable when it resolves. */
  lease(): Promise<boolean> {
    this.#leasing ??= this.#lease().finally(() => {
      this.#leasing = undefined
    })
    return this.#leasing
  }

  /** Durable when it resolves. */
  async add(channel: PayerChannel): Promise<void> {
    await this.save(channel)
    this.#place(channel)
  }

  /** Durable when it resolves. */
  async save(channel: PayerChannel): Promise<void> {
    this.#checkRunning()
    await this.#init.documents.put(PAYER_CHANNELS, channel.info.channelId, payerDocument(channel))
  }

  /** Stops all payments to the channel's owner. */
  dispute(channel: PayerChannel): void {
    if (!channel.dispute()) return
    this.#distrusted.add(channel.info.owner)
    this.touch(channel)
    this.#init.onDispute(channel)
  }

  /** Queues the channel for writing. */
  touch(channel: PayerChannel): void {
    if (this.#hasStopped) return
    this.#changed.add(channel)
    this.#timer ??= this.#init.clock.after(PAYER_WRITE_MS, () => void this.#flush())
  }

  /** Queues the charge of a call and its receipt for writing. */
  charge(channel: PayerChannel, amount: Atoms, receipt: DocumentPut): void {
    channel.booked += amount
    const charges = this.#charges.get(channel)
    if (charges === undefined) this.#charges.set(channel, { amount, receipts: [receipt] })
    else {
      charges.amount += amount
      charges.receipts.push(receipt)
    }
    this.touch(channel)
    if (++this.#receipts >= PAYER_RECEIPTS_MAX) void this.#flush()
  }

  /** Writes in one turn, so that it is one commit. If the write fails, the store reports it. */
  async #flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const writes: Array<Promise<unknown>> = []
    // `end` writes a channel that is ending.
    const changed = [...this.#changed].filter(({ payerFunds, phase }) => !payerFunds.hasEnded || phase === 'closed')
    for (const channel of changed) writes.push(this.save(channel), ...this.#bookUnheard(channel))
    for (const [channel, charges] of this.#charges) writes.push(this.#bookCharges(channel, charges))
    this.#changed.clear()
    this.#charges.clear()
    this.#receipts = 0
    await Promise.allSettled(writes)
  }

  /** One entry for all charges of a write: an entry costs more than the receipt that proves a charge. */
  #bookCharges(channel: PayerChannel, { amount, receipts }: Charges): Promise<boolean> {
    const [first, last] = [receipts[0]?.key ?? '', receipts.at(-1)?.key ?? '']
    const reference = first === last ? first : `${first}/${last}`
    return this.#book(channel, { kind: 'paid', reference }, amount, receipts)
  }

  /** Books captures that this node learned from the owner's books: their responses were lost, or forgotten in a crash. */
  #bookUnheard(channel: PayerChannel): Array<Promise<boolean>> {
    const { spent } = channel.payerFunds
    const amount = spent - channel.booked
    if (amount <= 0n) return []
    channel.booked = spent
    return [this.#book(channel, { kind: 'unheard', reference: `${channel.info.channelId}/${spent}` }, amount)]
  }

  #book(
    { spent, deposited }: PayerChannel,
    name: Pick<Entry, 'kind' | 'reference'>,
    amount: Atoms,
    documents: readonly DocumentPut[] = []
  ): Promise<boolean> {
    const postings = [
      { account: spent, amount },
      { account: deposited, amount: -amount }
    ]
    const { ledger, clock } = this.#init
    return ledger.book({ ...name, at: clock.now(), postings }, documents)
  }

  async #lease(): Promise<boolean> {
    const { cap, clock } = this.#init
    const lease = cap.next(clock.now())
    if (lease === undefined) return false
    await this.#keep(lease)
    cap.grant(lease)
    return true
  }

  #keep({ day, leased }: CapLease): Promise<void> {
    return this.#init.documents.put(PAYER_STATE, CAP, JSON.stringify({ day, leased: leased.toString() }))
  }

  #place(channel: PayerChannel): void {
    const { channelId, owner, config } = channel.info
    this.#channels.set(channelId, channel)
    if (channel.isDisputed) this.#distrusted.add(owner)
    if (channel.phase === 'closed') return
    const ofOwner = this.#byOwner.get(owner) ?? new Map<string, PayerChannel>()
    this.#byOwner.set(owner, ofOwner.set(config.receiver, channel))
  }

  /** The owner may be paid again, unless another of its channels is disputed. */
  #settle(channel: PayerChannel): void {
    channel.settle()
    const { owner } = channel.info
    const others = [...this.#channels.values()].filter(({ info, isDisputed }) => isDisputed && info.owner === owner)
    if (others.length === 0) this.#distrusted.delete(owner)
  }

  #unplace(channel: PayerChannel): void {
    const { owner, config } = channel.info
    const ofOwner = this.#byOwner.get(owner)
    if (ofOwner?.get(config.receiver) !== channel) return
    ofOwner.delete(config.receiver)
    if (ofOwner.size === 0) this.#byOwner.delete(owner)
  }
}
