import assert from 'node:assert/strict'
import { asSoukError } from '../../../../lib/base/errors.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { FinalTransactions } from '../../../../lib/pay/chain/final-transactions.ts'
import { nodeWallet } from '../../../../lib/pay/chain/node-wallet.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'
import { submitterBench } from '../../../helpers/submitter-bench.ts'
import { tokenIssuer } from '../../../helpers/token-issuer.ts'

const TO: Address = `0x${'ab'.repeat(20)}`

describe('the wallet of a node', () => {
  let bench: ChainBench
  let account: Awaited<ReturnType<typeof submitterBench>>

  before(async () => {
    bench = await chainBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    account = await submitterBench(bench)
  })
  afterEach(() => account.close())

  async function start() {
    const { chain, signer, store } = account
    const { documents } = store
    const submitter = await account.start()
    const transactions = new FinalTransactions(documents, chain.parameters.chainId)
    await transactions.start()
    submitter.onFinal((mined) => transactions.add(mined))
    const wallet = nodeWallet({ chain, address: signer.address, submitter, transactions, documents })
    return { submitter, wallet }
  }

  for (const isFinal of [false, true]) {
    it(`sends nothing more under the id of a withdrawal that is ${isFinal ? 'final' : 'in a block'}`, async () => {
      const { submitter, wallet } = await start()
      const withdrawal = { to: TO, amount: 5n, id: 'mine' }
      const { hash, key } = await wallet.withdraw(withdrawal)
      if (isFinal) await account.final(submitter, key)
      await assert.rejects(wallet.withdraw({ ...withdrawal, amount: 6n }), { code: 'payment_id_conflict' })
      await assert.rejects(wallet.withdraw({ ...withdrawal, to: `0x${'cd'.repeat(20)}` }), {
        code: 'payment_id_conflict'
      })
      assert.equal((await wallet.withdraw(withdrawal)).hash, hash)
      assert.equal(await account.sent(), 5n)
    })
  }

  it('says why the token refuses a withdrawal', async () => {
    const { wallet } = await start()
    const frozen: Address = `0x${'fe'.repeat(20)}`
    await tokenIssuer(bench).freeze(frozen)
    await assert.rejects(wallet.withdraw({ to: frozen, amount: 5n, id: 'frozen' }), {
      code: 'payment_rejected',
      message: /account is blacklisted/
    })
    assert.equal(await account.sent(), 0n)
  })

  it('sends one of two withdrawals that begin at once under one id', async () => {
    const { wallet } = await start()
    const codeOf = (error: unknown) => asSoukError(error).code
    const both = [5n, 6n].map((amount) => wallet.withdraw({ to: TO, amount, id: 'mine' }).catch(codeOf))
    const [first, second] = await Promise.all(both)
    const [sent] = [first, second].flatMap((each, i) => (typeof each === 'object' ? [BigInt(5 + i)] : []))
    assert.ok([first, second].includes('payment_id_conflict'))
    assert.equal(await account.sent(), sent)
  })

  it('takes another amount under an id whose withdrawal was refused', async () => {
    const { wallet } = await start()
    const { latest } = await wallet.balance()
    await assert.rejects(wallet.withdraw({ to: TO, amount: latest + 1n, id: 'mine' }), { code: 'insufficient_funds' })
    await wallet.withdraw({ to: TO, amount: 5n, id: 'mine' })
    assert.equal(await account.sent(), 5n)
  })
})
