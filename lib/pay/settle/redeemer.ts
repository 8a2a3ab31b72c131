import type { Clock } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import {
  CLAIM_GAS,
  CLAIM_ROWS_MAX,
  CLAIM_ROW_GAS,
  CLAIM_TRIALS_MAX,
  CLAIMS_IN_HAND_MIN,
  CREDIT_CLAIMS_IN_HAND_MIN,
  DEPOSIT_GAS,
  GAS_READ_MS,
  REDEEM_AGE_MS,
  REDEEM_ATOMS,
  REFUND_GAS,
  WITHHELD_MS,
  SUBMISSIONS_IN_FLIGHT_MAX
} from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain, ContractCall } from '../../interface/chain.ts'
import type { ChannelConfig, ChannelId, DepositAuthorization } from '../../interface/channel.ts'
import type {
  ChannelWatch,
  OwnerBooks,
  Redeemer,
  RedeemerStatus,
  Redemption,
  Withheld
} from '../../interface/redeem.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import { ClaimSimulation } from './claim-simulation.ts'
import { type Claimable, claimables, sumOf } from './claimable.ts'
import { GasTank } from '../chain/gas-tank.ts'
import { type PaidOut, payOut } from './payout.ts'
import { depositNonce, type SettlementCalls, settlementCalls } from '../chain/settlement-calls.ts'
import { type SettlementDomain, settlementDomain } from '../signing/settlement-domain.ts'
import type { SplitterFactory } from '../chain/splitter.ts'
import { claimKey, submitStep } from '../chain/submit-step.ts'
import { transferRefusal } from '../chain/transfer-refusal.ts'
import { within } from '../../base/within.ts'

export interface RedeemerInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly documents: Documents
  /** The owner's settlement address: the receiver's authoriser of all its channels, and the submitter's account. */
  readonly signer: Signer
  readonly submitter: Submitter
  readonly watch: ChannelWatch
  readonly books: OwnerBooks
  readonly factory: SplitterFactory
  /** When earnings are claimed. Defaults: `REDEEM_ATOMS`, `REDEEM_AGE_MS`. */
  readonly policy?: { readonly atoms?: Atoms; readonly ageMs?: number }
  readonly onError: (error: SoukError) => void
}

export function createRedeemer(init: RedeemerInit): Redeemer {
  return new PolicyRedeemer(init)
}

const COLLECTION = 'redeemer'

/** A transaction that a payer requested, and its gas. */
interface PayerStep {
  readonly id: ChannelId
  readonly key: string
  readonly call: ContractCall
  readonly gas: bigint
}

/**
 * The scope of a round: `all`; `worthwhile`, amounts worth their gas; `begun`, only worthwhile amounts that have left the
 * channels; or one channel's claim.
 */
type What = 'all' | 'worthwhile' | 'begun' | { readonly channelId: ChannelId }

class PolicyRedeemer implements Redeemer {
  readonly #init: RedeemerInit
  readonly #calls: SettlementCalls
  readonly #domain: SettlementDomain
  readonly #gas: GasTank
  readonly #simulation: ClaimSimulation
  readonly #key: string
  /** Rounds run one after the other. */
  #rounds: Promise<unknown> = Promise.resolve()
  #isBusy = false
  #isClaiming = false
  /** True if money may be between channel and payee, for example after an earlier process was killed in a round. */
  #isDirty = true
  /** Wall-clock time of the last round that claimed something. Older earnings have waited for `ageMs`. */
  #claimedAt = 0
  /** Money that came to splitters directly since the last payout, and the time of the first. */
  #received: { readonly amount: Atoms; readonly since: number } | undefined
  /** Amounts that the token refused to move in the last round, and the time of that round by the monotonic clock. */
  #withheld: { readonly found: readonly Withheld[]; readonly at: number } = { found: [], at: 0 }
  /** The last read that `refreshGas` asked for, by the monotonic clock. */
  #gasRead: { readonly at: number; readonly done: Promise<void> } | undefined
  #stopping: AbortController | undefined
  #unwatch = (): void => undefined

  constructor(init: RedeemerInit) {
    const { chain, clock, signer } = init
    const { chainId, settlement } = chain.parameters
    this.#init = init
    this.#calls = settlementCalls(chain.parameters)
    this.#domain = settlementDomain({ chainId, address: settlement.address })
    this.#gas = new GasTank(chain, signer.address)
    this.#simulation = new ClaimSimulation({ chain, calls: this.#calls, clock, claimer: signer.address })
    this.#key = `${chainId}/${signer.address}`
  }

