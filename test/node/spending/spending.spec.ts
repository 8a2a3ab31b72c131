import assert from 'node:assert/strict'
import { createMemoryStore, SoukError } from '../../../lib/index.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { deposit, startSpender } from '../accounts/bench.ts'

const USDC = 1_000_000n
const HOLDER = { id: 'key_1', dailyCap: USDC, account: 'acct_1' }

describe('a key of an account', () => {
  it('loses nothing of its daily cap to calls that its account could not be asked for', async () => {
    const [store, clock] = [createMemoryStore(), manualClock()]
    await store.open()
    const { documents, ledger } = store
    const outage: { error?: SoukError } = {}
    const { funds } = await startSpender({ documents, ledger, refusal: () => outage.error }, clock, 'first')
    await deposit(store, USDC)
    const caps = new DailyCaps({ clock, documents })
    const spending = new Spending({ caps, funds })
    await spending.begin(HOLDER).reserve(1_000n)
    const left = await spending.left(HOLDER)
    outage.error = new SoukError('store_unavailable')
    for (let calls = 0; calls < 3; calls++) {
      await assert.rejects(async () => spending.begin(HOLDER).reserve(10_000n), { code: 'store_unavailable' })
    }
    assert.equal(await spending.left(HOLDER), left)
  })
})
