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
import { tokenIssuer } from '../../helpers/token-issuer.ts'

const AMOUNT = 500_000n
const ACCOUNT = 'acct_1'

describe('a deposit that the token refuses after it was checked', () => {
  let bench: KeylessBench
  let proxy: ChainProxy
  let deposits: Deposits
  let service: AccountDeposits
  let text: string
  /** Runs between the check and the transfer. */
  let meanwhile: () => Promise<void>
  const waits: string[] = []
  const store = createMemoryStore()

  before(async () => {
    bench = await keylessBench()
    await store.open()
    proxy = await proxyChain(bench.parameters.rpcUrl)
    const { paymentScheme } = await bench.startOwner({ rpcUrl: proxy.url })
    const { documents, ledger } = store
    const log = { warn: (message: string) => void waits.push(message) }
    const common = { documents, ledger, clock: hastyClock, random: systemRandom, log }
    const accounts = new Accounts({ ...common, keys: { issue: () => assert.fail('no keys here') } })
    await documents.put('accounts', ACCOUNT, JSON.stringify({ id: ACCOUNT, label: '', createdAt: 0 }))
    deposits = paymentScheme.deposits
    const bind: Accounts['bind'] = async (account, payer) => {
      await meanwhile()
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

  beforeEach(async () => {
    waits.length = 0
    await bench.payer('customer', AMOUNT)
    const { members = {} } = deposits.ask(AMOUNT)
    const { accepts } = members[PAYMENT_MEMBER] as { accepts: never[] }
    const asked = { x402Version: 2, resource: { url: 'http://here', description: '', mimeType: '' }, accepts }
    const customer = x402Client.fromConfig(bench.stock('customer'))
    text = encodePaymentSignatureHeader(await customer.createPaymentPayload(asked))
  })
  /** Deposits, ends the trouble after the first refusal, and waits for the credit. */
  async function creditedAfter(end: () => Promise<void> | void): Promise<void> {
    const before = await store.ledger.balance(balanceOf(ACCOUNT))
    const deposited = service.deposit(ACCOUNT, AMOUNT, text).catch(asSoukError)
    await eventually('a refusal', 10_000, async () => waits[0])
    await end()
    await deposited
    await eventually('the credit', 10_000, async () => {
      // Only then the next one counts in the newest block.
      await bench.client.mine({ blocks: 1 })
      return (await store.ledger.balance(balanceOf(ACCOUNT))) === before - AMOUNT ? true : undefined
    })
  }

  it('waits for the logs of an endpoint that lag behind its state, if somebody else sent it', async () => {
    meanwhile = async () => {
      await bench.frontRun(text)
      proxy.hidesLogs = true
    }
    await creditedAfter(() => void (proxy.hidesLogs = false))
  })

  it('is sent again after a pause of the token', async () => {
    meanwhile = () => tokenIssuer(bench).pause()
    await creditedAfter(() => tokenIssuer(bench).unpause())
  })
})
