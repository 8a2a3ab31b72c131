import assert from 'node:assert/strict'
import { systemRandom } from '../../../lib/index.ts'
import type { Clock, Store } from '../../../lib/interface/index.ts'
import { AccountFunds } from '../../../node/accounts/account-funds.ts'
import { balanceOf, moved, PREPAID, soldTo } from '../../../node/accounts/account-ledger.ts'
import { Leases } from '../../../node/accounts/leases.ts'

export const ACCOUNT = { id: 'acct_1' }
let references = 0

/** One of several processes that share a store. */
export interface Spender {
  readonly funds: AccountFunds
  readonly leases: Leases
  readonly warnings: string[]
  /** The free balance at each low-balance notice. */
  readonly low: bigint[]
  /** Reserves `price`, then charges `charged`. False if the balance is too low. */
  spend(price: bigint, charged?: bigint): Promise<boolean>
  stop(): Promise<void>
}

export async function startSpender(
  store: Pick<Store, 'ledger' | 'documents' | 'fencing' | 'refusal'>,
  clock: Clock,
  holder: string
): Promise<Spender> {
  const { ledger, documents, fencing } = store
  const refusal = () => store.refusal?.()
  const warnings: string[] = []
  const leases = new Leases({
    ledger,
    documents,
    clock,
    random: systemRandom,
    holder,
    refusal,
    ...(fencing && { fencing })
  })
  const low: bigint[] = []
  const funds = new AccountFunds({
    ledger,
    leases,
    clock,
    holder,
    onLow: (_account, balance) => low.push(balance),
    refusal,
    log: { warn: (message) => warnings.push(message) }
  })
  fencing?.onFenced(() => funds.forgetAll())
  await leases.start()
  return {
    funds,
    leases,
    warnings,
    low,
    async spend(price, charged = price) {
      try {
        await funds.reserve(ACCOUNT, price)
      } catch (error) {
        if ((error as { code?: string }).code === 'store_unavailable')
          throw new Error('store_unavailable', { cause: error })
        assert.equal((error as { code?: string }).code, 'insufficient_funds', String(error))
        return false
      }
      funds.release(ACCOUNT, price - charged)
      if (charged > 0n) await funds.charge(ACCOUNT, charged, `${holder}/${references++}`)
      return true
    },
    async stop() {
      await funds.stop()
      await leases.stop()
    }
  }
}

export async function deposit({ ledger }: Pick<Store, 'ledger'>, amount: bigint, account = ACCOUNT.id): Promise<void> {
  const event = { kind: 'deposit', reference: `deposit ${references++}`, at: 0 }
  await ledger.book(moved(event, amount, PREPAID, balanceOf(account)))
}

/** The customer's free balance, the leased part, and the operator's sales. */
export async function booksOf({ ledger }: Pick<Store, 'ledger'>) {
  const leases = await ledger.balances(`${balanceOf(ACCOUNT.id)}/`)
  for (const { amount } of leases) assert.ok(amount <= 0n, 'a lease was overdrawn')
  const leased = -leases.reduce((sum, { amount }) => sum + amount, 0n)
  const free = -(await ledger.balance(balanceOf(ACCOUNT.id)))
  assert.ok(free >= 0n, 'the balance was overdrawn')
  return { free, leased, sold: -(await ledger.balance(soldTo(ACCOUNT.id))) }
}