  async start(): Promise<void> {
    if (this.#stopping !== undefined) return
    const { clock, documents, watch } = this.#init
    const noted = await documents.get(COLLECTION, this.#key)
    if (noted === undefined) await this.#noteClaim(clock.now())
    else this.#claimedAt = Number(noted)
    this.#stopping = new AbortController()
    await this.#gas.look().catch((error: unknown) => this.#init.onError(asSoukError(error)))
    this.#unwatch = watch.onLook(() => this.#consider())
    this.#consider()
  }

  async stop(): Promise<void> {
    this.#unwatch()
    this.#stopping?.abort(
      new SoukError('settlement_pending', 'This node is stopping. Submitted transactions continue.')
    )
    await this.#rounds
    this.#stopping = undefined
  }

  checkGas(gas = 0n): void {
    this.#gas.check(gas, this.#submittedGas())
  }

  async refreshGas(gas = 0n): Promise<SoukError | undefined> {
    if (this.#gas.covers(gas, this.#submittedGas())) return undefined
    const now = this.#init.clock.elapsed()
    if (this.#gasRead === undefined || now - this.#gasRead.at >= GAS_READ_MS) {
      this.#gasRead = { at: now, done: this.#gas.look() }
    }
    await this.#gasRead.done
    return this.#gas.refusal(gas, this.#submittedGas())
  }

  /** Only the number of an earlier process's transactions is known here, not their gas. */
  #submittedGas(): bigint {
    const { planned, unmined } = this.#init.submitter.status()
    return BigInt(planned + unmined) * CLAIM_GAS
  }

  costOf(gas: bigint): Atoms {
    const cost = this.#gas.cost(gas)
    if (cost === undefined)
      throw new SoukError('settlement_unavailable', 'The chain has not been read yet. Try again in a moment.')
    return cost
  }

  isDepositing(config: ChannelConfig, salt: bigint): boolean {
    return this.#init.submitter.has(this.#depositKey(config, salt))
  }

  depositHash(config: ChannelConfig, salt: bigint): Hex | undefined {
    return this.#init.submitter.hashOf(this.#depositKey(config, salt))
  }

  #depositKey(config: ChannelConfig, salt: bigint): string {
    return `deposit/${config.payer}/${depositNonce(this.#domain.channelId(config), salt)}`
  }

  isGasAmple(): boolean {
    return this.#gas.covers((CREDIT_CLAIMS_IN_HAND_MIN - CLAIMS_IN_HAND_MIN) * CLAIM_GAS, this.#submittedGas())
  }

  async deposit(
    config: ChannelConfig,
    authorization: DepositAuthorization,
    signal?: AbortSignal,
    onSubmitting?: () => void | Promise<void>
  ): Promise<Mined> {
    const id = this.#domain.channelId(config)
    const key = this.#depositKey(config, authorization.salt)
    const call = this.#calls.deposit(config, authorization)
    return this.#submitForPayer({ id, key, call, gas: DEPOSIT_GAS }, signal, onSubmitting)
  }

  async refund(
    { config, amount, nonce }: { config: ChannelConfig; amount: Atoms; nonce: bigint },
    signal?: AbortSignal
  ): Promise<Mined> {
    const id = this.#domain.channelId(config)
    const signature = await this.#init.signer.sign(this.#domain.refund(id, nonce, amount))
    const call = this.#calls.refundWithSignature(config, amount, nonce, signature)
    return this.#submitForPayer({ id, key: `refund/${id}/${nonce}`, call, gas: REFUND_GAS }, signal)
  }

  claim(channelId: ChannelId, signal?: AbortSignal): Promise<Redemption> {
    return this.#forPayer(CLAIM_GAS, () => this.#ask({ channelId }, signal))
  }

  settleNow(signal?: AbortSignal): Promise<Redemption> {
    return this.#ask('all', signal)
  }

