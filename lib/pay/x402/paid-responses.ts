import type { Clock } from '../../base/clock.ts'
import { fromHex, type Hex } from '../../base/hex.ts'
import { PAYMENT_REPLAY_MS } from '../../base/limits/pay.ts'
import { REQUEST_ID_BYTES } from '../../base/request-id.ts'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { CallLog, Documents, StoredResponse } from '../../interface/store.ts'
import { type EmbeddedResponse, readEmbedded } from './exact-record.ts'

/** Collection of the responses to calls paid by vouchers, by channel, or by channel and the client's payment name. */
const ANSWERS = 'x402-answers'

/** The response to a voucher. */
export interface PaidResponse {
  /** Consumer node of the call, and the call's id. The call's record has the response. */
  readonly peer: string
  readonly requestId: Hex
  readonly ceiling: Atoms
  readonly charged: Atoms
  readonly requestHash: Hex
  /** Identifies the payment, if only the same payment can have it. */
  readonly fingerprint?: Hex
}

/** A stored response with its body, if kept. */
export interface KnownResponse extends Omit<PaidResponse, 'peer'> {
  /** Absent if the response was not stored: too long, a stream, or above the share of its peer. */
  readonly response?: StoredResponse
}

/** The last response of each channel, and responses to named payments for `PAYMENT_REPLAY_MS`. Kept only in the store. */
export class PaidResponses {
  readonly #documents: Documents
  readonly #calls: Pick<CallLog, 'find'>
  readonly #clock: Clock

  constructor(documents: Documents, calls: Pick<CallLog, 'find'>, clock: Clock) {
    this.#documents = documents
    this.#calls = calls
    this.#clock = clock
  }

  async find(key: string): Promise<KnownResponse | undefined> {
    const value = await this.#documents.get(ANSWERS, key)
    if (value === undefined) return undefined
    const { ceiling, charged, at, response: embedded, peer, ...hashes } = JSON.parse(value) as Written
    if (at <= this.#clock.now() - PAYMENT_REPLAY_MS) return undefined
    const own =
      peer === undefined ? undefined : await this.#calls.find(peer, fromHex(hashes.requestId, REQUEST_ID_BYTES))
    const response = embedded === undefined ? own?.response : readEmbedded(embedded)
    return { ...hashes, ceiling: BigInt(ceiling), charged: BigInt(charged), ...(response && { response }) }
  }

  /** The document to write together with the call's record, which holds the response. */
  document(key: string, { ceiling, charged, ...rest }: PaidResponse): DocumentPut {
    const at = this.#clock.now()
    const written: Written = { ...rest, ceiling: ceiling.toString(), charged: charged.toString(), at }
    return { collection: ANSWERS, key, value: JSON.stringify(written), expiresAt: at + PAYMENT_REPLAY_MS }
  }
}

interface Written {
  /** Absent in documents of earlier versions, which contain the response. */
  readonly peer?: string
  readonly response?: EmbeddedResponse
  readonly requestId: Hex
  readonly ceiling: string
  readonly charged: string
  readonly requestHash: Hex
  readonly fingerprint?: Hex
  /** Milliseconds since the epoch. */
  readonly at: number
}
