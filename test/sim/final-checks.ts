import assert from 'node:assert/strict'
import type { Clock } from '../../lib/base/clock.ts'
import { utf8, text } from '../../lib/base/bytes.ts'
import { asSoukError } from '../../lib/base/errors.ts'
import { KEEP_DAYS, KEEP_FREE_CALLS_MS } from '../../lib/base/limits/store.ts'
import { DAY_MS } from '../../lib/base/limits/time.ts'
import type { Adapter } from '../../lib/interface/adapter.ts'
import { Owner } from '../../lib/owner/owner.ts'
import { DEFAULT_TERMS } from '../../lib/owner/served-api.ts'
import { createMeteredScheme } from '../../lib/pay/metered-scheme.ts'
import { Trimmer } from '../../lib/retention/trimmer.ts'
import { earnedOf, receivableOf } from '../../lib/pay/payee/payee-channel.ts'
import { uncollectedOf } from '../../lib/pay/settle/settlement-entries.ts'
import { spentThrough } from '../../lib/pay/payer/payer-channel.ts'
import type { SimChain } from './chain.ts'
import { channelOf, contracts, TREASURY } from './contracts.ts'
import type { Invariants } from './invariants.ts'
import type { SimNode } from './node.ts'
import { PAYERS, PAYOUT, type Scenario } from './scenario.ts'
import { answerTo } from './upstream.ts'
import type { World } from './world.ts'

/** Three times: before any deletion, after free calls may be deleted, and after all may be. */
const LATER_MS = [KEEP_FREE_CALLS_MS / 2, KEEP_FREE_CALLS_MS + DAY_MS, (KEEP_DAYS + 1) * DAY_MS] as const

interface FinalChecksInit {
  readonly world: World
  readonly scenario: Scenario
  readonly chain: SimChain
  readonly owners: readonly SimNode[]
  readonly payers: readonly SimNode[]
  readonly invariants: Invariants
  /** True if the payer's calls have ended. */
  readonly isThrough: (payer: SimNode) => boolean
}

/** The checks at the end of a run: responses, books, retention and chain. */
export class FinalChecks {
  readonly #init: FinalChecksInit
  readonly #invariants: Invariants

  constructor(init: FinalChecksInit) {
    this.#init = init
    this.#invariants = init.invariants
  }

