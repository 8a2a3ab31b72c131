import assert from 'node:assert/strict'
import type { Address, BlockTag } from '../../../lib/interface/index.ts'
import { Unsettled } from '../../../node/accounts/unsettled.ts'

const USDC = 1_000_000n
const payer = (digit: number): Address => `0x${String(digit % 10).repeat(40)}`
const [A, B] = [payer(1), payer(2)]
const counts = (unsettled: Unsettled, payer: Address, amount: bigint, depth: BlockTag): boolean =>
  unsettled.counts('new', { payer, amount, depth })

describe('deposits that are not final', () => {
  it('count at once up to 1 USDC, when safe up to 25, and above that when final', () => {
    const unsettled = new Unsettled()
    const depths = (amount: bigint) =>
      (['latest', 'safe', 'finalized'] as const).map((depth) => counts(unsettled, A, amount, depth))
    assert.deepEqual(depths(USDC), [true, true, true])
    assert.deepEqual(depths(USDC + 1n), [false, true, true])
    assert.deepEqual(depths(25n * USDC), [false, true, true])
    assert.deepEqual(depths(25n * USDC + 1n), [false, false, true])
  })

  it('count together per payer', () => {
    const unsettled = new Unsettled()
    unsettled.add('1', { payer: A, amount: USDC, depth: 'latest' })
    assert.equal(counts(unsettled, A, 1n, 'latest'), false)
    assert.equal(counts(unsettled, B, USDC, 'latest'), true)
    unsettled.add('2', { payer: A, amount: 24n * USDC, depth: 'safe' })
    assert.equal(counts(unsettled, A, 1n, 'safe'), false)
    unsettled.delete('2')
    assert.equal(counts(unsettled, A, 24n * USDC, 'safe'), true)
    unsettled.add('3', { payer: B, amount: 500n * USDC, depth: 'finalized' })
    assert.equal(counts(unsettled, B, USDC, 'latest'), true, 'final deposits are settled')
  })

  it('count at once up to twenty dollars in all', () => {
    const unsettled = new Unsettled()
    for (let i = 0; i < 20; i++) {
      const one: Address = `0x${i.toString(16).padStart(40, '0')}`
      assert.equal(counts(unsettled, one, USDC, 'latest'), true)
      unsettled.add(`${i}`, { payer: one, amount: USDC, depth: 'latest' })
    }
    assert.equal(counts(unsettled, A, 1n, 'latest'), false)
    assert.equal(counts(unsettled, A, 1n, 'safe'), true)
  })

  it('count once, although one is credited again', () => {
    const unsettled = new Unsettled()
    const deposit = { payer: A, amount: USDC, depth: 'latest' } as const
    unsettled.add('1', deposit)
    assert.equal(unsettled.counts('1', deposit), true)
    assert.equal(unsettled.counts('2', deposit), false)
    unsettled.add('1', { ...deposit, depth: 'finalized' })
    assert.equal(unsettled.counts('2', deposit), true, 'the first is final')
  })
})
