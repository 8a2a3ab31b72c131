import type { Logger } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { FEE_BUMPS_MAX, REBROADCAST_MS, STUCK_MS } from '../../base/limits.ts'
import type { Broadcast, Chain } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'
import { bumped } from './fee-bump.ts'
import type { SignedSubmission, Submissions } from './submissions.ts'
import { signTransaction } from './transaction.ts'

export interface CourierInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly plans: Submissions
  readonly signer: Signer
  readonly log: Logger
}

/** What a process remembers of a submission on its way; losing it costs one broadcast more. */
interface Progress {
  /** When this version was first sent, and when last. */
  readonly since: number
  readonly sentAt: number
  readonly answer: Broadcast
}

/** Brings signed transactions to the chain until they are in a block: the same bytes again, or the same nonce for more. */
export class Courier {
  readonly #init: CourierInit
  readonly #progress = new Map<string, Progress>()

  constructor(init: CourierInit) {
    this.#init = init
  }

  /** The account cannot pay for one that is on its way. */
  get hasNoGas(): boolean {
    return [...this.#progress.values()].some(({ answer }) => answer === 'no_gas')
  }

  /** It waits for longer than the fees explain. */
  isStuck({ key }: SignedSubmission): boolean {
    const progress = this.#progress.get(key)
    return progress !== undefined && this.#init.clock.elapsed() - progress.since >= STUCK_MS
  }

  /** It is in a block, or needs a nonce of its own: what is known of its way means nothing any more. */
  forget(key: string): void {
    this.#progress.delete(key)
  }

  /**
   * Sends what is due. `isNext`: nothing of the account waits before it, so a higher fee can help.
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

  /** Undefined where no more is paid. The version is on disk before anybody sees it: it, too, may be the one that is mined. */
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
