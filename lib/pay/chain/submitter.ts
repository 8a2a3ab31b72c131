import type { Logger } from '@libp2p/interface'
import type { Clock, Timer } from '../../base/clock.ts'
import { reasonOf, SILENT_LOG } from '../../base/component-log.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import { CLOCK_SKEW_MS } from '../../base/limits/directory.ts'
import {
  FINAL_POLL_MS,
  RECEIPT_LAG_MS,
  RECHECKED_AT_ONCE,
  SUBMISSIONS_IN_FLIGHT_MAX,
  SUBMISSIONS_WAITING_MAX,
  SUBMIT_POLL_MS
} from '../../base/limits/chain.ts'
import { within } from '../../base/within.ts'
import type { Block, Chain, ContractCall, Receipt } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { Mined, Submitter, SubmitterStatus } from '../../interface/submitter.ts'
import { Broadcaster } from './broadcaster.ts'
import { signPlan } from './plan-signer.ts'
import { recipientOf } from './sent-transfer.ts'
import { hashOf, type Submission } from './submission.ts'
import { type SignedSubmission, Submissions } from './submissions.ts'

export interface SubmitterInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly documents: Documents
  /** The account. No other process may send from it. A foreign transaction costs a plan its nonce, never more. */
  readonly signer: Signer
  /** Called with background errors. The submitter continues unless the store failed. */
  readonly onError: (error: SoukError) => void
  /** Default: none. */
  readonly log?: Logger
}

/** The chain's state, read before any receipt, so that no receipt is older than it. */
interface View {
  readonly finalized: Block
  /** Number of the account's transactions in blocks; `finalNonce` counts those in finalized blocks. */
  readonly nonce: number
  readonly finalNonce: number
}

interface Waiter extends PromiseWithResolvers<Mined> {
  readonly callHash: Hex
}

export function createSubmitter(init: SubmitterInit): Submitter {
  return new QueuedSubmitter(init)
}

class QueuedSubmitter implements Submitter {
  readonly #init: SubmitterInit
  readonly #log: Logger
  readonly #plans: Submissions
  readonly #broadcaster: Broadcaster
  readonly #waiters = new Map<string, Waiter>()
  readonly #listeners = new Set<(mined: Mined) => void | Promise<void>>()
  /** Sequence number of the last mined submission that was rechecked. */
  #recheckedSeq = 0
  /** Since when a transaction's nonce is final and the endpoint shows no receipt, by key. */
  readonly #missingSince = new Map<string, number>()
  #isRunning = false
  #trouble: SoukError | undefined
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  /** True if a wake-up came during a turn. */
  #isAsked = false
  /** A write may have been durable though the store did not respond. The store is read before the next step. */
  #isStale = false
  /** Plans that are not stored yet. */
  #saving = 0
  /** Plans whose write may have been durable, by key, with the error of the write. */
  readonly #unsure = new Map<string, SoukError>()

  constructor(init: SubmitterInit) {
    const { chain, clock, documents, signer, log = SILENT_LOG } = init
    this.#init = init
    this.#log = log
    this.#plans = new Submissions(documents, `transactions/${chain.parameters.chainId}/${signer.address}`)
    this.#broadcaster = new Broadcaster({ chain, clock, plans: this.#plans, signer, log })
  }

  async start(): Promise<void> {
    if (this.#isRunning) return
    await this.#plans.load()
    this.#isRunning = true
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#timer?.cancel()
    this.#rejectAll(
      new SoukError('settlement_pending', 'This node is stopping. The transaction continues at its next start.')
    )
    await this.#turn
  }

