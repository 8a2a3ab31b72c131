import type { Hex } from '../../base/hex.ts'
import type { SettledTransaction } from '../../interface/earnings.ts'
import type { Documents } from '../../interface/store.ts'
import type { Mined } from '../../interface/submitter.ts'

/**
 * What this node has sent for good, with what it cost: kept for ever, where the submitter forgets. Gas is paid in ETH and so
 * has no place in the ledger, which is of USDC.
 */
export class FinalTransactions {
  readonly #documents: Documents
  readonly #collection: string
  readonly #byHash = new Map<Hex, SettledTransaction>()

  constructor(documents: Documents, chainId: number) {
    this.#documents = documents
    this.#collection = `final-transactions/${chainId}`
  }

  async start(): Promise<void> {
    for (const { key, value } of await this.#documents.list(this.#collection)) {
      const transaction = read(key as Hex, value)
      this.#byHash.set(transaction.hash, transaction)
    }
  }

  /** Durable when it resolves. Being told twice does no harm. */
  async add({ key, hash, receipt }: Mined): Promise<void> {
    const { succeeded, cost, blockNumber: block } = receipt
    const value = JSON.stringify({ key, succeeded, cost: cost.toString(), block: block.toString() })
    await this.#documents.put(this.#collection, hash, value)
    this.#byHash.set(hash, { key, hash, block, succeeded, cost })
  }

  get cost(): { transactions: number; cost: bigint } {
    let sum = 0n
    for (const { cost } of this.#byHash.values()) sum += cost
    return { transactions: this.#byHash.size, cost: sum }
  }

  /** Newest first, of plans whose keys begin so. */
  latest(prefixes: readonly string[], limit: number): SettledTransaction[] {
    const found = [...this.#byHash.values()].filter(({ key }) => prefixes.some((prefix) => key.startsWith(prefix)))
    return found.sort((a, b) => Number(b.block - a.block)).slice(0, limit)
  }
}

function read(hash: Hex, document: string): SettledTransaction {
  const { key, succeeded, cost, block } = JSON.parse(document) as Record<'key' | 'cost' | 'block', string> & {
    succeeded: boolean
  }
  return { key, hash, succeeded, cost: BigInt(cost), block: BigInt(block) }
}
