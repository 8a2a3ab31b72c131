import assert from 'node:assert/strict'
import { CLAIM_GAS, ETHER_ATOMS } from '../../../../lib/base/limits.ts'
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
  it('lasts for so many claims, and wants three in hand', async () => {
    const price = 10n ** 7n
    assert.equal((await tank(3n * CLAIM_GAS * price, price)).claims, 3n)
    ;(await tank(3n * CLAIM_GAS * price, price)).check()
    const low = await tank(3n * CLAIM_GAS * price - 1n, price)
    assert.throws(() => low.check(), { code: 'settlement_unavailable' })
  })

  it('weighs an amount against its gas', async () => {
    // A billion gas at a gwei is one ether.
    const dear = await tank(0n, 10n ** 9n)
    assert.equal(dear.pays(ETHER_ATOMS, 10n ** 9n), true)
    assert.equal(dear.pays(ETHER_ATOMS - 1n, 10n ** 9n), false)
  })

  it('takes gas for nothing as almost nothing', async () => {
    const free = await tank(10n ** 18n, 0n)
    free.check()
    assert.equal(free.pays(1n, CLAIM_GAS), true)
  })
})