  async submit(key: string, call: ContractCall, signal?: AbortSignal): Promise<Mined> {
    if (!this.#isRunning)
      throw new SoukError('settlement_unavailable', 'This node is not running, so it sends no transactions.')
    const callHash = hashOf(call)
    const known = this.#known(key)
    const waiter = this.#waiters.get(key)
    const taken = waiter ?? known
    if (taken !== undefined && taken.callHash !== callHash) {
      throw new SoukError('payment_id_conflict', 'Another transaction uses this key. Choose another key.')
    }
    const mined = known && minedOf(known)
    if (mined !== undefined) return mined
    if (waiter !== undefined) return within(waiter.promise, signal)
    const { promise } = this.#wait(key, callHash)
    if (known === undefined) void this.#plan(key, call, callHash)
    return within(promise, signal)
  }

  has(key: string): boolean {
    return this.#waiters.has(key) || this.#known(key) !== undefined
  }

  hashOf(key: string): Hex | undefined {
    const known = this.#plans.find(key)
    return known?.mined?.hash ?? known?.signed?.hash
  }

  find(key: string): Mined | undefined {
    const known = this.#plans.find(key)
    return known && minedOf(known)
  }

  onFinal(listener: (mined: Mined) => void | Promise<void>): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  status(): SubmitterStatus {
    const [planned, unmined] = [this.#plans.planned(), this.#plans.unmined()]
    const waiting = [...planned, ...unmined]
    const oldestMs = this.#init.clock.now() - Math.min(...waiting.map(({ at }) => at))
    return {
      address: this.#init.signer.address,
      planned: planned.length + this.#saving,
      unmined: unmined.length,
      unfinal: this.#plans.unfinal().length,
      hasNoGas: this.#broadcaster.hasNoGas,
      ...(waiting.length > 0 && { oldestMs }),
      ...(this.#trouble !== undefined && { trouble: this.#trouble })
    }
  }

  /** The submission of this key, unless its key is free. */
  #known(key: string): Submission | undefined {
    const found = this.#plans.find(key)
    return found !== undefined && isOver(found) ? undefined : found
  }

  async #plan(key: string, call: ContractCall, callHash: Hex): Promise<void> {
    this.#saving++
    try {
      if (this.#waiters.size > SUBMISSIONS_WAITING_MAX) {
        throw new SoukError('overloaded', 'Too many transactions of this node wait for the chain. Try again later.')
      }
      await this.#plans.save({ key, seq: this.#plans.nextSeq(), at: this.#init.clock.now(), callHash, call })
      this.#log('%s: planned', key)
      this.#wake()
    } catch (thrown) {
      const error = asSoukError(thrown)
      if (error.code === 'store_unavailable') this.#doubt(key, error)
      else this.#reject(key, error)
    } finally {
      this.#saving--
    }
  }

  /** Without this, a caller would hear of a failure, and the next start would send the transaction. */
  #doubt(key: string, error: SoukError): void {
    this.#unsure.set(key, error)
    this.#isStale = true
    this.#wake()
  }

