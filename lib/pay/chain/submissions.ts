import { SUBMISSIONS_KEPT_MAX } from '../../base/limits.ts'
import type { Documents } from '../../interface/store.ts'
import { decodeSubmission, encodeSubmission, finalForm, type Signed, type Submission } from './submission.ts'

export type SignedSubmission = Submission & { readonly signed: Signed }

/**
 * What an account plans to send, has sent and is done with: in memory for reading, on disk before anything counts. Writes
 * of one submission never overlap: whoever saves one waits before saving it again.
 */
export class Submissions {
  readonly #documents: Documents
  readonly #collection: string
  readonly #byKey = new Map<string, Submission>()
  /** Those that are not final: what each look at the chain goes through. */
  readonly #open = new Map<string, Submission>()
  /** Final ones, oldest first. */
  readonly #done = new Set<string>()
  #seq = 0
  #nonceFloor = 0

  constructor(documents: Documents, collection: string) {
    this.#documents = documents
    this.#collection = collection
  }

  /** @throws SoukError `internal_error` */
  async load(): Promise<void> {
    const documents = await this.#documents.list(this.#collection)
    for (const submission of documents.map(({ value }) => decodeSubmission(value)).sort(inOrder)) this.#keep(submission)
  }

  find(key: string): Submission | undefined {
    return this.#byKey.get(key)
  }

  /** Not signed yet, in the order they were planned. */
  planned(): Submission[] {
    return [...this.#open.values()].filter(({ signed }) => signed === undefined).sort(inOrder)
  }
  /** Signed and in no block, by nonce. */
  unmined(): SignedSubmission[] {
    return this.#signed()
      .filter(({ mined }) => mined === undefined)
      .sort((a, b) => a.signed.nonce - b.signed.nonce)
  }
  /** In a block that may be taken back. */
  unfinal(): SignedSubmission[] {
    return this.#signed().filter(({ mined }) => mined !== undefined)
  }

  nextSeq(): number {
    return ++this.#seq
  }

  /** The lowest nonce from `latest` on that nothing of ours holds. */
  freeNonce(latest: number): number {
    const held = new Set(this.#signed().map(({ signed }) => signed.nonce))
    let nonce = Math.max(latest, this.#nonceFloor)
    while (held.has(nonce)) nonce++
    return nonce
  }

  /** Durable when it resolves; only then it shows. */
  async save(submission: Submission): Promise<void> {
    await this.#documents.put(this.#collection, submission.key, encodeSubmission(submission))
    this.#keep(submission)
  }

  async saveFinal(submission: Submission): Promise<void> {
    await this.save(finalForm(submission))
    while (this.#done.size > SUBMISSIONS_KEPT_MAX) {
      const [oldest] = this.#done
      if (oldest !== undefined) await this.drop(oldest)
    }
  }

  async drop(key: string): Promise<void> {
    await this.#documents.delete(this.#collection, key)
    this.#byKey.delete(key)
    this.#open.delete(key)
    this.#done.delete(key)
  }

  #keep(submission: Submission): void {
    const { key, seq, finalNonce } = submission
    this.#byKey.set(key, submission)
    this.#seq = Math.max(this.#seq, seq)
    // A key whose transaction failed for good may be planned again.
    this.#done.delete(key)
    if (finalNonce === undefined) {
      this.#open.set(key, submission)
      return
    }
    this.#nonceFloor = Math.max(this.#nonceFloor, finalNonce + 1)
    this.#open.delete(key)
    this.#done.add(key)
  }

  #signed(): SignedSubmission[] {
    return [...this.#open.values()].flatMap((submission) =>
      submission.signed === undefined ? [] : [{ ...submission, signed: submission.signed }]
    )
  }
}

const inOrder = (a: Submission, b: Submission): number => a.seq - b.seq
