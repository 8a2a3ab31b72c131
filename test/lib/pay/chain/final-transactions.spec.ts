import assert from 'node:assert/strict'
import type { Hex } from '../../../../lib/base/hex.ts'
import type { Documents } from '../../../../lib/interface/store.ts'
import type { Mined } from '../../../../lib/interface/submitter.ts'
import { FinalTransactions } from '../../../../lib/pay/chain/final-transactions.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'

const SPLITTER = `0x${'ab'.repeat(20)}`
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const mined = (n: number, key: string, succeeded = true): Mined => ({
  key,
  hash: hashOf(n),
  isFinal: true,
  receipt: { blockNumber: BigInt(n), blockHash: '0x01', succeeded, gasUsed: 1n, cost: 10n ** 20n }
})

describe('final transactions', () => {
  let documents: Documents
  let reads: number
  beforeEach(async () => {
    const store = createMemoryStore()
    await store.open()
    reads = 0
    documents = {
      ...store.documents,
      list: () => assert.fail('a whole collection is read'),
      last: (...query) => {
        reads += query[1].limit
        return store.documents.last(...query)
      }
    }
  })
  const started = async () => {
    const transactions = new FinalTransactions(documents, 31_337)
    await transactions.start()
    return transactions
  }
  const shown = async (transactions: FinalTransactions, list: string, limit = 10) =>
    (await transactions.latest(list, limit)).map(({ hash }) => Number(hash))

  it('are summed and listed, even by a later process, which reads none of them at its start', async () => {
    const first = await started()
    for (const [n, key] of [
      [9, 'claim/0x01'],
      [300, `settle/${SPLITTER}/5`],
      [20, `distribute/${SPLITTER}/5/0`],
      [4_000, 'transfer/0x02/5/id'],
      [21, 'claim/0x03']
    ] as const) {
      await first.add(mined(n, key))
      await first.add(mined(n, key))
    }
    reads = 0
    const second = await started()
    assert.equal(reads, 0)
    for (const transactions of [first, second]) {
      assert.deepEqual(transactions.cost, { transactions: 5, cost: 5n * 10n ** 20n })
      assert.deepEqual(await shown(transactions, 'all'), [4_000, 300, 21, 20, 9])
      assert.deepEqual(await shown(transactions, 'all', 2), [4_000, 300])
      assert.deepEqual(await shown(transactions, 'claim'), [21, 9])
      assert.deepEqual(await shown(transactions, SPLITTER), [300, 20])
      assert.equal((await transactions.find('transfer/0x02/5/id'))?.hash, hashOf(4_000))
      assert.equal(await transactions.find('transfer/0x02/5'), undefined)
    }
  })

  it('of one plan include the successful one as the outcome', async () => {
    const transactions = await started()
    await transactions.add(mined(1, 'transfer/a', false))
    assert.equal((await transactions.find('transfer/a'))?.succeeded, false)
    await transactions.add(mined(2, 'transfer/a'))
    await transactions.add(mined(3, 'transfer/a', false))
    assert.equal((await transactions.find('transfer/a'))?.hash, hashOf(2))
  })

  it('of an earlier version are listed once, for any number', async () => {
    for (let n = 1; n <= 2_500; n++) {
      const key = n === 7 || n === 2_400 ? 'transfer/a' : 'claim/0x01'
      const value = { key, succeeded: n !== 7, cost: '10', block: String(n) }
      await documents.put('final-transactions/31337', hashOf(n), JSON.stringify(value))
    }
    const transactions = await started()
    assert.deepEqual(transactions.cost, { transactions: 2_500, cost: 25_000n })
    assert.deepEqual(await shown(transactions, 'all', 2), [2_500, 2_499])
    assert.equal((await transactions.find('transfer/a'))?.hash, hashOf(2_400))
    await transactions.add(mined(2_500, 'claim/0x01'))
    reads = 0
    assert.deepEqual((await started()).cost, transactions.cost)
    assert.equal(reads, 0)
  })
})
