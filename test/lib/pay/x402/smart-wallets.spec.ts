import assert from 'node:assert/strict'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { toHex } from 'viem/utils'
import type { Problem } from '../../../../lib/base/errors.ts'
import { CONTRACT_PAYMENTS_MAX } from '../../../../lib/base/limits/pay.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { actor, deployTest, send } from '../../../helpers/chain.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 payments of smart wallets', () => {
  const deployer = actor('deployer of wallets')
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let deploy: Awaited<ReturnType<typeof deployTest>>
  let url: string
  let nonces = 0n

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api/counter`
    await bench.fundGas(deployer.address.toLowerCase() as Address)
    deploy = await deployTest(bench, deployer, ['TestWallet'])
  })
  after(() => bench.close())
  beforeEach(() => {
    owner.api.runs = 0
  })

  interface Habits {
    readonly gas?: bigint
    readonly refusesTransactions?: boolean
  }
  type Wallet = Awaited<ReturnType<typeof deploy>>

  const change = (wallet: Wallet, { gas = 0n, refusesTransactions = false }: Habits) =>
    send(bench, deployer, { ...wallet, functionName: 'setHabits', args: [gas, refusesTransactions] })

  async function walletWith(habits: Habits = {}): Promise<Wallet> {
    const wallet = await deploy('TestWallet')
    await change(wallet, habits)
    await bench.mint(wallet.address.toLowerCase() as Address, USDC)
    return wallet
  }

  const post = (headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })

  /** Pays for a call with a signature that only the wallet's own code can judge. */
  async function payFrom({ address }: Wallet, signature = '0x1271'): Promise<Response> {
    const required = decodePaymentRequiredHeader((await post()).headers.get('payment-required')!)
    const accepted = required.accepts.find(({ scheme }) => scheme === 'exact')!
    const validBefore = String(Math.floor(Date.now() / 1_000) + 590)
    const nonce = toHex(++nonces, { size: 32 })
    const head = { from: address, to: accepted.payTo, value: accepted.amount, nonce }
    const authorization = { ...head, validAfter: '0', validBefore }
    const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
    return post({ 'payment-signature': encodePaymentSignatureHeader(payload) })
  }

  const gasOfOwner = () => bench.client.getBalance({ address: bench.owner.address })
  const codeOf = async (response: Response) => ((await response.json()) as Problem).code

  it('pay for a call, and a passkey that is checked without a precompile can sign', async () => {
    for (const gas of [0n, 350_000n]) {
      const wallet = await walletWith({ gas })
      const response = await payFrom(wallet)
      assert.equal(response.status, 200, await response.text())
      assert.equal(await bench.usdc(wallet.address), USDC - PRICE)
    }
  })

  it('are refused before the call if they take much gas of the owner, or are not deployed', async () => {
    const before = await gasOfOwner()
    const greedy = await payFrom(await walletWith({ gas: 1_000_000n }))
    assert.equal(greedy.status, 402)
    assert.match(((await greedy.json()) as Problem).detail ?? '', /takes too much gas to check the signature/)
    const address = actor('wallet to be deployed').address
    await bench.mint(address.toLowerCase() as Address, USDC)
    const wrapped = await payFrom({ address, abi: [] }, `0x${'00'.repeat(200)}${'6492'.repeat(16)}`)
    assert.deepEqual([wrapped.status, await codeOf(wrapped)], [402, 'payment_rejected'])
    assert.deepEqual([owner.api.runs, await gasOfOwner()], [0, before])
  })

  it('cost the owner no gas if they begin to take much of it during the call', async () => {
    const wallet = await walletWith()
    const { answer } = owner.api
    owner.api.answer = async () => {
      await change(wallet, { gas: 1_000_000n })
      return reply(200, {})
    }
    const before = await gasOfOwner()
    try {
      const response = await payFrom(wallet)
      assert.deepEqual([response.status, await codeOf(response)], [402, 'payment_rejected'])
    } finally {
      owner.api.answer = answer
    }
    assert.equal(await gasOfOwner(), before)
  })

  it('are refused as channels of keys whose accounts have code, if the code takes much gas', async () => {
    const payer = await bench.payer('key with code', USDC)
    const { address, abi } = await walletWith()
    await bench.client.setCode({ address: payer, bytecode: `0xef0100${address.slice(2)}` })
    await change({ address: payer, abi }, { gas: 1_000_000n })
    const before = await gasOfOwner()
    const { fetch } = bench.batch('key with code')
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    assert.deepEqual([response.status, owner.api.runs, await gasOfOwner()], [402, 0, before])
    assert.equal(await bench.usdc(payer), USDC)
    await change({ address: payer, abi }, {})
    const paid = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    assert.equal(paid.status, 200, await paid.text())
  })

  it('are refused for a day where many failed, and keys still pay', async () => {
    const wallet = await walletWith({ refusesTransactions: true })
    await bench.mint(wallet.address.toLowerCase() as Address, 10n * USDC)
    const many = CONTRACT_PAYMENTS_MAX + 5
    const responses = await Promise.all(Array.from({ length: many }, () => payFrom(wallet)))
    const codes = await Promise.all(responses.map(codeOf))
    const refused = codes.filter((code) => code === 'settlement_unavailable').length
    // The API also ran for each payment that failed in the tests above.
    assert.ok(refused >= 5)
    assert.equal(owner.api.runs, many - refused)
    const before = await gasOfOwner()
    const late = await payFrom(await walletWith())
    assert.deepEqual([late.status, await codeOf(late)], [503, 'settlement_unavailable'])
    assert.ok(Number(late.headers.get('retry-after')) > 0)
    assert.equal(await gasOfOwner(), before)
    await bench.payer('key', USDC)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    assert.equal((await bench.fetchOf('key')(url, init)).status, 200)
  })
})
