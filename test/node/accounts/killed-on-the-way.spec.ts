import assert from 'node:assert/strict'
import { createMemoryStore, SoukError, systemRandom } from '../../../lib/index.ts'
import type { Address, Deposits, Store, Wallet, Withdrawal } from '../../../lib/interface/index.ts'
import { AccountDeposits } from '../../../node/accounts/account-deposits.ts'
import { balanceOf, PREPAID } from '../../../node/accounts/account-ledger.ts'
import { AccountWithdrawals } from '../../../node/accounts/account-withdrawals.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { mortal, type Mortal } from '../../helpers/mortal.ts'
import { ACCOUNT, deposit } from './bench.ts'

const PAYER: Address = `0x${'ab'.repeat(20)}`
const AMOUNT = 600_000n
const DEATHS_MAX = 40
const FUNDED = { ...ACCOUNT, label: '', createdAt: 0, funding: PAYER }

/** A chain that executes each request once and records it. */
class PlayChain {
  readonly sent = new Map<string, bigint>()
  collected = 0
  refuses = false

  wallet(life: Mortal): Wallet {
    const key = ({ id, to, amount }: Withdrawal) => `${id}/${to}/${amount}`
    const hash = '0x01'
    return {
      address: `0x${'cd'.repeat(20)}`,
      balance: async () => ({ latest: 10n ** 9n, finalized: 10n ** 9n, wei: 1n }),
      feeFor: async () => 0n,
      withdraw: async (order) => {
        if (life.isDead) return new Promise(() => undefined)
        if (this.refuses) throw new SoukError('payment_rejected')
        this.sent.set(key(order), order.amount)
        const receipt = { blockNumber: 1n, blockHash: hash, succeeded: true, gasUsed: 1n, cost: 1n } as const
        return { key: key(order), hash, receipt, isFinal: false }
      },
      final: async (order) =>
        this.sent.has(key(order)) ? { key: key(order), hash, block: 1n, succeeded: true, cost: 1n } : undefined,
      isUnderWay: (order) => this.sent.has(key(order))
    }
  }

  deposits(life: Mortal): Deposits {
    return {
      wallet: `0x${'cd'.repeat(20)}`,
      ask: () => new SoukError('payment_required'),
      read: async (text) => ({ payer: PAYER, name: `${PAYER}/${text}`, amount: AMOUNT, text }),
      check: async () => {
        if (this.collected > 0) throw new SoukError('payment_rejected', 'Its nonce was used.')
      },
      collect: async () => {
        if (life.isDead) return new Promise(() => undefined)
        if (this.refuses) throw new SoukError('payment_rejected')
        this.collected = 1
        return { hash: '0x01', succeeded: true, depth: 'finalized' }
      },
      response: () => 'paid'
    }
  }
}

interface Process {
  readonly deposits: AccountDeposits
  readonly withdrawals: AccountWithdrawals
  readonly accounts: Accounts
}

describe('money of accounts under kills at any point', () => {
  let clock: ManualClock
  let store: Store
  let chain: PlayChain

  beforeEach(() => {
    clock = manualClock()
  })

  async function start(life: Mortal): Promise<Process> {
    const documents = life.documents(store.documents)
    const ledger = life.ledger(store.ledger)
    const keys = { issue: () => assert.fail('no keys here') }
    const holders = async () => []
    const shared = { documents, ledger, clock, random: systemRandom, holder: 'node', holders, log: { warn() {} } }
    const accounts = new Accounts({ ...shared, keys })
    const funds = { giveBack: async () => {} }
    const deposits = new AccountDeposits({ ...shared, accounts, deposits: () => chain.deposits(life) })
    const withdrawals = new AccountWithdrawals({ ...shared, accounts, funds, wallet: () => chain.wallet(life) })
    await Promise.race([Promise.all([deposits.start(), withdrawals.start()]), clock.advance(1)])
    return { deposits, withdrawals, accounts }
  }

  /** Repeats the story, killed one step later each time. A process that survives follows each kill. */
  async function dieEverywhere(act: (process: Process) => Promise<unknown>, check: (did: boolean) => Promise<void>) {
    let deaths = 0
    for (; deaths < DEATHS_MAX; deaths++) {
      await beginAnew()
      const life = mortal(deaths)
      const doomed = await start(life)
      let answer: unknown
      void act(doomed).then(
        (value) => (answer = value),
        () => {}
      )
      await clock.advance(60_000)
      const survivor = await start(mortal())
      await clock.advance(120_000)
      await check(answer !== undefined)
      await Promise.all([survivor.deposits.stop(), survivor.withdrawals.stop()])
      if (!life.isDead) break
    }
    assert.ok(deaths > 3 && deaths < DEATHS_MAX, `died ${deaths} times`)
  }

  async function beginAnew(): Promise<void> {
    chain = new PlayChain()
    store = createMemoryStore()
    await store.open()
    await store.documents.put('accounts', ACCOUNT.id, JSON.stringify(FUNDED))
    await deposit(store, 1_000_000n)
  }
  const balance = async () => -(await store.ledger.balance(balanceOf(ACCOUNT.id)))

  it('is sent exactly once for each withdrawal that was debited', async () => {
    await dieEverywhere(
      async ({ withdrawals }) => withdrawals.withdraw(FUNDED, { amount: AMOUNT, idempotencyKey: 'key' }),
      async (wasTold) => {
        const sent = [...chain.sent.values()].reduce((sum, amount) => sum + amount, 0n)
        assert.equal(await balance(), 1_000_000n - sent)
        assert.equal(-(await store.ledger.balance(`withdrawing/${ACCOUNT.id}`)), 0n)
        assert.equal(await store.ledger.balance(PREPAID), 1_000_000n - sent)
        assert.ok(!wasTold || sent === AMOUNT, 'a withdrawal reported as sent was not sent')
      }
    )
  })

  it('is credited back once if the chain rejects the withdrawal', async () => {
    await dieEverywhere(
      async ({ withdrawals }) => {
        chain.refuses = true
        return withdrawals.withdraw(FUNDED, { amount: AMOUNT, idempotencyKey: 'key' })
      },
      async () => {
        assert.equal(await balance(), 1_000_000n)
        assert.equal(await store.ledger.balance(`withdrawing/${ACCOUNT.id}`), 0n)
        assert.equal(chain.sent.size, 0)
      }
    )
  })

  it('is credited once for each payment that was collected', async () => {
    await dieEverywhere(
      async ({ deposits }) => deposits.deposit(ACCOUNT.id, AMOUNT, 'payment'),
      async () => {
        const credited = (await balance()) - 1_000_000n
        assert.equal(credited, chain.collected === 1 ? AMOUNT : 0n)
        const again = await (await start(mortal())).deposits.deposit(ACCOUNT.id, AMOUNT, 'payment')
        assert.deepEqual(again, { amount: AMOUNT, response: 'paid' })
        assert.equal((await balance()) - 1_000_000n, AMOUNT)
      }
    )
  })
})
