import { checksummed, formatUsdc, limits } from '../../lib/index.ts'
import type { Clock, Documents, SettledTransaction, Timer } from '../../lib/interface/index.ts'
import { formatEther } from '../payments/ether.ts'
import type { Money } from '../payments/money.ts'
import type { Events } from './events.ts'

export interface MoneyWatchInit {
  readonly money: Money
  readonly events: Pick<Events, 'emit'>
  readonly documents: Documents
  readonly clock: Clock
}

/** The latest transactions that were published. All of earlier blocks were published before. */
interface Told {
  readonly block: string
  readonly hashes: readonly string[]
}

const COLLECTION = 'events-told'
const KEY = 'transactions'

/** Polls for final transactions and for a low wallet balance. */
export class MoneyWatch {
  readonly #init: MoneyWatchInit
  readonly #low = new Set<'balance' | 'gas'>()
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(init: MoneyWatchInit) {
    this.#init = init
  }

  start(): void {
    this.#looking = this.look()
      .catch(() => undefined)
      .then(() => {
        if (!this.#isStopped) this.#timer = this.#init.clock.after(limits.MONEY_LOOK_MS, () => this.start())
      })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#looking
  }

  /** @throws SoukError `settlement_unavailable` if the chain does not respond; final transactions were published by then */
  async look(): Promise<void> {
    await this.#tellFinal()
    await this.#tellLow()
  }

  async #tellFinal(): Promise<void> {
    const { money, events, documents } = this.#init
    const found = (await money.paymentScheme.settlement.transactions.latest('all', limits.FINAL_TOLD_MAX)).toReversed()
    const kept = await documents.get(COLLECTION, KEY)
    const told = kept === undefined ? undefined : (JSON.parse(kept) as Told)
    const fresh = told === undefined ? [] : untold(found, told)
    for (const { key, hash, block, succeeded, cost } of fresh) {
      const what = key.split('/')[0] ?? ''
      const data = { what, transaction: hash, block: block.toString(), cost: formatEther(cost) }
      await events.emit(succeeded ? 'settlement.made' : 'settlement.failed', data)
    }
    // The first look only marks old transactions: publish no events for them.
    if (told === undefined || fresh.length > 0) await documents.put(COLLECTION, KEY, JSON.stringify(upTo(found)))
  }

  async #tellLow(): Promise<void> {
    const { money, events } = this.#init
    const wallet = checksummed(money.wallet)
    const { claimsInHand } = money.paymentScheme.settlement.redeemer.status()
    const hasOwned = money.paymentScheme.channels().some(({ role }) => role === 'owner')
    const isGasLow = hasOwned && claimsInHand !== undefined && claimsInHand < Number(limits.CLAIMS_IN_HAND_MIN)
    if (this.#isNews('gas', isGasLow)) {
      await events.emit('wallet.gas_low', { wallet, claims_in_hand: Math.floor(claimsInHand ?? 0) })
    }
    const pays = money.paymentScheme.channels().some(({ role }) => role === 'payer')
    const { latest } = await money.paymentScheme.wallet.balance()
    if (this.#isNews('balance', pays && latest < limits.WALLET_LOW_ATOMS)) {
      await events.emit('wallet.balance_low', { wallet, balance: formatUsdc(latest) })
    }
  }

  /** True once while the value is low, and again after it recovered in between. */
  #isNews(what: 'balance' | 'gas', isLow: boolean): boolean {
    if (!isLow) this.#low.delete(what)
    if (!isLow || this.#low.has(what)) return false
    this.#low.add(what)
    return true
  }
}

function untold(found: readonly SettledTransaction[], { block: first, hashes }: Told): SettledTransaction[] {
  const told = new Set(hashes)
  return found.filter(({ block, hash }) => block >= BigInt(first) && !told.has(hash))
}

/** Remembers them all, because a transaction may become final after one of a later block. */
function upTo(found: readonly SettledTransaction[]): Told {
  const first = found.length < limits.FINAL_TOLD_MAX ? 0n : (found[0]?.block ?? 0n)
  return { block: first.toString(), hashes: found.map(({ hash }) => hash) }
}
