import { type Atoms, formatUsdc, limits, systemRandom } from '../../lib/index.ts'
import type { Clock, ReceiptRow, Store } from '../../lib/interface/index.ts'
import { demoKey } from '../keys/demo-key.ts'
import { kindOf } from '../keys/format.ts'
import { hasRealMoney } from '../networks.ts'
import { createKeys, type Keys } from '../keys/keys.ts'
import type { Events } from '../events/events.ts'
import { watchedKeys } from '../events/watch-keys.ts'
import type { Log } from '../log.ts'
import type { NodeConfig } from '../node-config.ts'
import { profileFile, secretOf } from '../profile/profile.ts'
import { type CapLevel, DailyCaps } from '../spending/daily-caps.ts'
import { Spending } from '../spending/spending.ts'
import { closing } from '../parts/closing.ts'
import type { Money } from '../payments/money.ts'
import { AccountDeposits } from './account-deposits.ts'
import { AccountFunds } from './account-funds.ts'
import { AccountWithdrawals } from './account-withdrawals.ts'
import { Accounts } from './accounts.ts'
import { ALONE, type Coherence, SharedCoherence } from './coherence.ts'
import { Leases } from './leases.ts'
import { checkPepper } from './pepper-check.ts'
import { UnfundedAccounts } from './unfunded-accounts.ts'
import { UnpaidCalls } from './unpaid-calls.ts'

export interface HostingInit {
  readonly config: Pick<NodeConfig, 'profile' | 'network' | 'store' | 'demoKey'>
  readonly log: Log
  readonly clock: Clock
  /** The shared store if configured, else the node’s own. */
  readonly store: Store
  /** Peer id of this node. */
  readonly self: string
  /** Undefined if the node moves no money. */
  readonly money: () => Pick<Money, 'paymentScheme'> | undefined
  /** Receives events about keys, caps and accounts. Default: no events. */
  readonly events?: Pick<Events, 'emit'>
}

/** The parts that serve callers of this node’s ingress. */
export interface Hosting extends AsyncDisposable {
  readonly keys: Keys
  readonly spending: Spending
  readonly accounts: Accounts
  /** Coherence with other processes that share the store. */
  readonly coherence: Coherence
  readonly accountMoney: { readonly deposits: AccountDeposits; readonly withdrawals: AccountWithdrawals }
  /** Looks up the receipt that the API’s provider signed for a call of this node. */
  readonly receipt: (requestId: string) => Promise<ReceiptRow | undefined>
}

const SECRET_BYTES = 32

/** @throws SetupError `start_failed`, `config_invalid` */
export async function startHosting(init: HostingInit): Promise<Hosting> {
  const { config, log, clock, self: holder } = init
  await using started = new AsyncDisposableStack()
  const { profile } = config
  const network = config.network.name
  const isLive = hasRealMoney(config.network)
  const secret = await secretOf(profile, 'pepper', () => systemRandom.fill(new Uint8Array(SECRET_BYTES)))
  const { documents, ledger, signals, fencing } = init.store
  const refusal = () => init.store.refusal?.()
  if (config.store !== undefined) {
    await checkPepper({ documents, secret, network, path: profileFile(profile, 'pepper') })
  }
  const leases = new Leases({
    documents,
    ledger,
    clock,
    random: systemRandom,
    holder,
    refusal,
    ...(fencing && { fencing })
  })
  const coherence = signals === undefined ? ALONE : new SharedCoherence({ signals, clock, leases, holder })
  const own = createKeys({
    documents,
    secret,
    clock,
    random: systemRandom,
    network,
    isLive,
    coherence,
    ...(config.demoKey === undefined ? {} : { demo: demoKey(kindOf(isLive), config.demoKey) })
  })
  started.defer(() => own.close())
  const keys = init.events === undefined ? own : watchedKeys(own, init.events)
  await leases.start()
  started.defer(() => leases.stop())
  const onLow = (account: string, balance: Atoms) =>
    void init.events?.emit('account.balance_low', { account, balance: formatUsdc(balance) })
  const funds = new AccountFunds({ ledger, leases, clock, holder, log, onLow, refusal })
  started.defer(fencing?.onFenced(() => funds.forgetAll()) ?? (() => {}))
  started.defer(() => funds.stop())
  const caps = new DailyCaps({ clock, documents, onLevel: (level) => void tellCap(init, level) })
  started.defer(() => caps.stop())
  const unpaid = new UnpaidCalls({ clock, log, ...(init.events && { events: init.events }) })
  const unfunded = new UnfundedAccounts({ documents, ledger, keys, clock })
  const makeRoom = () => unfunded.makeRoom()
  const accounts = new Accounts({ documents, ledger, keys, makeRoom, clock, random: systemRandom })
  const books = { accounts, funds, documents, ledger, clock, random: systemRandom, holder, log }
  const holders = () => leases.holders()
  const deposits = new AccountDeposits({ ...books, holders, deposits: () => init.money()?.paymentScheme.deposits })
  const withdrawals = new AccountWithdrawals({ ...books, wallet: () => init.money()?.paymentScheme.wallet })
  for (const part of [deposits, withdrawals]) {
    await part.start()
    started.defer(() => part.stop())
  }
  return {
    keys,
    spending: new Spending({ caps, funds, onUnpaid: (error) => unpaid.tell(error) }),
    accounts,
    coherence,
    accountMoney: { deposits, withdrawals },
    receipt: async (requestId) => init.money()?.paymentScheme.receipt(requestId),
    ...closing(started.move())
  }
}

async function tellCap({ events }: HostingInit, { day, left, isReached }: CapLevel): Promise<void> {
  const resets_at = new Date((day.day + 1) * limits.DAY_MS).toISOString()
  const data = { key: day.key, daily_cap: formatUsdc(day.cap), left: formatUsdc(left), resets_at }
  await events?.emit(isReached ? 'cap.reached' : 'cap.nearly_reached', data)
}
