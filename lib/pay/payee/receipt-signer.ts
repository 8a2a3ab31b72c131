import { EMPTY_BYTES } from '../../base/bytes.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { KEY_TRIAL_PAUSE_MS, RECEIPTS_SIGN_MS, RECEIPTS_SIGNED_PART } from '../../base/limits/pay.ts'
import { COMMIT_BATCH_MAX } from '../../base/limits/store.ts'
import type { Atoms } from '../../base/money.ts'
import type { Signer } from '../../interface/signer.ts'
import type { Admission, Outcome } from '../../interface/payment-scheme.ts'
import { type ReceiptBody, signReceipts } from '../signing/receipt.ts'
import type { Digest } from '../signing/typed-data.ts'
import type { PayeeChannel } from './payee-channel.ts'

/** The root of no tree, signed to find out whether the key is available. */
const NO_RECEIPTS = new Uint8Array(32)

interface Waiting {
  readonly body: ReceiptBody
  readonly resolve: (receipt: Uint8Array) => void
  readonly reject: (error: unknown) => void
}

/**
 * Signs receipts in batches. Calls of one durable commit continue in the same turn, so all receipts requested before its
 * microtasks end share one signature.
 *
 * A signature takes as long as the rest of a paid call. On a busy owner, a small batch soon after the last signature therefore
 * waits shortly for the receipts of other calls.
 */
export class ReceiptSigner {
  readonly #signer: Signer
  readonly #digest: Digest
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>
  #waiting: Waiting[] = []
  #signedAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined
  /** The time of the last signature, if it failed. */
  #failedAt: number | undefined
  #trial: Promise<void> | undefined
  /** Number of admitted calls without a signed receipt; the callers update it. */
  underWay = 0

  constructor(signer: Signer, digest: Digest, clock: Pick<Clock, 'elapsed' | 'after'>) {
    this.#signer = signer
    this.#digest = digest
    this.#clock = clock
  }

  /** The receipt of a booked call. Empty if the key is not available: the payer then gets the response without the proof. */
  receiptFor(
    { requestId, api }: Admission,
    { info, payeeFunds }: PayeeChannel,
    charged: Atoms,
    { requestHash, status, at, rule }: Outcome
  ): Promise<Uint8Array> {
    const { captured, reserved } = payeeFunds
    const { channelId } = info
    const body = { channelId, requestId, requestHash, api, charged, captured, reserved, status, at, rule }
    return new Promise((resolve) => this.#add({ body, resolve, reject: () => resolve(EMPTY_BYTES) }))
  }

  /**
   * Undefined if the last signature succeeded. Otherwise tries the key, at most once per `KEY_TRIAL_PAUSE_MS`: a call that is charged
   * without a receipt makes its payer stop paying this owner.
   * @throws SoukError `settlement_unavailable`
   */
  ready(): Promise<void> | undefined {
    if (this.#failedAt === undefined) return undefined
    this.#trial ??= this.#try(this.#failedAt).finally(() => (this.#trial = undefined))
    return this.#trial
  }

  async #try(failedAt: number): Promise<void> {
    const now = this.#clock.elapsed()
    let cause: unknown
    if (now - failedAt >= KEY_TRIAL_PAUSE_MS) {
      try {
        await this.#signer.sign(this.#digest(NO_RECEIPTS))
        this.#failedAt = undefined
        return
      } catch (error) {
        this.#failedAt = now
        cause = error
      }
    }
    throw new SoukError('settlement_unavailable', 'The owner cannot sign receipts at the moment. Try again later.', {
      cause,
      source: 'owner',
      notAccepted: true,
      retryAfterMs: KEY_TRIAL_PAUSE_MS
    })
  }

  /** @throws SoukError `settlement_unavailable` if the key is not available now */
  sign(body: ReceiptBody): Promise<Uint8Array> {
    return new Promise((resolve, reject) => this.#add({ body, resolve, reject }))
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    const { length } = this.#waiting
    if (length === 1) queueMicrotask(() => this.#consider())
    else if (length === COMMIT_BATCH_MAX || (this.#timer !== undefined && this.#areEnough())) void this.#flush()
  }

  #consider(): void {
    if (this.#areEnough() || this.#clock.elapsed() - this.#signedAt >= RECEIPTS_SIGN_MS) void this.#flush()
    else this.#timer = this.#clock.after(RECEIPTS_SIGN_MS, () => void this.#flush())
  }

  #areEnough(): boolean {
    return this.#waiting.length * RECEIPTS_SIGNED_PART >= this.underWay
  }

  async #flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const batch = this.#waiting
    this.#waiting = []
    if (batch.length === 0) return
    this.#signedAt = this.#clock.elapsed()
    const bodies = batch.map(({ body }) => body)
    try {
      const receipts = await signReceipts(bodies, (root) => this.#signer.sign(this.#digest(root)))
      this.#failedAt = undefined
      for (const [i, receipt] of receipts.entries()) batch[i]?.resolve(receipt)
    } catch (error) {
      this.#failedAt = this.#clock.elapsed()
      for (const { reject } of batch) reject(error)
    }
  }
}
