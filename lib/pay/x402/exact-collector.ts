import { type Clock, sleep } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import { WATCH_POLL_MS } from '../../base/limits/chain.ts'
import { COLLECT_RETRY_MS, FOREIGN_TRANSFER_MS, PAYMENT_REPLAY_MS, TRANSFER_LOOKS_MAX } from '../../base/limits/pay.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Documents } from '../../interface/store.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import { type ExactPayment, foreignTransfer, nameOf, transferCall } from './exact-payment.ts'
import {
  EXACT_PAYMENTS,
  exactAccounts,
  exactDocument,
  type ExactFate,
  type ExactRecord,
  readExactDocument
} from './exact-record.ts'

export interface ExactCollectorInit {
  readonly chain: Pick<Chain, 'parameters' | 'authorizationUsed' | 'authorizedTransfer'>
  readonly submitter: Pick<Submitter, 'submit' | 'hashOf' | 'onFinal'>
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/** Collects spent payments: submits each transfer until it is mined, or the token finally rejects it. */
export class ExactCollector {
  readonly #init: ExactCollectorInit
  #stopping = new AbortController()

  constructor(init: ExactCollectorInit) {
    this.#init = init
    // Registered before the submitter starts, because it reports what became final while this node did not run.
    init.submitter.onFinal((mined) => this.#checkFinal(mined))
  }

  start(): void {
    this.#stopping = new AbortController()
  }

  stop(reason: SoukError): void {
    this.#stopping.abort(reason)
  }

  /**
   * The final result of a payment. The transfer is submitted under the payment's own key, so that it is never sent twice.
   * @throws SoukError the reason of `stop`; uncollected payments continue at the next start
   */
  async collect(record: ExactRecord): Promise<ExactFate> {
    const { chain, submitter, clock, onError } = this.#init
    const { signal } = this.#stopping
    const call = transferCall(chain.parameters.usdc.address, record.payment)
    for (let looks = 1; ; ) {
      try {
        const { hash, receipt } = await submitter.submit(keyOf(record.payment), call, signal)
        if (receipt.succeeded) return await this.#book(record, hash)
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (signal.aborted || error.code === 'internal_error') throw error
        if (error.code !== 'payment_rejected') {
          // No gas, no endpoint, or overload: the money is still there.
          onError(error)
          await sleep(clock, COLLECT_RETRY_MS, signal)
          continue
        }
      }
      const hash = await this.#sentByAnother(record)
      if (hash !== 'unused' && hash !== 'unseen' && hash !== 'unknown') return this.#book(record, hash)
      if (hash !== 'unknown' && looks++ >= TRANSFER_LOOKS_MAX) return this.#book(record, undefined)
      // The token may be paused, or a backend of the endpoint may be behind: then the next attempt succeeds.
      await sleep(clock, hash === 'unused' ? WATCH_POLL_MS : COLLECT_RETRY_MS, signal)
    }
  }

  /** The hash of the payment's transaction, once it is signed. */
  hashOf(payment: ExactPayment): Hex | undefined {
    return this.#init.submitter.hashOf(keyOf(payment))
  }

  /**
   * Looks for a transfer by another sender, because anybody may submit a published authorisation. `unused` if nobody has submitted it,
   * `unseen` if the endpoint shows no transfer for the used authorisation, `unknown` if it does not respond.
   */
  async #sentByAnother({ payment, at }: ExactRecord): Promise<Hex | 'unused' | 'unseen' | 'unknown'> {
    const { chain, onError } = this.#init
    try {
      if (!(await chain.authorizationUsed(payment.from, payment.nonce))) return 'unused'
      // The transfer may be older than the call.
      const transfer = await foreignTransfer(chain, payment, at - FOREIGN_TRANSFER_MS)
      return transfer?.hash ?? 'unseen'
    } catch (error) {
      onError(asSoukError(error))
      return 'unknown'
    }
  }

  /**
   * A payment counts as paid when its transfer is in a block. A reorganisation can remove the block, and the payer can move the
   * money before the transfer is mined again.
   */
  async #checkFinal({ key, receipt }: Mined): Promise<void> {
    const name = KEY.exec(key)?.[1]
    if (receipt.succeeded || name === undefined) return
    const { documents, ledger, clock } = this.#init
    const stored = await documents.get(EXACT_PAYMENTS, name)
    const record = stored === undefined ? undefined : readExactDocument(stored)
    if (record?.fate.kind !== 'paid') return
    const hash = await this.#sentByAnother(record)
    if (hash === 'unknown')
      throw new SoukError('settlement_unavailable', 'The chain does not show what became of a payment.')
    if (hash !== 'unused') return
    const { collected, lost } = exactAccounts(record.payment.to)
    const postings = [
      { account: lost, amount: record.price },
      { account: collected, amount: -record.price }
    ]
    const document = exactDocument(name, { ...record, fate: { kind: 'lost' } }, clock.now() + PAYMENT_REPLAY_MS)
    await ledger.book({ kind: 'exact', reference: `${name}/lost`, at: clock.now(), postings }, [document])
  }

  /** Booked once, together with the record. */
  async #book(record: ExactRecord, hash: Hex | undefined): Promise<ExactFate> {
    const { ledger, clock } = this.#init
    const isPaid = hash !== undefined
    const fate: ExactFate = isPaid ? { kind: 'paid', hash } : { kind: 'lost' }
    const name = nameOf(record.payment)
    const { receivable, collected, lost } = exactAccounts(record.payment.to)
    const postings = [
      { account: isPaid ? collected : lost, amount: record.price },
      { account: receivable, amount: -record.price }
    ]
    const document = exactDocument(name, { ...record, fate }, clock.now() + PAYMENT_REPLAY_MS)
    await ledger.book({ kind: 'exact', reference: name, at: clock.now(), postings }, [document])
    return fate
  }
}

const KEY = /^exact\/(.+)$/
const keyOf = (payment: ExactPayment): string => `exact/${nameOf(payment)}`
