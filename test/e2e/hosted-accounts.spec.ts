import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { checksummed } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { type Wallets, walletsIn } from '../helpers/wallets.ts'

const USDC = 1_000_000n
const PRICE = 1_000n
const CALLS = 120
const ANSWERS_BEFORE_KILL = 40

type Json = Record<string, unknown>

/** A consumer with an x402 client and no node. The ingress is killed in between. */
describe('a hosted account', () => {
  let chain: ChainBench
  let home: SoukHome
  let wallets: Wallets
  let api: JudgeApi
  let ingress: NodeProcess
  let key: string

  const headers = () => ({ 'content-type': 'application/json', 'x-consumer-key': key })
  const call = (id: string) =>
    fetch(`${ingress.ingress}/api/demo/api/sold`, { method: 'POST', headers: headers(), body: JSON.stringify({ id }) })
  const account = async () => {
    const shown = (await (await fetch(`${ingress.ingress}/v1/account`, { headers: headers() })).json()) as Json
    const atoms = (member: string) => BigInt(Math.round(Number(shown[member]) * 1e6))
    return { balance: atoms('balance'), spent: atoms('spent') }
  }

  before(async () => {
    chain = await chainBench()
    home = await soukHome()
    api = await judgeApi('hosted')
    wallets = await walletsIn(home, chain)
    for (const name of ['owner', 'ingress']) await chain.fundGas(await wallets.create(name))
    const payout = checksummed(actor('provider of hosted').address.toLowerCase() as Address)
    const owner = await home.up('owner', '--no-ingress', ...wallets.flags, '--payout', payout)
    await owner.cli(`api register --name sold --protocol REST --endpoint ${api.url} --price 0.001`)
    ingress = await home.asProcess.up('ingress', ...wallets.flags, '--accounts', '--bootstrap', ...owner.p2p)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await api?.close()
    await chain?.close()
  })

  it('opens, receives a deposit, and pays for calls', async () => {
    const opened = await fetch(`${ingress.ingress}/v1/account`, { method: 'POST' })
    ;({ key } = (await opened.json()) as { key: string })
    assert.equal((await call('none')).status, 402)
    const client = {
      network: `eip155:${chain.parameters.chainId}`,
      client: new ExactEvmScheme(actor('hosted'))
    } as const
    await chain.mint(actor('hosted').address, 2n * USDC)
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [client], spendControls: { allowedAssets: true } })
    const paid = await pay(`${ingress.ingress}/v1/account/deposits`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ amount: '1' })
    })
    assert.equal(paid.status, 200, await paid.text())
    const answer = await call('first')
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(answer.headers.get('souk-charged'), '0.001')
    assert.deepEqual(await account(), { balance: USDC - PRICE, spent: PRICE })
  })

  it('issues a key that can only call, and shows the cost of its calls with signed receipts', async () => {
    const asked = await fetch(`${ingress.ingress}/v1/keys`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ apis: ['sold'] })
    })
    const made = (await asked.json()) as { key: string }
    assert.equal(asked.status, 201)
    const called = await fetch(`${ingress.ingress}/api/demo/api/sold`, {
      method: 'POST',
      headers: { ...headers(), 'x-consumer-key': made.key },
      body: JSON.stringify({ id: 'by another key' })
    })
    assert.equal(called.status, 200, await called.text())
    const receipt = await eventually('the signed receipt', 5_000, async () => {
      const shown = await fetch(`${ingress.ingress}/v1/receipts`, { headers: headers() })
      const { data } = (await shown.json()) as { data: Json[] }
      const found = data.find(({ request_id }) => request_id === called.headers.get('x-request-id'))
      return found?.['signature'] === 'valid' ? found : undefined
    })
    assert.deepEqual([receipt['charged'], receipt['status'], typeof receipt['proof']], ['0.001', 200, 'string'])
    assert.match(String(receipt['api']), /^sold@12D3KooW/)
  })

  it('is charged for each response, and at most for the sent calls, when the ingress is killed', async () => {
    let answered = 2
    const calls = Array.from({ length: CALLS }, async (_, i) => {
      const { status } = await call(`call ${i}`)
      if (status === 200 && ++answered === ANSWERS_BEFORE_KILL) process.kill(ingress.pid, 'SIGKILL')
    })
    await Promise.allSettled(calls)
    assert.ok(answered >= ANSWERS_BEFORE_KILL)
    await eventually('the ingress to be gone', 5_000, () => (ingress.isRunning() ? undefined : true))
    ingress = await home.asProcess.up('ingress', ...wallets.flags)
    const { balance, spent } = await account()
    assert.equal(balance + spent, USDC, 'part of the balance is lost')
    assert.ok(spent >= BigInt(answered) * PRICE, `${answered} calls succeeded, ${spent} was charged`)
    assert.ok(spent <= BigInt(CALLS + 2) * PRICE)
    assert.equal((await call('after')).status, 200)
    assert.deepEqual(await account(), { balance: balance - PRICE, spent: spent + PRICE })
  })

  it('is paid out to the address that paid the deposit', async () => {
    const { balance } = await account()
    const asked = await fetch(`${ingress.ingress}/v1/account/withdrawals`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ amount: '0.5' })
    })
    const { id, to } = (await asked.json()) as { id: string; to: string }
    assert.equal(asked.status, 202)
    assert.equal(to, actor('hosted').address.toLowerCase())
    await eventually('it to be sent', 15_000, async () => {
      const shown = await fetch(`${ingress.ingress}/v1/account/withdrawals/${id}`, { headers: headers() })
      return ((await shown.json()) as Json)['state'] === 'pending' ? undefined : true
    })
    assert.equal((await account()).balance, balance - USDC / 2n)
  })
})
