import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Hex } from '../../lib/base/hex.ts'
import { COUNTED_LATEST_ATOMS_MAX, COUNTED_SAFE_ATOMS_MAX, CREDIT_LOST_MS } from '../../lib/base/limits/pay.ts'
import type { ChannelState } from '../../lib/interface/chain.ts'
import type { ChannelConfig, ChannelId, Voucher } from '../../lib/interface/channel.ts'
import type { ChannelSnapshot } from '../../lib/interface/redeem.ts'
import type { DocumentPut } from '../../lib/interface/ledger.ts'
import type { CallEffects, CallRecord, Store } from '../../lib/interface/store.ts'
import { decodeAuthorization } from '../../lib/pay/signing/authorization.ts'
import { DEPOSIT_CREDITS } from '../../lib/pay/payee/deposit-credit.ts'
import { earnedOf, PAYEE_VOUCHERS, readVoucher } from '../../lib/pay/payee/payee-channel.ts'
import type { PayRules } from '../../lib/pay/payer/pay-rules.ts'
import { PAYER_CHANNELS, readPayerChannel } from '../../lib/pay/payer/payer-channel.ts'
import { isSound } from '../../lib/pay/signing/voucher.ts'
import { type Accounts, channelOf, type ClaimOf, contracts, NO_CHANNEL, WITHDRAW_DELAY_S } from './contracts.ts'
import type { Write } from './disk.ts'
import type { Life } from './life.ts'
import type { World } from './world.ts'

/** The rules that the invariants compute with. */
export type SimRules = Pick<PayRules, 'exposureMax' | 'dailyMax' | 'creditAddressMax' | 'creditHourMax'>

/** A violated invariant. */
export class Violation extends Error {}

/** The fate of one call, as visible outside of the nodes. */
interface Fate {
  /** The process that sent it to an upstream, and whether the upstream succeeded. */
  life?: Life
  succeeded: boolean
  /** True if its application repeated it under the same id. */
  isByHand: boolean
  /** Its durable record in an owner's books. */
  record?: CallRecord
  owner?: string
  delivered?: { readonly charged: bigint; readonly body: string }
}

/** A channel, as seen at both ends and on the chain. */
interface Seen {
  readonly payer: string
  readonly owner: string
  readonly config: ChannelConfig
  /** The highest ceiling that its payer sent. */
  signed: bigint
  /** A and S on the owner's disk. */
  ceiling: bigint
  captured: bigint
  /** Its balances at the newest block, with the last time of each. */
  balances: Array<{ readonly balance: bigint; readonly at: number }>
}

/** The state of an owner's process that limits what it may do, as visible from outside. */
export interface Process {
  readonly owner: string
  /** A by channel, including received vouchers. */
  readonly presented: Map<ChannelId, bigint>
  /** Amounts reserved for running calls, by channel and call. */
  readonly held: Map<ChannelId, Map<string, bigint>>
  /** The process's reads of channels at the newest block, with their times. */
  readonly told: Map<ChannelId, Array<{ readonly state: ChannelState; readonly at: number }>>
  /** What the process lent to channels before their deposit counted, as far as durable. */
  readonly lent: Map<ChannelId, bigint>
}

/** A credit on an owner's disk. */
interface Credit {
  readonly payer: string
  readonly amount: bigint
  readonly gas: bigint
  readonly since: number
}

/** The age at which a view of the chain becomes invalid. */
const VIEW_MS = (WITHDRAW_DELAY_S * 1_000) / 4
const EARNED = earnedOf('' as ChannelId)

/** Observes all messages, writes and transactions, and checks the invariants at each. */
export class Invariants {
  readonly #world: World
  readonly fates = new Map<string, Fate>()
  readonly channels = new Map<ChannelId, Seen>()
  readonly #rules: SimRules
  /** The last process of each node. */
  readonly #processes = new Map<string, Process>()
  /** The credits on each owner's disk. */
  readonly #credits = new Map<string, Map<string, Credit>>()
  /** Calls that were admitted only on credit. */
  onCredit = 0

  constructor(world: World, rules: SimRules) {
    this.#world = world
    this.#rules = rules
  }

