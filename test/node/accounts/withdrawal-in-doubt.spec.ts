import assert from 'node:assert/strict'
import { createPostgresStore, limits, SoukError, systemRandom } from '../../../lib/index.ts'
import type { Store, Wallet } from '../../../lib/interface/index.ts'
import { balanceOf, moved, PREPAID, withdrawingFrom } from '../../../node/accounts/account-ledger.ts'
import { AccountWithdrawals } from '../../../node/accounts/account-withdrawals.ts'
import { type Account, Accounts } from '../../../node/accounts/accounts.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hastyClock as clock } from '../../helpers/hasty-clock.ts'
import { type KeylessBench, keylessBench } from '../../helpers/keyless-bench.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../helpers/postgres-proxy.ts'

const BALANCE = 1_000_000n
const AMOUNT = 600_000n
const HOLDER = 'node'
const BOUND_MS = 30_000

/** A real PostgreSQL database, and the wallet of a node on a real chain. */
describe('a withdrawal whose debit got no response from the database', () => {
  let postgres: TestPostgres
  let proxy: PostgresProxy
  let bench: KeylessBench
  let wallet: Wallet
  let store: Store
  let withdrawals: AccountWithdrawals
  let beforeDebit: () => void
  const warnings: string[] = []
  const to = `0x${'ab'.repeat(20)}` as const
  let accounts = 0
  /** The wallet remembers withdrawals by account, so each test has another one. */
  let account: Account
  const request = { amount: AMOUNT, idempotencyKey: 'key' }

  before(async () => {
    postgres = await startPostgres()
    bench = await keylessBench()
    const owner = await bench.startOwner()
    wallet = owner.paymentScheme.wallet
    await bench.mint(wallet.address, 10n * BALANCE)
  })
  beforeEach(async () => {
    account = { id: `acct_${accounts++}`, label: '', createdAt: 0, funding: to }
    beforeDebit = () => {}
    const url = await postgres.create()
    proxy = await proxyPostgres(url)
    store = createPostgresStore({ url: proxy.through(url), clock })
    await store.open()
    const deposit = { kind: 'deposit', reference: 'deposit', at: 0 }
    await store.ledger.book(moved(deposit, BALANCE, PREPAID, balanceOf(account.id)))
    withdrawals = start(wallet)
    await withdrawals.start()
  })
  afterEach(async () => {
    await withdrawals.stop()
    await store.close()
    await proxy.close()
  })
  after(async () => {
    await bench.close()
    await postgres.stop()
  })

  function start(from: Wallet): AccountWithdrawals {
    const { documents, ledger } = store
    const books = {
      documents,
      ledger,
      clock,
      random: systemRandom,
      holder: HOLDER,
      log: { warn: (message: string) => void warnings.push(message) }
    }
    const balances = new Accounts({ ...books, keys: { issue: () => assert.fail('no keys here') } })
    const funds = { giveBack: async () => beforeDebit() }
    return new AccountWithdrawals({ ...books, accounts: balances, funds, wallet: () => from })
  }
  const isPaid = (before: bigint) =>
    eventually('the payment', BOUND_MS, async () => ((await bench.usdc(to)) === before + AMOUNT ? true : undefined))
  const isDone = (id: string) =>
    eventually('the withdrawal', BOUND_MS, async () => {
      await bench.client.mine({ blocks: 2 })
      return (await withdrawals.get(account.id, id)).state === 'done' ? true : undefined
    })
  /** Withdraws in an outage that is longer than writes wait. */
  function withdrawInOutage(isCommitted: boolean) {
    beforeDebit = () => {
      beforeDebit = () => {}
      proxy.interrupt('', { isCommitted, clock, ms: 1.5 * limits.STORE_WAIT_MS })
    }
    return withdrawals.withdraw(account, request)
  }

  it('is paid once when the database is back', async () => {
    const before = await bench.usdc(to)
    const { id } = await withdrawInOutage(true)
    await isPaid(before)
    assert.equal((await withdrawals.withdraw(account, request)).id, id)
    await isDone(id)
    assert.equal(await bench.usdc(to), before + AMOUNT)
    assert.equal(-(await store.ledger.balance(balanceOf(account.id))), BALANCE - AMOUNT)
    assert.equal(await store.ledger.balance(withdrawingFrom(account.id)), 0n)
  })

  it('is not paid if the debit was lost, and paid once if it is repeated', async () => {
    const before = await bench.usdc(to)
    await assert.rejects(withdrawInOutage(false), { code: 'store_unavailable', isChargeUnknown: false })
    await eventually('the database', BOUND_MS, () => store.refusal?.() === undefined || undefined)
    assert.equal(-(await store.ledger.balance(balanceOf(account.id))), BALANCE)
    assert.equal(await bench.usdc(to), before)
    // It is free, because the first one was not used.
    await withdrawals.withdraw(account, request)
    await eventually('a payment', BOUND_MS, async () => ((await bench.usdc(to)) > before ? true : undefined))
    assert.equal(-(await store.ledger.balance(balanceOf(account.id))), BALANCE - AMOUNT)
  })

  it('is paid once when its account asks for it, after an error had stopped it', async () => {
    const before = await bench.usdc(to)
    let isBroken = true
    const broken: Wallet = {
      ...wallet,
      final: async (order) => {
        if (isBroken) throw new SoukError('internal_error')
        return wallet.final(order)
      }
    }
    withdrawals = start(broken)
    const { id } = await withdrawals.withdraw(account, request)
    await eventually('the error', BOUND_MS, () => (warnings.includes('a withdrawal stopped') ? true : undefined))
    isBroken = false
    for (let n = 0; n < 5; n++) await withdrawals.get(account.id, id)
    await isPaid(before)
    await isDone(id)
    assert.equal(await bench.usdc(to), before + AMOUNT)
  })
})
