import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { asSoukError, createMemoryStore, systemRandom } from '../../../lib/index.ts'
import type { Deposits } from '../../../lib/interface/deposits.ts'
import { PAYMENT_MEMBER } from '../../../lib/interface/payment-scheme.ts'
import { AccountDeposits } from '../../../node/accounts/account-deposits.ts'
import { balanceOf } from '../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { type ChainProxy, proxyChain } from '../../helpers/chain-proxy.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hastyClock } from '../../helpers/hasty-clock.ts'
import { type KeylessBench, keylessBench } from '../../helpers/keyless-bench.ts'

const AMOUNT = 500_000n
const ACCOUNT = 'acct_1'

describe('a deposit whose transfer somebody else sends, at an endpoint whose logs lag behind its state', () => {
  let bench: KeylessBench
  let proxy: ChainProxy
  let deposits: Deposits
  let service: AccountDeposits
  let text: string
  const waits: string[] = []
  const store = createMemoryStore()

  before(async () => {
    bench = await keylessBench()
    await store.open()
    await bench.payer('customer', AMOUNT)
    proxy = await proxyChain(bench.parameters.rpcUrl)
    const { paymentScheme } = await bench.startOwner({ rpcUrl: proxy.url })
    const { documents, ledger } = store
    const log = { warn: (message: string) => void waits.push(message) }
    const common = { documents, ledger, clock: hastyClock, random: systemRandom, log }
    const accounts = new Accounts({ ...common, keys: { issue: () => assert.fail('no keys here') } })
    await documents.put('accounts', ACCOUNT, JSON.stringify({ id: ACCOUNT, label: '', createdAt: 0 }))
    deposits = paymentScheme.deposits
    const bind: Accounts['bind'] = async (account, payer) => {
      await bench.frontRun(text)
      proxy.hidesLogs = true
      return accounts.bind(account, payer)
    }
    service = new AccountDeposits({
      ...common,
      accounts: { bind },
      holders: async () => ['this node'],
      holder: 'this node',
      deposits: () => deposits
    })
    await service.start()
  })
  after(async () => {
    await service.stop()
    await bench.close()
    await proxy.close()
    await store.close()
  })

  it('waits for the logs, and is credited', async () => {
    const { members = {} } = deposits.ask(AMOUNT)
    const { accepts } = members[PAYMENT_MEMBER] as { accepts: never[] }
    const asked = { x402Version: 2, resource: { url: 'http://here', description: '', mimeType: '' }, accepts }
    const customer = x402Client.fromConfig(bench.stock('customer'))
    text = encodePaymentSignatureHeader(await customer.createPaymentPayload(asked))
    const deposited = service.deposit(ACCOUNT, AMOUNT, text).catch(asSoukError)
    await eventually('a search', 10_000, async () => waits[0])
    proxy.hidesLogs = false
    await deposited
    await eventually('the credit', 10_000, async () =>
      (await store.ledger.balance(balanceOf(ACCOUNT))) === -AMOUNT ? true : undefined
    )
  })
})