  #ask(what: What, signal?: AbortSignal): Promise<Redemption> {
    const { promise, resolve, reject } = Promise.withResolvers<Redemption>()
    this.#enqueue(() => this.#round(what, signal).then(resolve, reject))
    return promise
  }

  payoutRefusal(payout: Address): Promise<string | undefined> {
    const { chain, factory } = this.#init
    return transferRefusal(chain, factory.splitterOf(payout), payout)
  }

  received(amount: Atoms): void {
    const { amount: before, since } = this.#received ?? { amount: 0n, since: this.#init.clock.now() }
    this.#received = { amount: before + amount, since }
  }

  get isClaiming(): boolean {
    return this.#isClaiming
  }

  status(): RedeemerStatus {
    const claims = this.#gas.claims
    return {
      claimable: sumOf(this.#owing()),
      refused: this.#simulation.refused,
      withheld: this.#withheld.found,
      ...(claims !== undefined && { claimsInHand: Number(claims) }),
      ...(this.#claimedAt > 0 && { lastAt: this.#claimedAt })
    }
  }

  /** Submits a payer's request. Simulates it first, so that a payer's contract cannot leave a plan that is retried forever. */
  async #submitForPayer(
    { id, key, call, gas }: PayerStep,
    signal?: AbortSignal,
    onSubmitting?: () => void | Promise<void>
  ): Promise<Mined> {
    const { chain, signer, submitter, watch, onError } = this.#init
    const isKnown = submitter.has(key)
    const attempt = async (): Promise<Mined> => {
      if (!isKnown) {
        const simulation = await chain.simulate(signer.address, call)
        if (!simulation.ok) throw rejected(simulation.reason)
        await onSubmitting?.()
      }
      return submitter.submit(key, call)
    }
    // The caller may give up; the gas stays reserved until the transaction is mined.
    const mined = await within(isKnown ? attempt() : this.#forPayer(gas, attempt), signal)
    if (!mined.receipt.succeeded) throw rejected()
    await watch.refresh([id]).catch((error: unknown) => onError(asSoukError(error)))
    return mined
  }

  /** Spends gas for a payer, but never the gas that claims may need. */
  async #forPayer<T>(gas: bigint, spend: () => Promise<T>): Promise<T> {
    this.checkGas(gas)
    const release = this.#gas.reserve(gas)
    try {
      return await spend()
    } finally {
      release()
    }
  }

  // Timing of rounds.

  #consider(): void {
    if (this.#isBusy || this.#stopping === undefined) return
    this.#enqueue(async () => {
      await this.#gas.look()
      if (this.#isTime()) await this.#round('worthwhile')
      else if (this.#isDirty || this.#isReceivedDue() || this.#isWithheldDue()) await this.#round('begun')
    })
  }

  #isTime(): boolean {
    const { policy } = this.#init
    const rows = this.#owing().filter((row) => !this.#simulation.isResting(row.channelId) && this.#isWorthARow(row))
    const sum = sumOf(rows)
    if (rows.length === 0 || !this.#gas.pays(sum, CLAIM_GAS)) return false
    const isDue = this.#isOld(this.#claimedAt) || sum >= (policy?.atoms ?? REDEEM_ATOMS)
    return isDue || rows.some(({ isUrgent }) => isUrgent)
  }

  #isReceivedDue(): boolean {
    if (this.#received === undefined) return false
    const { amount, since } = this.#received
    return this.#isOld(since) || amount >= (this.#init.policy?.atoms ?? REDEEM_ATOMS)
  }

  #isWithheldDue(): boolean {
    const { found, at } = this.#withheld
    return found.length > 0 && this.#init.clock.elapsed() - at >= WITHHELD_MS
  }

  /** A time far ahead was noted by a clock that was wrong. Earnings would wait until then. */
  #isOld(since: number): boolean {
    const { clock, policy } = this.#init
    return Math.abs(clock.now() - since) >= (policy?.ageMs ?? REDEEM_AGE_MS)
  }

  #owing(): Claimable[] {
    const { books, watch } = this.#init
    return claimables(books.channels(), (id) => watch.snapshot(id))
  }

  #isWorthARow({ due }: Claimable): boolean {
    return this.#gas.pays(due, CLAIM_ROW_GAS)
  }

  #enqueue(task: () => Promise<void>): void {
    this.#isBusy = true
    const round = this.#rounds.then(task).catch((error: unknown) => this.#init.onError(asSoukError(error)))
    this.#rounds = round
    void round.then(() => (this.#isBusy = this.#rounds !== round))
  }

  // Contents of rounds.

  async #round(what: What, asked?: AbortSignal): Promise<Redemption> {
    const { books, clock, watch } = this.#init
    const stopping = this.#stopping?.signal
    if (stopping === undefined)
      throw new SoukError('settlement_unavailable', 'This node is not running, so it settles nothing.')
    const signal = asked === undefined ? stopping : AbortSignal.any([asked, stopping])
    this.#isDirty = true
    await watch.refresh(Array.from(books.channels(), ({ channelId }) => channelId))
    const claims = what === 'begun' ? [] : await this.#claimAll(what, signal)
    const done = claims.filter(({ mined }) => mined !== undefined)
    const rows = done.flatMap(({ rows }) => rows)
    if (rows.length > 0) await this.#noteClaim(clock.now())
    this.#received = undefined
    const paidOut = await this.#payOutAll(what, signal)
    const withheld = paidOut.flatMap((done) => done.withheld)
    this.#withheld = { found: withheld, at: clock.elapsed() }
    this.#isDirty = false
    await watch.refresh(rows.map(({ channelId }) => channelId))
    return {
      claimed: sumOf(rows),
      settled: paidOut.reduce((sum, { settled }) => sum + settled, 0n),
      distributed: paidOut.reduce((sum, { distributed }) => sum + distributed, 0n),
      transactions: [
        ...claims.flatMap(({ mined }) => (mined === undefined ? [] : [mined])),
        ...paidOut.flatMap(({ transactions }) => transactions)
      ],
      refused: this.#simulation.refused,
      withheld
    }
  }

  async #claimAll(what: Exclude<What, 'begun'>, signal: AbortSignal) {
    this.#isClaiming = true
    try {
      const batches = await this.#batches(what)
      return await Promise.all(
        batches.map(async (rows) => {
          const call = this.#calls.claim(rows.map(({ row }) => row))
          return { rows, mined: await submitStep(this.#init.submitter, claimKey(call), call, signal) }
        })
      )
    } finally {
      this.#isClaiming = false
    }
  }

  /** Rows that were rejected before get transactions of their own, because they are likely to be rejected again. */
  async #batches(what: What): Promise<Claimable[][]> {
    const isForced = what !== 'worthwhile'
    const all = this.#owing()
    this.#simulation.forgetOthers(new Set(all.map(({ channelId }) => channelId)))
    const owing = typeof what === 'string' ? all : all.filter(({ channelId }) => channelId === what.channelId)
    const rows = isForced ? owing : owing.filter((row) => this.#isWorthARow(row))
    const clean = rows.filter(({ channelId }) => !this.#simulation.isSuspect(channelId))
    const suspect = rows.filter(({ channelId, isUrgent }) => {
      return this.#simulation.isSuspect(channelId) && (isForced || isUrgent || !this.#simulation.isResting(channelId))
    })
    const budget = { left: CLAIM_TRIALS_MAX }
    const batches: Claimable[][] = []
    for (const batch of [...chunks(clean, CLAIM_ROWS_MAX), ...chunks(suspect, CLAIM_ROWS_MAX)]) {
      const good = await this.#simulation.good(batch, budget)
      if (good.length > 0 && (isForced || this.#gas.pays(sumOf(good), CLAIM_GAS))) batches.push(good)
    }
    return batches
  }

  async #payOutAll(what: What, signal: AbortSignal): Promise<PaidOut[]> {
    const { books, chain, factory, submitter } = this.#init
    const init = { chain, calls: this.#calls, factory, submitter }
    const isWorth = what === 'all' ? () => true : (amount: Atoms, gas: bigint) => this.#gas.pays(amount, gas)
    const done: PaidOut[] = []
    for (const payouts of chunks([...new Set<Hex>(books.payouts())], SUBMISSIONS_IN_FLIGHT_MAX)) {
      done.push(...(await Promise.all(payouts.map((payout) => payOut(init, payout, isWorth, signal)))))
    }
    return done
  }

  async #noteClaim(at: number): Promise<void> {
    this.#claimedAt = at
    await this.#init.documents.put(COLLECTION, this.#key, String(at))
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function rejected(reason?: string): SoukError {
  const why = reason === undefined ? '' : `: ${reason}`
  const detail = `The chain rejects the transaction${why}. Check the balance, the validity period and the signature.`
  return new SoukError('payment_rejected', detail)
}
