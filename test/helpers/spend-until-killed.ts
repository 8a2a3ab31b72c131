/**
 * A separate process. Spends from the tests' account in the PostgreSQL at `argv[2]` as holder `argv[3]`, several calls in
 * parallel, until nothing is left. Prints each charge's reference as soon as it is durable.
 */
import { writeSync } from 'node:fs'
import { createPostgresStore, isSoukError, systemClock, systemRandom } from '../../lib/index.ts'
import { AccountFunds } from '../../node/accounts/account-funds.ts'
import { Leases } from '../../node/accounts/leases.ts'

const WORKERS = 16
const PRICE = 1_000n
const ACCOUNT = { id: 'acct_1' }

const [, , url = '', holder = ''] = process.argv
const store = createPostgresStore({ url })
await store.open()
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
await leases.start()
let calls = 0
await Promise.all(Array.from({ length: WORKERS }, spend))
await funds.stop()
await leases.stop()
await store.close()

async function spend(): Promise<void> {
  for (;;) {
    try {
      await funds.reserve(ACCOUNT, PRICE)
    } catch (error) {
      if (isSoukError(error) && error.code === 'insufficient_funds') return
      throw error
    }
    const reference = `${holder}/${process.pid}/${calls++}`
    await funds.charge(ACCOUNT, PRICE, reference)
    writeSync(1, `${reference}\n`)
  }
}

function assertNever(text: string): void {
  throw new Error(text)
}
