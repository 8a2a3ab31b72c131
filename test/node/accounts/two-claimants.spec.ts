import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { createMemoryStore, SoukError, systemClock, systemRandom } from '../../../lib/index.ts'
import type { Documents } from '../../../lib/interface/index.ts'
import { PAYMENT_MEMBER } from '../../../lib/interface/payment-scheme.ts'
import { AccountDeposits } from '../../../node/accounts/account-deposits.ts'
import { balanceOf, PREPAID } from '../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { type KeylessBench, keylessBench } from '../../helpers/keyless-bench.ts'

const AMOUNT = 500_000n

/** Uses the real USDC contract on a dev chain, and x402's own client. */
describe('one deposit that two accounts claim', () => {
  let bench: KeylessBench
  before(async () => {
    bench = await keylessBench({ isPatient: true })
  })
  after(() => bench.close())

  it('is credited to one of them, also if the other one looked before and records it afterwards', async () => {
    const store = createMemoryStore()
    const { paymentScheme } = await bench.startOwner({ store })
    const { deposits } = paymentScheme
    const { ledger } = store
    let slow: Promise<unknown> = Promise.resolve()
    /** A store whose writes of the second claim are slow. */
    const documents: Documents = Object.assign(Object.create(store.documents) as Documents, {
      async insert(...[collection, key, value, expiresAt]: Parameters<Documents['insert']>) {
        if (value.includes('acct_2')) await slow
        return store.documents.insert(collection, key, value, expiresAt)
      }
    })
    const ids = { holder: 'node', holders: async () => [] }
    const shared = { documents, ledger, clock: systemClock, random: systemRandom, ...ids, log: { warn() {} } }
    const accounts = new Accounts({ ...shared, keys: { issue: () => assert.fail('no keys here') } })
    for (const id of ['acct_1', 'acct_2']) {
      await documents.put('accounts', id, JSON.stringify({ id, label: '', createdAt: 0 }))
    }
    const service = new AccountDeposits({ ...shared, accounts, deposits: () => deposits })
    await bench.payer('claimant', 10n * AMOUNT)
    const { members = {} } = deposits.ask(AMOUNT)
    const { accepts } = members[PAYMENT_MEMBER] as { accepts: never[] }
    const asked = { x402Version: 2, resource: { url: 'http://here', description: '', mimeType: '' }, accepts }
    const payment = await x402Client.fromConfig(bench.stock('claimant')).createPaymentPayload(asked)
    const text = encodePaymentSignatureHeader(payment)
    const first = service.deposit('acct_1', AMOUNT, text)
    slow = first
    const second = await service.deposit('acct_2', AMOUNT, text).catch((error: unknown) => error)
    await first
    assert.ok(second instanceof SoukError && second.code === 'payment_id_conflict', String(second))
    const balances = await Promise.all(
      [balanceOf('acct_1'), balanceOf('acct_2'), PREPAID].map((a) => ledger.balance(a))
    )
    assert.deepEqual(balances, [-AMOUNT, 0n, AMOUNT])
    await service.stop()
  })
})
