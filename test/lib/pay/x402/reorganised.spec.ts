import assert from 'node:assert/strict'
import type { Client } from 'viem'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 exact, paid in a block that a reorganisation removes', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api/counter`
  })
  after(() => bench.close())

  const balances = async () => {
    await bench.client.mine({ blocks: 1 })
    const { splitter } = bench
    const names = [`receivable/exact/${splitter}`, `direct/${splitter}`, `lost/exact/${splitter}`]
    return Promise.all(names.map((name) => owner.store.ledger.balance(name)))
  }

  it('is booked as lost once the payer has moved the money for good', async () => {
    const payer = await bench.payer('mover', USDC)
    await bench.fundGas(payer)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    assert.equal((await bench.fetchOf('mover')(url, init)).status, 200)
    assert.equal(await bench.usdc(payer), USDC - PRICE)
    assert.deepEqual(await owner.store.ledger.balance(`direct/${bench.splitter}`), PRICE)

    await bench.mining(false)
    await (bench.client as Client).request({ method: 'anvil_reorg', params: [1, []] } as never)
    assert.equal(await bench.usdc(payer), USDC)
    await bench.moveAway('mover', USDC)
    await bench.mining(true)
    assert.equal(await bench.usdc(payer), 0n)

    await eventually('the loss', 60_000, async () => ((await balances())[2] === PRICE ? true : undefined))
    assert.deepEqual(await balances(), [0n, 0n, PRICE])
  })
})
