import type { Logger } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { FEE_BUMPS_MAX, REBROADCAST_MS, STUCK_MS } from '../../base/limits/chain.ts'
import type { Broadcast, Chain } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'
import { bumped } from './fee-bump.ts'
import type { SignedSubmission, Submissions } from './submissions.ts'
import { signTransaction } from './transaction.ts'

export interface BroadcasterInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly plans: Submissions
  readonly signer: Signer
  readonly log: Logger
}

/** In-memory progress of a submitted transaction. Losing it costs one extra broadcast. */
interface Progress {
  /** Time of the first broadcast of this version; `sentAt` is the last. */
  readonly since: number
  readonly sentAt: number
  readonly answer: Broadcast
}

/**
 * Broadcasts signed transactions until they are in a block: it repeats the same bytes, or replaces them with a higher fee under
 * the same nonce.
 */
export class Broadcaster {
  readonly #init: BroadcasterInit
  readonly #progress = new Map<string, Progress>()

  constructor(init: BroadcasterInit) {
    this.#init = init
  }

  /** True when the account cannot pay the gas of a pending transaction. */
  get hasNoGas(): boolean {
    return [...this.#progress.values()].some(({ answer }) => answer === 'no_gas')
  }

  /** True when the transaction waits longer than low fees explain. */
  isStuck({ key }: SignedSubmission): boolean {
    const progress = this.#progress.get(key)
    return progress !== undefined && this.#init.clock.elapsed() - progress.since >= STUCK_MS
  }

  /** Forgets the progress of a transaction that is in a block or needs another nonce. */
  forget(key: string): void {
    this.#progress.delete(key)
  }

  /**
   * Broadcasts the transaction if it is due.
   * @param isNext no transaction of the account waits before it, so a higher fee can help
   * @throws SoukError `settlement_unavailable`; `internal_error` from the store
   */
  async bring(submission: SignedSubmission, isNext: boolean): Promise<void> {
    const progress = this.#progress.get(submission.key)
    const hasGas = progress?.answer !== 'no_gas'
    if (isNext && hasGas && this.isStuck(submission)) {
      await this.#send((await this.#raise(submission)) ?? submission)
      return
    }
    if (progress !== undefined && this.#init.clock.elapsed() - progress.sentAt < REBROADCAST_MS) return
    if ((await this.#send(submission)) !== 'fee_too_low') return
    const raised = await this.#raise(submission)
    if (raised !== undefined) await this.#send(raised)
  }

  async #send({ key, signed }: SignedSubmission): Promise<Broadcast> {
    const answer = await this.#init.chain.broadcast(signed.raw)
    this.#init.log('%s: sent as %s with nonce %d: %s', key, signed.hash, signed.nonce, answer)
    const sentAt = this.#init.clock.elapsed()
    const since = this.#progress.get(key)?.since ?? sentAt
    this.#progress.set(key, { since, sentAt, answer })
    return answer
  }

  /**
   * Returns undefined when the fee limit is reached. Saves the new version before sending it, because either version may be
   * mined.
   */
  async #raise(submission: SignedSubmission): Promise<SignedSubmission | undefined> {
    const { chain, plans, signer, log } = this.#init
    const { call, signed } = submission
    if (call === undefined || signed.replaced.length >= FEE_BUMPS_MAX) return undefined
    const fees = bumped(signed.fees, await chain.fees())
    if (fees === undefined) return undefined
    const { nonce, gas } = signed
    const version = await signTransaction({ ...call, chainId: chain.parameters.chainId, nonce, gas, fees }, signer)
    const replaced = [signed.hash, ...signed.replaced]
    const raised = { ...submission, signed: { ...version, nonce, gas, fees, replaced } }
    await plans.save(raised)
    log('%s: %s is replaced by %s, which pays more', submission.key, signed.hash, version.hash)
    this.forget(submission.key)
    return raised
  }
}
