import { type Clock, sleep } from '../../base/clock.ts'
import { asSoukError, type SoukError } from '../../base/errors.ts'
import { COLLECT_RETRY_MS } from '../../base/limits.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Documents } from '../../interface/store.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import { nameOf, transferCall } from './exact-payment.ts'
import {
  EXACT_PAYMENTS,
  exactAccounts,
  exactDocument,
  type ExactFate,
  type ExactRecord,
  readExactDocument
} from './exact-record.ts'

export interface ExactCollectorInit {
  readonly parameters: ChainParameters
  readonly submitter: Pick<Submitter, 'submit'>
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/** Fetches the money of payments that were spent: sends each transfer until it is mined, or the token refuses it for good. */
export class ExactCollector {
  readonly #init: ExactCollectorInit
  #stopping = new AbortController()

  constructor(init: ExactCollectorInit) {
    this.#init = init
  }

  start(): void {
    this.#stopping = new AbortController()
  }

  stop(reason: SoukError): void {
    this.#stopping.abort(reason)
  }

  /**
   * What became of it. The transfer is sent under the payment's own name, so that one that is under way is never sent twice.
   * @throws SoukError the reason of `stop`; what is left goes on at the next start
   */
  async collect(record: ExactRecord): Promise<ExactFate> {
    const { parameters, submitter, clock, onError } = this.#init
    const { signal } = this.#stopping
    const call = transferCall(parameters.usdc.address, record.payment)
    for (;;) {
      try {
        const mined = await submitter.submit(`exact/${nameOf(record.payment)}`, call, signal)
        return await this.#book(record, mined)
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (signal.aborted || error.code === 'internal_error') throw error
        if (error.code === 'payment_rejected') return this.#book(record, undefined)
        // No gas, no endpoint, too much to do: the money is still there.
        onError(error)
        await sleep(clock, COLLECT_RETRY_MS, signal)
      }
    }
  }

  /** In the books once, and with the record. */
  async #book(record: ExactRecord, mined: Mined | undefined): Promise<ExactFate> {
    const { documents, ledger, clock } = this.#init
    const isPaid = mined?.receipt.succeeded === true
    const fate: ExactFate = isPaid ? { kind: 'paid', hash: mined.hash } : { kind: 'lost' }
    const name = nameOf(record.payment)
    const { receivable, collected, lost } = exactAccounts(record.payment.to)
    const stored = await documents.get(EXACT_PAYMENTS, name)
    const response = stored === undefined ? undefined : readExactDocument(stored).response
    const postings = [
      { account: isPaid ? collected : lost, amount: record.price },
      { account: receivable, amount: -record.price }
    ]
    // What was never paid for is not kept either.
    const document = exactDocument(name, { ...record, fate }, isPaid ? response : undefined)
    await ledger.book({ kind: 'exact', reference: name, at: clock.now(), postings }, [document])
    return fate
  }
}
