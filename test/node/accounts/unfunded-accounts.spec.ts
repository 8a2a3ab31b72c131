import assert from 'node:assert/strict'
import { createMemoryStore, limits, systemRandom, trustedTime } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { UnfundedAccounts } from '../../../node/accounts/unfunded-accounts.ts'
import { createKeys, type Keys } from '../../../node/keys/keys.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { deposit } from './bench.ts'

const YEAR_MS = 365 * limits.DAY_MS
const PAYER = `0x${'ab'.repeat(20)}` as const

describe('accounts without a deposit', () => {
  let clock: ManualClock
  let store: Store
  let keys: Keys
  let accounts: Accounts

  beforeEach(async () => {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    const { documents, ledger } = store
    keys = createKeys({ documents, secret: Buffer.alloc(32, 7), clock, random: systemRandom, network: 'dev' })
    const unfunded = new UnfundedAccounts({ documents, ledger, keys, clock })
    const makeRoom = () => unfunded.makeRoom()
    accounts = new Accounts({ documents, ledger, keys, makeRoom, clock, random: systemRandom })
  })
  afterEach(() => store.close())

  /** Lets the clock run on, without a jump. */
  async function wait(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest -= limits.DAY_MS) {
      await trustedTime(store.documents, clock)
      await clock.advance(Math.min(rest, limits.DAY_MS))
    }
  }
  /** Runs what a node runs meanwhile: new accounts, and the sweep of the store. */
  async function after(ms: number): Promise<void> {
    await wait(ms)
    for (let n = 0; n < 2; n++) {
      await accounts.open()
      await store.documents.sweep(clock.now(), 100)
      await clock.advance(limits.ACCOUNTS_COUNTED_MS)
    }
  }
  const ids = async () => new Set((await accounts.list()).map(({ id }) => id))

  it('are deleted with their keys after 90 days, if they were never used', async () => {
    const { account, key } = await accounts.open()
    await after(limits.ACCOUNT_UNUSED_KEPT_MS - limits.DAY_MS)
    assert.ok((await ids()).has(account.id))
    await after(limits.DAY_MS)
    assert.ok(!(await ids()).has(account.id))
    assert.equal((await keys.list(account.id)).length, 0)
    await assert.rejects(async () => keys.verify(key.key), { code: 'key_invalid' })
  })

  it('are kept if a key was used, if a deposit began, or if the ledger knows them', async () => {
    const [used, bound, booked] = [await accounts.open(), await accounts.open(), await accounts.open()]
    await keys.verify(used.key.key)
    await accounts.bind(bound.account.id, PAYER)
    await deposit(store, 1n, booked.account.id)
    await after(2 * limits.ACCOUNT_UNUSED_KEPT_MS)
    const kept = await ids()
    for (const { account, key } of [used, bound, booked]) {
      assert.ok(kept.has(account.id))
      await keys.verify(key.key)
    }
  })

  it('is kept by a deposit that begins when it is to be deleted', async () => {
    const { account } = await accounts.open()
    await wait(2 * limits.ACCOUNT_UNUSED_KEPT_MS)
    await accounts.open()
    assert.ok(await accounts.bind(account.id, PAYER))
    await store.documents.sweep(clock.now(), 100)
    assert.equal((await accounts.get(account.id)).funding, PAYER)
  })

  it('are kept by a node whose clock is a year ahead for a moment', async () => {
    const { account, key } = await accounts.open()
    await wait(limits.DAY_MS)
    const { documents, ledger } = store
    const now = () => clock.now() + YEAR_MS
    await new UnfundedAccounts({ documents, ledger, keys, clock: { ...clock, now } }).makeRoom()
    await keys.verify(key.key)
    await after(YEAR_MS + limits.DAY_MS)
    assert.ok((await ids()).has(account.id))
  })

  it('are limited in number', async () => {
    const many = Array.from({ length: limits.ACCOUNTS_UNFUNDED_MAX }, (_, n) => {
      const account = { id: `acct_${n}`, label: '', createdAt: clock.now() }
      return { collection: 'accounts', key: account.id, value: JSON.stringify(account) }
    })
    await store.documents.putAll(many)
    await assert.rejects(accounts.open(), { code: 'quota_exceeded' })
    await clock.advance(limits.ACCOUNTS_COUNTED_MS)
    await accounts.bind('acct_0', PAYER)
    await accounts.open()
    await assert.rejects(accounts.open(), { code: 'quota_exceeded' })
  })
})
