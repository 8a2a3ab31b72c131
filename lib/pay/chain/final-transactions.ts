import { Mutex } from '../../base/mutex.ts'
import type { Hex } from '../../base/hex.ts'
import type { SettledTransaction } from '../../interface/earnings.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Documents } from '../../interface/store.ts'
import type { Mined } from '../../interface/submitter.ts'

/** Gas cost of all final transactions, in wei. */
export interface GasCost {
  readonly transactions: number
  readonly cost: bigint
}

const SUM = 'sum'
const BY_KEY = 'by-key'
const BLOCK_HEX_DIGITS = 16
/** A store without a sum is of an earlier version: its documents are read in pages. */
const PAGE = 1_000

/**
 * All final transactions of this node with their gas cost. They stay in the store after the submitter drops them. Gas is paid in
 * ETH, so it has no place in the ledger, which is in USDC.
 */
export class FinalTransactions {
  readonly #documents: Documents
  /** Keyed by transaction hash. */
  readonly #collection: string
  readonly #adding = new Mutex()
  #cost: GasCost = { transactions: 0, cost: 0n }

  constructor(documents: Documents, chainId: number) {
    this.#documents = documents
    this.#collection = `final-transactions/${chainId}`
  }

  /** Reads only the sum. In a store of an earlier version, computes it first, once. */
  async start(): Promise<void> {
    const sum = await this.#documents.get(this.#sums, SUM)
    if (sum === undefined) await this.#index()
    else this.#cost = readCost(sum)
  }

  /** Idempotent. Durable when it resolves. */
  add({ key, hash, receipt }: Mined): Promise<void> {
    return this.#adding.run(async () => {
      if ((await this.#documents.get(this.#collection, hash)) !== undefined) return
      const { succeeded, cost, blockNumber: block } = receipt
      const transaction = { key, hash, succeeded, cost, block }
      const sum = plus(this.#cost, cost)
      const value = write(transaction)
      const known = await this.find(key)
      await this.#documents.putAll([
        { collection: this.#collection, key: hash, value },
        ...this.#listed(transaction),
        // A successful transaction is the outcome of its plan, whatever failed before or after it.
        ...(known?.succeeded === true ? [] : [this.#named(transaction)]),
        this.#sumDocument(sum)
      ])
      this.#cost = sum
    })
  }

  get cost(): GasCost {
    return this.#cost
  }

  /** The final outcome of a plan. */
  async find(key: string): Promise<SettledTransaction | undefined> {
    const value = await this.#documents.get(this.#listOf(BY_KEY), key)
    if (value === undefined) return undefined
    const { hash } = JSON.parse(value) as { hash: Hex }
    return read(hash, value)
  }

  /** Newest first. `list` is `all`, `claim` for claims, or a splitter's address for its settlements and payouts. */
  async latest(list: string, limit: number): Promise<SettledTransaction[]> {
    const found = await this.#documents.last(this.#listOf(list), { limit })
    return found.map(({ key, value }) => read(key.slice(BLOCK_HEX_DIGITS + 1) as Hex, value))
  }

  get #sums(): string {
    return `${this.#collection}/sums`
  }

  #listOf(list: string): string {
    return `${this.#collection}/${list}`
  }

  #sumDocument({ transactions, cost }: GasCost): DocumentPut {
    const value = JSON.stringify({ transactions, cost: cost.toString() })
    return { collection: this.#sums, key: SUM, value }
  }

  /** The lists that show the transaction, keyed by block number. */
  #listed(transaction: SettledTransaction): DocumentPut[] {
    const [kind = '', splitter = ''] = transaction.key.split('/')
    const lists = kind === 'claim' ? [kind] : kind === 'settle' || kind === 'distribute' ? [splitter] : []
    const key = `${transaction.block.toString(16).padStart(BLOCK_HEX_DIGITS, '0')}/${transaction.hash}`
    const value = write(transaction)
    return ['all', ...lists].map((list) => ({ collection: this.#listOf(list), key, value }))
  }

  #named(transaction: SettledTransaction): DocumentPut {
    return { collection: this.#listOf(BY_KEY), key: transaction.key, value: write(transaction) }
  }

  async #index(): Promise<void> {
    let sum: GasCost = { transactions: 0, cost: 0n }
    for (let before: string | undefined; ; ) {
      const page = await this.#documents.last(this.#collection, { limit: PAGE, ...(before && { before }) })
      const transactions = page.map(({ key, value }) => read(key as Hex, value))
      for (const { cost } of transactions) sum = plus(sum, cost)
      const [succeeded, failed] = [true, false].map((which) => transactions.filter((each) => each.succeeded === which))
      await this.#documents.putAll([
        ...transactions.flatMap((transaction) => this.#listed(transaction)),
        ...(succeeded ?? []).map((transaction) => this.#named(transaction))
      ])
      for (const { collection, key, value } of (failed ?? []).map((transaction) => this.#named(transaction))) {
        await this.#documents.insert(collection, key, value)
      }
      before = page.at(-1)?.key
      if (page.length < PAGE) break
    }
    // Written last: a start that is interrupted before it repeats the index with the same result.
    await this.#documents.putAll([this.#sumDocument(sum)])
    this.#cost = sum
  }
}

const plus = ({ transactions, cost }: GasCost, more: bigint): GasCost => ({
  transactions: transactions + 1,
  cost: cost + more
})

function write({ key, hash, succeeded, cost, block }: SettledTransaction): string {
  return JSON.stringify({ key, hash, succeeded, cost: cost.toString(), block: block.toString() })
}

function readCost(document: string): GasCost {
  const { transactions, cost } = JSON.parse(document) as { transactions: number; cost: string }
  return { transactions, cost: BigInt(cost) }
}

function read(hash: Hex, document: string): SettledTransaction {
  const { key, succeeded, cost, block } = JSON.parse(document) as Record<'key' | 'cost' | 'block', string> & {
    succeeded: boolean
  }
  return { key, hash, succeeded, cost: BigInt(cost), block: BigInt(block) }
}
