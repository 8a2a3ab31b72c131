import type { Clock } from '../../base/clock.ts'
import type { Hex } from '../../base/hex.ts'
import { PAYMENT_REPLAY_MS } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Documents, StoredResponse } from '../../interface/store.ts'

/** Documents of an owner: what calls paid by vouchers were answered, by channel, or channel and the client's own name. */
const ANSWERS = 'x402-answers'

/** What a voucher was answered with. */
export interface Answer {
  readonly requestId: Hex
  readonly ceiling: Atoms
  readonly charged: Atoms
  readonly requestHash: Hex
  /** Absent where it was too long to be kept, or a stream. */
  readonly response?: StoredResponse
}

/** Of each channel the last answer, and those that its client gave a name, for a while. */
export class Answers {
  readonly #documents: Documents
  readonly #clock: Clock
  /** When each was given, the oldest first. */
  readonly #at = new Map<string, number>()

  constructor(documents: Documents, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async start(): Promise<void> {
    const kept = (await this.#documents.list(ANSWERS)).map(({ key, value }) => [key, read(value).at] as const)
    for (const [key, at] of kept.sort(([, a], [, b]) => a - b)) this.#at.set(key, at)
  }

  async find(key: string): Promise<Answer | undefined> {
    const value = this.#at.has(key) ? await this.#documents.get(ANSWERS, key) : undefined
    return value === undefined ? undefined : read(value).answer
  }

  /** To be written with the call's record. */
  document(key: string, { ceiling, charged, response, ...hashes }: Answer): DocumentPut {
    const stored = response && { ...response, body: Buffer.from(response.body).toString('base64') }
    const at = this.#clock.now()
    const written: Written = { ...hashes, ceiling: ceiling.toString(), charged: charged.toString(), at }
    const value = JSON.stringify(stored === undefined ? written : { ...written, response: stored })
    return { collection: ANSWERS, key, value }
  }

  /** It is written. Lets go of old ones. */
  async written(key: string): Promise<void> {
    const now = this.#clock.now()
    this.#at.delete(key)
    this.#at.set(key, now)
    for (const [old, at] of this.#at) {
      if (at > now - PAYMENT_REPLAY_MS) return
      this.#at.delete(old)
      await this.#documents.delete(ANSWERS, old)
    }
  }
}

interface Written {
  readonly requestId: Hex
  readonly ceiling: string
  readonly charged: string
  readonly requestHash: Hex
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly response?: Omit<StoredResponse, 'body'> & { readonly body: string }
}

function read(value: string): { readonly answer: Answer; readonly at: number } {
  const { ceiling, charged, at, response, ...hashes } = JSON.parse(value) as Written
  const stored = response && { ...response, body: Buffer.from(response.body, 'base64') }
  const amounts = { ceiling: BigInt(ceiling), charged: BigInt(charged) }
  return { at, answer: { ...hashes, ...amounts, ...(stored && { response: stored }) } }
}
