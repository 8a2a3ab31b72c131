import type { Signer } from '../interface/signer.ts'
import { type ReceiptBody, signReceipts } from './receipt.ts'
import type { Digest } from './typed-data.ts'

interface Waiting {
  readonly body: ReceiptBody
  readonly resolve: (receipt: Uint8Array) => void
  readonly reject: (error: unknown) => void
}

/**
 * Signs receipts a batch at a time. Calls that became durable in one commit go on in the same turn, one after the other;
 * what they ask for until the turn's microtasks are through shares one signature.
 */
export class ReceiptDesk {
  readonly #signer: Signer
  readonly #digest: Digest
  #waiting: Waiting[] = []

  constructor(signer: Signer, digest: Digest) {
    this.#signer = signer
    this.#digest = digest
  }

  /** @throws SoukError `settlement_unavailable` where the key cannot be reached now */
  sign(body: ReceiptBody): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject })
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#flush())
    })
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    const bodies = batch.map(({ body }) => body)
    try {
      const receipts = await signReceipts(bodies, (root) => this.#signer.sign(this.#digest(root)))
      for (const [i, receipt] of receipts.entries()) batch[i]?.resolve(receipt)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
