import assert from 'node:assert/strict'
import { createMemoryStore } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID } from '../../../node/accounts/account-ledger.ts'
import { depositsPaidOut } from '../../../node/accounts/deposits-paid-out.ts'

const ID = 'acct_1'

describe('the deposits that a withdrawal pays out', () => {
  let store: Store
  beforeEach(async () => {
    store = createMemoryStore()
    await store.open()
  })

  const deposits = async (count: number, amount: bigint, account = ID) => {
    for (let n = 0; n < count; n++) {
      const event = { kind: kindOf('deposit', account), reference: `${account} ${amount} ${n}`, at: n }
      await store.ledger.book(moved(event, amount, PREPAID, balanceOf(account)))
    }
  }
  const countFor = async (amount: bigint) => (await depositsPaidOut(store, ID, amount)).count
  const take = async (amount: bigint) => {
    const { count, mark } = await depositsPaidOut(store, ID, amount)
    await store.documents.putAll([mark])
    return count
  }

  it('are the account’s own deposits that cover its amount', async () => {
    await deposits(5, 9n, 'acct_2')
    await deposits(150, 2n)
    for (const [amount, count] of [
      [1n, 1n],
      [2n, 1n],
      [3n, 2n],
      [250n, 125n],
      [300n, 150n],
      [999n, 150n]
    ] as const)
      assert.equal(await countFor(amount), count)
  })

  it('are each counted once across all withdrawals', async () => {
    await deposits(20, 2n)
    assert.deepEqual([await take(1n), await take(30n), await take(9n), await take(9n)], [1n, 15n, 4n, 0n])
    await deposits(2, 5n)
    assert.equal(await take(10n), 2n)
  })
})
