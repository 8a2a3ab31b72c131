/**
 * A separate process. Spends from the tests' account in the PostgreSQL at `argv[2]` as holder `argv[3]`, several calls in
 * parallel, until nothing is left. Prints each charge's reference as soon as it is durable. Waits, as a node does, while the
 * database is unavailable, because a busy machine may delay a connection for seconds.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createPostgresStore, isSoukError, limits, systemClock, systemRandom } from '../../lib/index.ts'
import { AccountFunds } from '../../node/accounts/account-funds.ts'
import { Leases } from '../../node/accounts/leases.ts'
import { printLine } from './print-line.ts'

const WORKERS = 16
const PRICE = 1_000n
const ACCOUNT = { id: 'acct_1' }

const [, , url = '', holder = ''] = process.argv
const store = createPostgresStore({ url })
await whenAvailable(() => store.open())
const { ledger, documents } = store
const seams = { clock: systemClock, random: systemRandom }
const leases = new Leases({ ledger, documents, ...seams, holder })
const funds = new AccountFunds({
  ledger,
  leases,
  clock: systemClock,
  holder,
  log: { warn: (text) => assertNever(text) }
})
await whenAvailable(() => leases.start())
let calls = 0
await Promise.all(Array.from({ length: WORKERS }, spend))
await funds.stop()
await leases.stop()
await store.close()

async function spend(): Promise<void> {
  for (;;) {
    try {
      await whenAvailable(async () => funds.reserve(ACCOUNT, PRICE))
    } catch (error) {
      if (isSoukError(error) && error.code === 'insufficient_funds') return
      throw error
    }
    const reference = `${holder}/${process.pid}/${calls++}`
    await funds.charge(ACCOUNT, PRICE, reference)
    printLine(reference)
  }
}

async function whenAvailable(step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!isSoukError(error) || error.code !== 'store_unavailable') throw error
      await pause(limits.STORE_RETRY_MS)
    }
  }
}

function assertNever(text: string): void {
  throw new Error(text)
}
