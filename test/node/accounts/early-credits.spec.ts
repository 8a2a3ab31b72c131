import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { createMemoryStore, limits, systemRandom } from '../../../lib/index.ts'
import type { Deposits } from '../../../lib/interface/deposits.ts'
import { PAYMENT_MEMBER } from '../../../lib/interface/payment-scheme.ts'
import { AccountDeposits } from '../../../node/accounts/account-deposits.ts'
import { balanceOf } from '../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type KeylessBench, keylessBench, schemeClock } from '../../helpers/keyless-bench.ts'

const AMOUNT = limits.COUNTED_LATEST_ATOMS_MAX
const ACCOUNT = 'acct_1'
const BOUND_MS = 20_000

describe('a deposit that was credited early', () => {
  let bench: KeylessBench
  let wallet: Deposits
  let service: AccountDeposits
  const store = createMemoryStore()

  before(async () => {
    bench = await keylessBench()
    await store.open()
    await bench.payer('customer', 10n * AMOUNT)
    wallet = (await bench.startOwner()).paymentScheme.deposits
    await store.documents.put('accounts', ACCOUNT, JSON.stringify({ id: ACCOUNT, label: '', createdAt: 0 }))
    await start()
  })
  after(async () => {
    await service.stop()
    await bench.close()
    await store.close()
  })

  async function start(): Promise<void> {
    const { documents, ledger } = store
    const common = { documents, ledger, clock: schemeClock, random: systemRandom, log: { warn() {} } }
    const accounts = new Accounts({ ...common, keys: { issue: () => assert.fail('no keys here') } })
    const holder = 'node 0'
    service = new AccountDeposits({
      ...common,
      accounts,
      holder,
      holders: async () => [holder],
      deposits: () => wallet
    })
    await service.start()
  }

  async function payment(): Promise<string> {
    const { members = {} } = wallet.ask(AMOUNT)
    const { accepts } = members[PAYMENT_MEMBER] as { accepts: never[] }
    const asked = { x402Version: 2, resource: { url: 'http://here', description: '', mimeType: '' }, accepts }
    return encodePaymentSignatureHeader(
      await x402Client.fromConfig(bench.stock('customer')).createPaymentPayload(asked)
    )
  }
  const deposit = (text: string) => service.deposit(ACCOUNT, AMOUNT, text)
  const credited = (text: string) =>
    eventually('the credit', BOUND_MS, () =>
      deposit(text).then(
        ({ amount }) => amount,
        () => undefined
      )
    )

  it('counts against the next one until it is final, also after a restart, and is credited once', async () => {
    const first = await payment()
    await credited(first)
    await service.stop()
    await start()
    const second = await payment()
    await assert.rejects(deposit(second), { code: 'settlement_pending' })
    assert.equal(-(await store.ledger.balance(balanceOf(ACCOUNT))), AMOUNT, 'two count in the newest block')
    await bench.client.mine({ blocks: 3 })
    await credited(second)
    await credited(first)
    assert.equal(-(await store.ledger.balance(balanceOf(ACCOUNT))), 2n * AMOUNT)
    await eventually('no open deposit', BOUND_MS, async () => {
      await bench.client.mine({ blocks: 1 })
      return (await store.documents.list('account-deposits')).length === 0 ? true : undefined
    })
  })
})