  /** A payer gets each charged but missing response by repeating the call. */
  async retrievable(): Promise<void> {
    for (const [id, { record, owner, delivered }] of this.#invariants.fates) {
      if (record === undefined || record.charged === 0n || delivered !== undefined) continue
      const node = this.#init.owners.find(({ init }) => init.name === owner) as SimNode
      const running = await node.up()
      const { requestId, peer, api, revision } = record
      const call = { requestId, peer, api, revision, method: 'POST', path: '', headers: [], timeoutMs: 1_000 }
      const body = utf8(JSON.stringify({ id }))
      const asked = { ...call, body, resentFromEpoch: 0n }
      const answer = await running.owner.handle(asked, new AbortController().signal)
      this.#invariants.must(
        answer.charged === record.charged,
        `${id} is charged ${record.charged}, then ${answer.charged}`
      )
      this.#invariants.must(
        text(answer.body as Uint8Array) === answerTo(id),
        `${id} is charged, and its response is lost`
      )
    }
  }

  async books(): Promise<void> {
    for (const [id, seen] of this.#invariants.channels) {
      const owner = this.#init.owners.find(({ init }) => init.peer === seen.owner) as SimNode
      const payer = this.#init.payers.find(({ init }) => init.name === seen.payer) as SimNode
      const earned = -(await owner.init.disk.state.ledger.balance(earnedOf(id)))
      this.#invariants.must(earned === seen.captured, `what is earned of ${id} is not what was captured`)
      if (this.#init.isThrough(payer)) continue
      const spent = await payer.init.disk.state.ledger.balance(spentThrough(id))
      this.#invariants.must(spent === earned, `${payer.init.name} spent ${spent} where ${earned} was earned`)
    }
    for (const { init } of [...this.#init.owners, ...this.#init.payers]) {
      const balances = await init.disk.state.ledger.balances('')
      const sum = balances.reduce((total, { amount }) => total + amount, 0n)
      this.#invariants.must(sum === 0n, `the books of ${init.name} are off by ${sum}`)
    }
  }

  /** After old rows are deleted, the books still balance, and no booked call runs again. */
  async trimmed(node: SimNode): Promise<void> {
    const { store, clock, paymentScheme } = await node.up()
    const { name, peer, signed } = node.init
    const laterMs = this.#init.world.rng.pick(LATER_MS)
    const later: Clock = { ...clock, now: () => clock.now() + laterMs }
    const keepMs = KEEP_DAYS * DAY_MS
    const fail = (error: unknown) => this.#init.world.fail(error)
    const { retention } = paymentScheme
    const trimmer = new Trimmer({
      clock: later,
      store,
      keepMs,
      kinds: [],
      onError: fail,
      ...(retention && { paymentScheme: retention })
    })
    // Its clock is trusted.
    await store.documents.put('retention', 'time', JSON.stringify({ last: later.now() }))
    await trimmer.round()
    await this.#carried(node)
    const calls = store.calls
    const owner = new Owner({
      clock: later,
      paymentScheme: createMeteredScheme({ log: calls }),
      calls,
      claims: store.claims,
      self: peer,
      epoch: BigInt(Math.floor(later.now()))
    })
    const adapter: Adapter = {
      protocol: 'REST',
      description: { operations: [] },
      call: async ({ body }) =>
        this.#invariants.must(false, `${text(body as Uint8Array)} ran again after ${laterMs} ms`) as never
    }
    await owner.apis.set({ signed, adapter, terms: DEFAULT_TERMS })
    for (const [id, { record, owner: booked }] of this.#invariants.fates) {
      if (record === undefined || booked !== name) continue
      const { requestId, peer: from, api, revision } = record
      const body = utf8(JSON.stringify({ id }))
      const call = {
        requestId,
        peer: from,
        api,
        revision,
        method: 'POST',
        path: '',
        headers: [],
        body,
        timeoutMs: 1_000
      }
      await owner.handle(call, new AbortController().signal).catch(asSoukError)
    }
  }

  /** Each balance equals the carried sum of deleted entries plus the remaining entries. */
  async #carried({ init }: SimNode): Promise<void> {
    const { ledger } = init.disk.state
    const [balances, carried, entries] = await Promise.all([
      ledger.balances(''),
      ledger.carried(''),
      ledger.entries({ limit: Number.MAX_SAFE_INTEGER })
    ])
    const left = new Map(balances.map(({ account, amount }) => [account, amount]))
    for (const { account, amount } of [...carried, ...entries.flatMap(({ postings }) => postings)]) {
      left.set(account, (left.get(account) ?? 0n) - amount)
    }
    const off = [...left].filter(([, amount]) => amount !== 0n)
    this.#invariants.must(
      off.length === 0,
      `the balances of ${init.name} are not those of its entries: ${off.join('; ')}`
    )
  }

  /** Earnings minus write-offs equal the chain's payouts plus claimable amounts. */
  async collected(): Promise<void> {
    for (const { init, running } of this.#init.owners) {
      await running?.paymentScheme.settlement.bookkeeper.look()
      const { ledger } = init.disk.state
      for (const [id, seen] of this.#invariants.channels) {
        if (seen.owner !== init.peer) continue
        const { claimed, balance } = channelOf(this.#init.chain.head, id)
        const earned = -(await ledger.balance(earnedOf(id)))
        const lost = await ledger.balance(uncollectedOf(id))
        const claimable = (earned < balance ? earned : balance) - claimed
        const sum = `${earned} earned through ${id} less ${lost} written off: ${claimed} claimed, ${claimable} left`
        this.#invariants.must(earned - lost === claimed + claimable, sum)
        this.#invariants.must((await ledger.balance(receivableOf(id))) === claimable, `${sum}, and another sum booked`)
      }
    }
  }

  chain(): void {
    const accounts = this.#init.chain.head
    const { drain } = this.#init.scenario
    const mayMiss = drain !== undefined && this.#init.isThrough(this.#init.payers[drain.payer] as SimNode)
    let earned = 0n
    for (const [id, { captured }] of this.#invariants.channels) {
      const { claimed } = channelOf(accounts, id)
      this.#invariants.must(
        claimed === captured || (mayMiss && claimed < captured),
        `${captured} was earned through ${id} and ${claimed} fetched`
      )
      earned += claimed
    }
    const [toProvider = 0n, toTreasury = 0n] = [PAYOUT, TREASURY].map((account) => accounts.usdc.get(account))
    const share = (earned * 5n) / 100n
    this.#invariants.must(toTreasury === share, `the treasury has ${toTreasury} of ${earned}`)
    this.#invariants.must(toProvider === earned - share, `the provider has ${toProvider} of ${earned}`)
    const all = [...accounts.usdc.values()].reduce((sum, amount) => sum + amount, 0n)
    assert.equal(all, this.#init.scenario.wallet * BigInt(PAYERS.length))
    assert.ok(contracts.factory.treasury === TREASURY)
  }
}