  /** Ends the run if the condition does not hold. */
  must(holds: boolean, otherwise: string): void {
    if (holds) return
    const violation = new Violation(otherwise)
    this.#world.fail(violation)
    throw violation
  }

  fateOf(id: string): Fate {
    const fate = this.fates.get(id) ?? { succeeded: false, isByHand: false }
    this.fates.set(id, fate)
    return fate
  }

  /** Starts a process with the durable content of its node's disk. */
  async startProcess(node: string, peer: string, { documents, ledger }: Store): Promise<Process> {
    const own = [...this.channels].filter(([, seen]) => seen.owner === peer)
    for (const [id, { captured, ceiling }] of own) {
      const earned = -(await ledger.balance(earnedOf(id)))
      const voucher = await documents.get(PAYEE_VOUCHERS, id)
      const kept = voucher === undefined ? 0n : readVoucher(id, voucher).ceiling
      this.must(earned === captured && kept === ceiling, `the disk of ${node} forgot what was durable`)
    }
    const presented = new Map(own.map(([id, { ceiling }]) => [id, ceiling]))
    const process: Process = { owner: node, presented, held: new Map(), told: new Map(), lent: new Map() }
    this.#processes.set(node, process)
    return process
  }

  // The payer's side.

  onSigned(authorization: Uint8Array): void {
    const { channelId, ceiling } = decodeAuthorization(authorization)
    const seen = this.#seen(channelId)
    if (ceiling > seen.signed) seen.signed = ceiling
    this.must(
      seen.signed <= seen.captured + this.#rules.exposureMax,
      `a payer signed for ${seen.signed} where ${seen.captured} are earned and ${this.#rules.exposureMax} may be out`
    )
    const today = [...this.channels.values()].filter(({ payer }) => payer === seen.payer)
    const sum = today.reduce((total, { signed }) => total + signed, 0n)
    this.must(sum <= this.#rules.dailyMax, `a payer signed for ${sum} in a day of ${this.#rules.dailyMax}`)
  }

  onDelivered(id: string, charged: bigint, body: string, price: bigint): void {
    const fate = this.fateOf(id)
    fate.delivered = { charged, body }
    const { record } = fate
    this.must(record !== undefined, `${id} was delivered and is in no owner's books`)
    this.must(record?.charged === charged, `${id} was delivered for ${charged} and booked for ${record?.charged}`)
    this.must(charged <= price, `${id} was charged ${charged} at a price of ${price}`)
    if (charged > 0n)
      this.must(record?.outcome === 'captured' && fate.succeeded, `${id} was charged and did not succeed`)
  }

  // The owner's side.

  onReached(id: string, life: Life): void {
    const fate = this.fateOf(id)
    // A manual repeat does not identify the owner process of the first attempt, so the next process cannot know it.
    const isUnfenced = fate.isByHand && fate.life !== life
    this.must(fate.life === undefined || isUnfenced, `${id} came to an upstream twice`)
    fate.life = life
  }

  onSucceeded(id: string): void {
    this.fateOf(id).succeeded = true
  }

  onPresented({ presented }: Process, { channelId, ceiling, signature }: Voucher): void {
    const seen = this.channels.get(channelId)
    if (seen === undefined || ceiling <= (presented.get(channelId) ?? 0n)) return
    const isTrue = isSound(contracts.domain, { channelId, ceiling, signature }, seen.config.payerAuthorizer)
    if (isTrue) presented.set(channelId, ceiling)
  }

  /** S + R ≤ min(A, limit), computed only from outside data. */
  onAdmitted(
    process: Process,
    id: string,
    channelId: ChannelId,
    price: bigint,
    view: ChannelSnapshot | undefined
  ): void {
    const { captured } = this.#seen(channelId)
    const held = process.held.get(channelId) ?? new Map<string, bigint>()
    process.held.set(channelId, held.set(id, price))
    const out = captured + [...held.values()].reduce((sum, amount) => sum + amount, 0n)
    const ceiling = process.presented.get(channelId) ?? 0n
    this.must(out <= ceiling, `${process.owner} let in up to ${out} where ${ceiling} is signed`)
    this.must(view !== undefined, `${process.owner} let a call in without a look at the chain`)
    if (view === undefined) return
    const told = process.told.get(channelId) ?? []
    const isTold = told.some(
      ({ state, at }) => this.#world.now - at <= VIEW_MS && isDeepStrictEqual(state, view.latest)
    )
    this.must(isTold, `${process.owner} counts on a channel as the chain did not show it lately`)
    const limit = limitOf(view)
    const lent = process.lent.get(channelId) ?? 0n
    if (out > limit && out <= lent) {
      this.onCredit++
      return
    }
    this.must(out <= limit, `${process.owner} let in up to ${out} where the channel is good for ${limit}`)
  }

  onEnded({ held }: Process, id: string): void {
    for (const calls of held.values()) calls.delete(id)
  }

  /** An owner sends its response. */
  onAnswered(owner: string, id: string, charged: bigint): void {
    const { record } = this.fateOf(id)
    this.must(record !== undefined, `${owner} answered ${id} before it was durable`)
    this.must(record?.charged === charged, `${owner} answered ${id} with ${charged} charged, not ${record?.charged}`)
  }

  onTold({ told }: Process, id: ChannelId, state: ChannelState = NO_CHANNEL): void {
    const states = (told.get(id) ?? []).filter(({ at }) => this.#world.now - at <= VIEW_MS)
    states.push({ state, at: this.#world.now })
    told.set(id, states)
  }

  /** An owner simulates or sends a claim. */
  onClaim({ channelId, total, ceiling }: ClaimOf): void {
    const { captured, signed, balances } = this.#seen(channelId)
    this.must(total <= captured, `a claim of ${total} where ${captured} was captured`)
    this.must(total <= ceiling && ceiling <= signed, `a claim of ${total} by a voucher of ${ceiling}`)
    const held = balances.some(({ balance }) => total <= balance)
    this.must(held, `a claim of ${total} above all that the channel held lately`)
  }

  // Disks and chain.

  onDurable(node: string, write: Write): void {
    if (write.kind === 'append') this.#onRecord(node, write.record, write.effects)
    else if (write.kind === 'put') this.#onDocument(node, write)
    else if (write.kind === 'delete' && write.collection === DEPOSIT_CREDITS) this.#onReturned(node, write.key)
    else if (write.kind === 'book' || write.kind === 'put all') {
      for (const document of write.documents) this.#onDocument(node, document)
    }
  }

  onBlock(head: Accounts): void {
    for (const [id, seen] of this.channels) {
      const { signed, captured } = seen
      const { claimed, balance } = channelOf(head, id)
      const { now } = this.#world
      seen.balances = seen.balances.filter((other) => other.balance !== balance && now - other.at <= VIEW_MS)
      seen.balances.push({ balance, at: now })
      this.must(claimed <= signed, `the chain paid ${claimed} of a channel where ${signed} was signed`)
      this.must(claimed <= captured, `the chain paid ${claimed} of a channel where ${captured} was captured`)
      this.must(claimed <= balance, `the chain paid ${claimed} of a channel that holds ${balance}`)
    }
  }

  #onRecord(owner: string, record: CallRecord, { documents = [], postings = [] }: CallEffects): void {
    const id = idOf(record.requestId)
    const fate = this.fateOf(id)
    // The store keeps the first of two records; the second is an error for its writer.
    if (fate.record !== undefined && fate.owner === owner) return
    this.must(fate.record === undefined || record.outcome === 'void', `${id} is in the books of two owners`)
    if (record.outcome === 'captured') this.must(fate.succeeded, `${id} was captured and its upstream did not succeed`)
    // The upstream may have succeeded although the call failed, for example in a process that died before it booked.
    const { code, charged } = record
    this.must(code === undefined || charged === 0n, `${id} failed with ${code} and was charged ${charged}`)
    if (fate.record === undefined) Object.assign(fate, { record, owner })
    for (const document of documents) this.#onDocument(owner, document)
    this.must(postings.reduce((sum, { amount }) => sum + amount, 0n) === 0n, `the postings of ${id} do not sum to zero`)
    for (const { account, amount } of postings) {
      if (!account.startsWith(EARNED)) continue
      const seen = this.#seen(account.slice(EARNED.length) as ChannelId)
      seen.captured -= amount
      const both = `${seen.captured} are captured on disk, with a voucher of ${seen.ceiling}`
      this.must(seen.captured <= seen.ceiling, both)
    }
  }

  #onDocument(node: string, { collection, key, value }: DocumentPut): void {
    const channelId = key as Hex
    if (collection === PAYER_CHANNELS) {
      const { info, channelState } = readPayerChannel(channelId, value)
      this.must(!channelState.isDisputed, `${node} thinks that an honest owner cheats`)
      if (this.channels.has(channelId)) return
      const { config, owner } = info
      this.channels.set(channelId, { payer: node, owner, config, signed: 0n, ceiling: 0n, captured: 0n, balances: [] })
    } else if (collection === PAYEE_VOUCHERS) {
      const seen = this.#seen(channelId)
      const voucher = readVoucher(channelId, value)
      this.must(voucher.ceiling >= seen.ceiling, `A went back from ${seen.ceiling} to ${voucher.ceiling}`)
      this.must(voucher.ceiling <= seen.signed, `a voucher of ${voucher.ceiling} where ${seen.signed} was signed`)
      seen.ceiling = voucher.ceiling
    } else if (collection === DEPOSIT_CREDITS) this.#onLent(node, channelId, value)
  }

  /** What an owner can lose in an hour, over all restarts. */
  #onLent(node: string, channelId: ChannelId, value: string): void {
    const { payer, ...kept } = JSON.parse(value) as { payer: string; amount: string; gas: string; endedAt?: number }
    const [amount, gas] = [BigInt(kept.amount), BigInt(kept.gas)]
    const credits = this.#credits.get(node) ?? new Map<string, Credit>()
    const { since } = credits.get(channelId) ?? { since: this.#world.now }
    this.#credits.set(node, credits.set(channelId, { payer, amount, gas, since }))
    const isOpen = kept.endedAt === undefined
    if (isOpen) this.#processes.get(node)?.lent.set(channelId, amount)
    const { creditHourMax, creditAddressMax } = this.#rules
    const sum = [...credits.values()].reduce((total, credit) => total + credit.amount + credit.gas, 0n)
    this.must(sum <= creditHourMax, `${node} can lose ${sum} on credit, and ${creditHourMax} is the most`)
    const own = [...credits.values()].filter((credit) => credit.payer === payer)
    const ofPayer = own.reduce((total, credit) => total + credit.amount, 0n)
    this.must(ofPayer <= creditAddressMax, `${node} lent ${ofPayer} to one payer, and ${creditAddressMax} is the most`)
  }

  /** A credit ends only when its owner has seen a deposit that covers the calls, or an hour later. */
  #onReturned(node: string, key: string): void {
    const credits = this.#credits.get(node)
    const credit = credits?.get(key)
    credits?.delete(key)
    const process = this.#processes.get(node)
    const channelId = key as ChannelId
    const isOld = credit === undefined || this.#world.now - credit.since >= CREDIT_LOST_MS
    const { captured } = this.#seen(channelId)
    const isCovered = process?.told.get(channelId)?.some(({ state }) => state.balance >= captured && state.balance > 0n)
    this.must(isOld || isCovered === true, `${node} forgot a credit of ${credit?.amount} before its deposit counted`)
  }

  #seen(channelId: ChannelId): Seen {
    const seen = this.channels.get(channelId)
    if (seen === undefined) throw new assert.AssertionError({ message: `nobody knows the channel ${channelId}` })
    return seen
  }
}

export const idOf = (requestId: Uint8Array): string => Buffer.from(requestId).toString('hex')

/** Implemented separately from `lib/pay/payee/channel-limit.ts` on purpose. */
function limitOf({ latest, safe, finalized }: ChannelSnapshot): bigint {
  const part = (there: bigint, settled: bigint, most: bigint): bigint => {
    const more = there > settled ? there - settled : 0n
    return more < most ? more : most
  }
  const onSafe = part(safe.balance, finalized.balance, COUNTED_SAFE_ATOMS_MAX)
  const isSafeBehind = safe.balance < finalized.balance
  const onLatest = part(latest.balance, (isSafeBehind ? finalized : safe).balance, COUNTED_LATEST_ATOMS_MAX)
  const counted = finalized.balance + onSafe + onLatest
  return (counted < latest.balance ? counted : latest.balance) - (latest.withdrawal?.amount ?? 0n)
}
