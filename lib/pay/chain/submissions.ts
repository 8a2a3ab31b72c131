import { SUBMISSIONS_KEPT_MAX } from '../../base/limits/chain.ts'
import type { Documents } from '../../interface/store.ts'
import { decodeSubmission, encodeSubmission, finalForm, type Signed, type Submission } from './submission.ts'

export type SignedSubmission = Submission & { readonly signed: Signed }

/**
 * The transactions that an account plans, has sent and has finished. Reads come from memory; each change is on disk before it
 * shows. A caller waits for one save of a submission before the next.
 */
export class Submissions {
  readonly #documents: Documents
  readonly #collection: string
  readonly #byKey = new Map<string, Submission>()
  /** Submissions that are not final. Each poll of the chain goes through them. */
  readonly #open = new Map<string, Submission>()
  /** Final submissions, oldest first. */
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

  /** Not yet signed, in planning order. */
  planned(): Submission[] {
    return [...this.#open.values()].filter(({ signed }) => signed === undefined).sort(inOrder)
  }
  /** Signed and not in a block, by nonce. */
  unmined(): SignedSubmission[] {
    return this.#signed()
      .filter(({ mined }) => mined === undefined)
      .sort((a, b) => a.signed.nonce - b.signed.nonce)
  }
  /** In a block that a reorganisation may remove. */
  unfinal(): SignedSubmission[] {
    return this.#signed().filter(({ mined }) => mined !== undefined)
  }

  nextSeq(): number {
    return ++this.#seq
  }

  /** The lowest nonce, at least `latest`, that no submission holds. */
  freeNonce(latest: number): number {
    const held = new Set(this.#signed().map(({ signed }) => signed.nonce))
    let nonce = Math.max(latest, this.#nonceFloor)
    while (held.has(nonce)) nonce++
    return nonce
  }

  /** Durable when it resolves; readers see it only then. */
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
    // A plan whose transaction failed finally may be planned again under its key.
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
