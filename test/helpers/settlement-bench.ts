import assert from 'node:assert/strict'
import type { Store } from '../../lib/interface/store.ts'
import { earningsOf } from '../../lib/pay/earnings-report.ts'
import { createSettlement, type Settlement } from '../../lib/pay/settle/settlement.ts'
import type { ChannelBench } from './channel-bench.ts'
import { hastyClock } from './hasty-clock.ts'
import type { redeemerBench } from './redeemer-bench.ts'

/** The number of blocks until a block is final on the dev chain. */
const FINAL_BLOCKS = 3

interface Parts {
  readonly bench: ChannelBench
  readonly owner: Awaited<ReturnType<typeof redeemerBench>>
  readonly store: Store
  readonly settlement: Settlement
}

/** Shared steps of tests of a settlement. `parts` returns the parts of the current test. */
export function settlementBench(parts: () => Parts) {
  const ledger = () => parts().store.ledger
  const provider = () => [...parts().owner.books.payouts()][0]!
  const splitter = () => parts().bench.factory.splitterOf(provider())
  const balances = async () =>
    Object.fromEntries((await ledger().balances('')).map(({ account, amount }) => [account, amount]))
  return {
    provider,
    splitter,
    balances,
    /** Starts a settlement that claims nothing unless a test requests it. */
    async start(): Promise<Settlement> {
      const { bench, owner, store } = parts()
      const made = createSettlement({
        chain: bench.chain,
        signer: owner.signer,
        clock: hastyClock,
        documents: store.documents,
        ledger: store.ledger,
        books: owner.books,
        factory: bench.factory,
        policy: { atoms: 2n ** 60n, ageMs: 2 ** 40 },
        onError: () => undefined
      })
      await made.start()
      return made
    },
    /** Makes all transactions final, and waits for a read of the chain that began before: `earnings` would share it. */
    async finalize(): Promise<void> {
      const { bench, settlement } = parts()
      await bench.client.mine({ blocks: FINAL_BLOCKS })
      await settlement.bookkeeper.look()
    },
    async earnings() {
      const { owner, store, settlement } = parts()
      const onError = (error: Error) => assert.fail(error)
      const { providers } = await earningsOf({ books: owner.books, ledger: store.ledger, settlement, onError })
      return providers.find((row) => row.splitter === splitter()) ?? assert.fail('no earnings')
    },
    /** A capture booked like the payment scheme does, so that the whole ledger sums up. */
    async capture(channelId: string, amount: bigint, reference: string): Promise<void> {
      const postings = [
        { account: `receivable/${channelId}`, amount },
        { account: `earned/${channelId}`, amount: -amount }
      ]
      await ledger().book({ kind: 'call', reference, at: 0, postings })
    },
    sum: async () => Object.values(await balances()).reduce((total, amount) => total + amount, 0n),
    kinds: async () => (await ledger().entries({ limit: 100 })).map(({ kind }) => kind)
  }
}
