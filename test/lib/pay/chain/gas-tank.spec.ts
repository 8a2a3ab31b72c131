import assert from 'node:assert/strict'
import { CLAIM_GAS, ETHER_ATOMS } from '../../../../lib/base/limits/chain.ts'
import type { Chain } from '../../../../lib/interface/chain.ts'
import { GasTank } from '../../../../lib/pay/chain/gas-tank.ts'

const tank = async (wei: bigint, maxFee: bigint) => {
  const chain = { gas: async () => wei, fees: async () => ({ maxFee, tip: 0n }) } as unknown as Chain
  const tank = new GasTank(chain, '0x00')
  assert.throws(() => tank.check(), { code: 'settlement_unavailable' })
  assert.equal(tank.claims, undefined)
  assert.equal(tank.pays(10n ** 12n, 1n), false)
  await tank.look()
  return tank
}

describe('the gas tank', () => {
  it('reports how many claims it pays for, and requires a reserve of three', async () => {
    const price = 10n ** 7n
    assert.equal((await tank(3n * CLAIM_GAS * price, price)).claims, 3n)
    ;(await tank(3n * CLAIM_GAS * price, price)).check()
    const low = await tank(3n * CLAIM_GAS * price - 1n, price)
    assert.throws(() => low.check(), { code: 'settlement_unavailable' })
  })

  it('never spends the reserve on a payer, for any number of pending steps', async () => {
    const price = 10n ** 7n
    const full = await tank((3n * CLAIM_GAS + 200n) * price, price)
    full.check(200n)
    assert.throws(() => full.check(201n), { code: 'settlement_unavailable' })
    const release = full.reserve(150n)
    full.check(50n)
    assert.throws(() => full.check(51n), { code: 'settlement_unavailable' })
    // The pending gas of an earlier process counts if it is higher.
    full.check(20n, 180n)
    assert.throws(() => full.check(20n, 181n), { code: 'settlement_unavailable' })
    release()
    // Mined, but not included in the last read.
    full.check(50n)
    assert.throws(() => full.check(51n), { code: 'settlement_unavailable' })
    await full.look()
    full.check(200n)
  })

  it('computes the cost of gas, rounded up', async () => {
    const dear = await tank(0n, 10n ** 9n)
    assert.equal(dear.cost(10n ** 9n), ETHER_ATOMS)
    assert.equal((await tank(0n, 1n)).cost(1n), 1n)
  })

  it('compares an amount with its gas cost', async () => {
    // A billion gas at one gwei is one ether.
    const dear = await tank(0n, 10n ** 9n)
    assert.equal(dear.pays(ETHER_ATOMS, 10n ** 9n), true)
    assert.equal(dear.pays(ETHER_ATOMS - 1n, 10n ** 9n), false)
  })

  it('treats free gas as almost free', async () => {
    const free = await tank(10n ** 18n, 0n)
    free.check()
    assert.equal(free.pays(1n, CLAIM_GAS), true)
  })
})
