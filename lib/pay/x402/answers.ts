import type { Clock } from '../../base/clock.ts'
import { fromHex, type Hex } from '../../base/hex.ts'
import { PAYMENT_REPLAY_MS } from '../../base/limits.ts'
import { REQUEST_ID_BYTES } from '../../base/request-id.ts'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { CallLog, Documents, StoredResponse } from '../../interface/store.ts'
import { type EmbeddedResponse, readEmbedded } from './exact-record.ts'

/** Documents of an owner: what calls paid by vouchers were answered, by channel, or channel and the client's own name. */
const ANSWERS = 'x402-answers'

/** What a voucher was answered with. */
export interface Answer {
  /** Consumer node that the call came through, and the call's id: its record has the response. */
  readonly peer: string
  readonly requestId: Hex
  readonly ceiling: Atoms
  readonly charged: Atoms
  readonly requestHash: Hex
}

/** An answer as it is found. */
export interface KnownAnswer extends Omit<Answer, 'peer'> {
  /** Absent where it was not stored: too long, a stream, or past the share of its peer. */
  readonly response?: StoredResponse
}

/** Of each channel the last answer, and those that its client gave a name, for `PAYMENT_REPLAY_MS`. In the store only. */
export class Answers {
  readonly #documents: Documents
  readonly #calls: Pick<CallLog, 'find'>
  readonly #clock: Clock

  constructor(documents: Documents, calls: Pick<CallLog, 'find'>, clock: Clock) {
    this.#documents = documents
    this.#calls = calls
    this.#clock = clock
  }

  async find(key: string): Promise<KnownAnswer | undefined> {
    const value = await this.#documents.get(ANSWERS, key)
    if (value === undefined) return undefined
    const { ceiling, charged, at, response: embedded, peer, ...hashes } = JSON.parse(value) as Written
    if (at <= this.#clock.now() - PAYMENT_REPLAY_MS) return undefined
    const own =
      peer === undefined ? undefined : await this.#calls.find(peer, fromHex(hashes.requestId, REQUEST_ID_BYTES))
    const response = embedded === undefined ? own?.response : readEmbedded(embedded)
    return { ...hashes, ceiling: BigInt(ceiling), charged: BigInt(charged), ...(response && { response }) }
  }

  /** To be written with the call's record, which holds the response. */
  document(key: string, { ceiling, charged, ...rest }: Answer): DocumentPut {
    const at = this.#clock.now()
    const written: Written = { ...rest, ceiling: ceiling.toString(), charged: charged.toString(), at }
    return { collection: ANSWERS, key, value: JSON.stringify(written), expiresAt: at + PAYMENT_REPLAY_MS }
  }
}

interface Written {
  /** Absent in documents of earlier versions, which hold the response themselves. */
  readonly peer?: string
  readonly response?: EmbeddedResponse
  readonly requestId: Hex
  readonly ceiling: string
  readonly charged: string
  readonly requestHash: Hex
  /** Milliseconds since the epoch. */
  readonly at: number
}