  async #reload(): Promise<void> {
    const unsure = [...this.#unsure]
    await this.#plans.load()
    for (const [key, error] of unsure) {
      this.#unsure.delete(key)
      if (this.#known(key) === undefined) this.#reject(key, error)
    }
    this.#isStale = this.#unsure.size > 0
  }

  // Turns run one at a time, so that nonces and saved steps keep their order.

  #wake(): void {
    this.#timer?.cancel()
    if (!this.#isRunning) return
    if (this.#turn !== undefined) {
      this.#isAsked = true
      return
    }
    this.#isAsked = false
    this.#turn = this.#takeTurn().finally(() => {
      this.#turn = undefined
      this.#scheduleNext()
    })
  }

  #scheduleNext(): void {
    if (!this.#isRunning) return
    const isWaiting = this.#isStale || this.#plans.planned().length + this.#plans.unmined().length > 0
    if (this.#isAsked) this.#wake()
    else if (isWaiting) this.#timer = this.#init.clock.after(SUBMIT_POLL_MS, () => this.#wake())
    else if (this.#plans.unfinal().length > 0) {
      this.#timer = this.#init.clock.after(FINAL_POLL_MS, () => this.#wake())
    }
  }

  async #takeTurn(): Promise<void> {
    try {
      if (this.#isStale) await this.#reload()
      const view = await this.#look()
      await this.#follow(view)
      await this.#signPlans(view)
      this.#trouble = undefined
    } catch (thrown) {
      const error = asSoukError(thrown)
      this.#trouble = error
      if (this.#log.enabled) this.#log('nothing can be sent now: %s', reasonOf(error))
      this.#init.onError(error)
      if (error.code === 'settlement_unavailable') return
      this.#isStale = error.code === 'store_unavailable'
      if (this.#isStale) return
      // A step that is not saved must not be sent. After a failed write the state on disk is unknown; the next start reads it.
      this.#isRunning = false
      this.#rejectAll(error)
    }
  }

  async #look(): Promise<View> {
    const { chain, signer } = this.#init
    const [finalized, nonce, finalNonce] = await Promise.all([
      chain.block('finalized'),
      chain.nonce(signer.address, 'latest'),
      chain.nonce(signer.address, 'finalized'),
      // A URL may serve another chain later. A nonce of that chain would be wrong here.
      chain.checkId()
    ])
    if (finalized === undefined) throw new SoukError('settlement_unavailable', 'The chain has no finalized block.')
    return { finalized, nonce, finalNonce }
  }

  async #follow(view: View): Promise<void> {
    const signed = [...this.#plans.unmined(), ...this.#rechecked()]
    const receipts = await Promise.all(signed.map((submission) => this.#receiptOf(submission)))
    const unmined: SignedSubmission[] = []
    for (const [i, submission] of signed.entries()) {
      const mined = receipts[i]
      if (mined !== undefined) await this.#onMined({ ...submission, mined }, submission.mined, view)
      else if (await this.#isToBeSent(submission, view)) unmined.push(submission)
    }
    unmined.sort((a, b) => a.signed.nonce - b.signed.nonce)
    const hasGap = this.#hasGap(view)
    for (const [i, submission] of unmined.entries()) await this.#broadcaster.bring(submission, i === 0 && !hasGap)
  }

  /** Rechecks a few at a time, so that a busy day does not make each poll large. */
  #rechecked(): SignedSubmission[] {
    const unfinal = this.#plans.unfinal().sort((a, b) => a.seq - b.seq)
    const next = unfinal.findIndex(({ seq }) => seq > this.#recheckedSeq)
    const rotated = next < 0 ? unfinal : [...unfinal.slice(next), ...unfinal.slice(0, next)]
    const some = rotated.slice(0, RECHECKED_AT_ONCE)
    this.#recheckedSeq = some.at(-1)?.seq ?? 0
    return some
  }

  /** Many endpoints drop receipts after some hours. A receipt that was seen is true while its block is on the chain. */
  async #receiptOf({ signed, mined }: SignedSubmission): Promise<{ hash: Hex; receipt: Receipt } | undefined> {
    const { chain } = this.#init
    const hashes = [signed.hash, ...signed.replaced]
    const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
    const found = hashes.flatMap((hash, i) => {
      const receipt = receipts[i]
      return receipt === undefined ? [] : [{ hash, receipt }]
    })
    if (found.length > 0 || mined === undefined) return found[0]
    const block = await chain.block(mined.receipt.blockNumber)
    return block?.hash === mined.receipt.blockHash ? mined : undefined
  }

  async #onMined(submission: SignedSubmission, before: Submission['mined'], view: View): Promise<void> {
    const { key, mined } = submission
    if (mined === undefined) return
    if (before?.hash !== mined.hash || before.receipt.blockHash !== mined.receipt.blockHash) {
      await this.#plans.save(submission)
      const { blockNumber, succeeded } = mined.receipt
      const how = succeeded ? 'mined' : 'mined, and failed'
      this.#log('%s: %s in block %s as %s', key, how, blockNumber.toString(), mined.hash)
    }
    this.#broadcaster.forget(key)
    this.#missingSince.delete(key)
    this.#resolve(key, { key, ...mined, isFinal: false })
    if (mined.receipt.blockNumber > view.finalized.number) return
    const block = await this.#init.chain.block(mined.receipt.blockNumber)
    if (block?.hash !== mined.receipt.blockHash || !(await this.#tellFinal({ key, ...mined, isFinal: true }))) return
    await this.#plans.saveFinal(submission)
    this.#log('%s: final', key)
  }

  async #tellFinal(mined: Mined): Promise<boolean> {
    try {
      for (const listener of this.#listeners) await listener(mined)
      return true
    } catch (error) {
      this.#init.onError(asSoukError(error))
      return false
    }
  }

  /** For a transaction that is in no block: true if it can still be mined. */
  async #isToBeSent({ mined, signed, ...plan }: SignedSubmission, view: View): Promise<boolean> {
    if (mined !== undefined) await this.#plans.save({ ...plan, signed })
    // Drop it only when another transaction uses the nonce finally. Until then a reorganisation may let this one be mined, and a
    // second version under another nonce could be mined as well.
    if (view.finalNonce > signed.nonce) {
      if (!this.#isGone(plan.key) || (await this.#isFound({ ...plan, signed }, view))) return false
      this.#broadcaster.forget(plan.key)
      await this.#plans.save(plan)
      this.#log('%s: another transaction has nonce %d; it is signed again', plan.key, signed.nonce)
      return false
    }
    return view.nonce <= signed.nonce
  }

  /** A missing receipt proves nothing at first: the endpoint may read nonce and receipt from backends that differ in age. */
  #isGone(key: string): boolean {
    const now = this.#init.clock.elapsed()
    const since = this.#missingSince.get(key) ?? now
    this.#missingSince.set(key, since)
    if (now - since < RECEIPT_LAG_MS) return false
    this.#missingSince.delete(key)
    return true
  }

  /**
   * An endpoint may have dropped the receipt while this process did not run. The contracts refuse a repeat of all calls but a
   * transfer, which would be paid twice: its log is searched. True if it is mined, or may be.
   */
  async #isFound(submission: SignedSubmission, view: View): Promise<boolean> {
    const { chain, signer, onError } = this.#init
    const { call, signed, at } = submission
    const to = call && recipientOf(chain.parameters.usdc.address, call)
    if (to === undefined) return false
    const hashes = [signed.hash, ...signed.replaced]
    // The clock may have been ahead of the chain's.
    const query = { from: signer.address, to, hashes, sinceMs: at - CLOCK_SKEW_MS }
    const found = await chain.sentTransfer(query).catch(asSoukError)
    if (found === undefined) return false
    if (found instanceof SoukError) {
      onError(found)
      return true
    }
    const { hash, blockNumber, blockHash } = found
    const receipt = { blockNumber, blockHash, succeeded: true, gasUsed: 0n, cost: 0n }
    await this.#onMined({ ...submission, mined: { hash, receipt } }, undefined, view)
    return true
  }

  async #signPlans(view: View): Promise<void> {
    await this.#fillGap(view)
    let trouble: unknown
    for (const plan of this.#plans.planned()) {
      if (this.#plans.unmined().length >= SUBMISSIONS_IN_FLIGHT_MAX && !this.#hasGap(view)) break
      try {
        await this.#signPlan(plan, view)
      } catch (error) {
        // A rejected transaction does not block the others.
        trouble ??= error
        if (asSoukError(error).code !== 'settlement_unavailable') throw error
      }
    }
    if (trouble !== undefined) throw asSoukError(trouble)
  }

  async #signPlan(plan: Submission, view: View): Promise<void> {
    const { chain, signer } = this.#init
    const signed = await signPlan({ chain, signer, plans: this.#plans }, plan, view.nonce)
    if (signed instanceof SoukError) {
      if (this.#log.enabled) this.#log('%s: refused before it was sent: %s', plan.key, reasonOf(signed))
      await this.#plans.drop(plan.key)
      this.#reject(plan.key, signed)
      return
    }
    const [next] = this.#plans.unmined()
    await this.#broadcaster.bring(signed, next?.key === signed.key)
  }

  /**
   * A reorganisation may remove a transaction with a lower nonce for good; later ones then wait for that nonce. The next plan
   * takes the nonce; if there is none, an empty transaction does.
   */
  async #fillGap(view: View): Promise<void> {
    const [next] = this.#plans.unmined()
    if (next === undefined || !this.#hasGap(view)) return
    if (this.#plans.planned().length > 0 || !this.#broadcaster.isStuck(next)) return
    const call: ContractCall = { to: this.#init.signer.address, data: '0x' }
    const seq = this.#plans.nextSeq()
    await this.#plans.save({ key: `gap/${seq}`, seq, at: this.#init.clock.now(), callHash: hashOf(call), call })
  }

  #hasGap({ nonce }: View): boolean {
    const [next] = this.#plans.unmined()
    return next !== undefined && this.#plans.freeNonce(nonce) < next.signed.nonce
  }

  // Waiting callers.

  #wait(key: string, callHash: Hex): Waiter {
    const waiter = { ...Promise.withResolvers<Mined>(), callHash }
    this.#waiters.set(key, waiter)
    return waiter
  }

  #resolve(key: string, mined: Mined): void {
    this.#waiters.get(key)?.resolve(mined)
    this.#waiters.delete(key)
  }

  #reject(key: string, error: SoukError): void {
    this.#waiters.get(key)?.reject(error)
    this.#waiters.delete(key)
  }

  #rejectAll(error: SoukError): void {
    for (const key of this.#waiters.keys()) this.#reject(key, error)
  }
}

/** True if the submission is final and changed nothing: its key is free. */
function isOver({ finalNonce, mined }: Submission): boolean {
  return finalNonce !== undefined && mined?.receipt.succeeded !== true
}

function minedOf({ key, mined, finalNonce }: Submission): Mined | undefined {
  return mined && { key, ...mined, isFinal: finalNonce !== undefined }
}
