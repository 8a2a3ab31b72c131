import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { createMemoryStore, keySigner, systemClock, systemRandom } from '../../../lib/index.ts'
import type { Deposits } from '../../../lib/interface/deposits.ts'
import { PAYMENT_MEMBER } from '../../../lib/interface/payment-scheme.ts'
import { AccountDeposits } from '../../../node/accounts/account-deposits.ts'
import { balanceOf } from '../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { type KeylessBench, keylessBench } from '../../helpers/keyless-bench.ts'

const AMOUNT = 500_000n
const ACCOUNT = 'acct_1'

/** Two ingress nodes behind a load balancer, with a wallet each and one store of accounts. */
describe('a deposit that one ingress node asked for and another one receives', () => {
  let bench: KeylessBench
  let services: AccountDeposits[]
  let wallets: Deposits[]
  let living: string[]
  const store = createMemoryStore()
  const balance = async () => -(await store.ledger.balance(balanceOf(ACCOUNT)))

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    await store.open()
    await bench.payer('customer', 10n * AMOUNT)
    const second = keySigner(Buffer.alloc(32, 22))
    await bench.fundGas(second.address)
    const owners = [await bench.startOwner(), await bench.startOwner({ signer: second })]
    const { documents, ledger } = store
    const common = { documents, ledger, clock: systemClock, random: systemRandom, log: { warn() {} } }
    const accounts = new Accounts({ ...common, keys: { issue: () => assert.fail('no keys here') } })
    await documents.put('accounts', ACCOUNT, JSON.stringify({ id: ACCOUNT, label: '', createdAt: 0 }))
    wallets = owners.map(({ paymentScheme }) => paymentScheme.deposits)
    services = wallets.map((deposits, i) => {
      const holders = async () => living
      return new AccountDeposits({ ...common, accounts, holders, holder: `node ${i}`, deposits: () => deposits })
    })
    await Promise.all(services.map((service) => service.start()))
  })
  beforeEach(() => {
    living = ['node 0', 'node 1']
  })
  after(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await bench.close()
    await store.close()
  })

  async function paymentTo({ ask }: Deposits): Promise<string> {
    const { members = {} } = ask(AMOUNT)
    const { accepts } = members[PAYMENT_MEMBER] as { accepts: never[] }
    const asked = { x402Version: 2, resource: { url: 'http://here', description: '', mimeType: '' }, accepts }
    return encodePaymentSignatureHeader(
      await x402Client.fromConfig(bench.stock('customer')).createPaymentPayload(asked)
    )
  }

  it('is credited once, and arrives in the wallet of the first one', async () => {
    const [first, second] = wallets as [Deposits, Deposits]
    const text = await paymentTo(first)
    const { amount } = await services[1]!.deposit(ACCOUNT, AMOUNT, text)
    const arrived = await Promise.all([first, second].map(({ wallet }) => bench.usdc(wallet)))
    assert.deepEqual([amount, await balance(), ...arrived], [AMOUNT, AMOUNT, AMOUNT, 0n])
    const again = await Promise.all(services.map((service) => service.deposit(ACCOUNT, AMOUNT, text)))
    assert.deepEqual([again.map((done) => done.amount), await balance()], [[AMOUNT, AMOUNT], AMOUNT])
  })

  it('is refused if the node that asked for it is gone: its wallet may be lost', async () => {
    const [first] = wallets as [Deposits]
    const text = await paymentTo(first)
    living = ['node 1']
    await assert.rejects(services[1]!.deposit(ACCOUNT, AMOUNT, text), { code: 'payment_rejected' })
    assert.equal(await balance(), AMOUNT)
  })
})
