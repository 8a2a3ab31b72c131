import assert from 'node:assert/strict'
import { type Abi, encodeFunctionData, getAddress, type Hex } from 'viem'
import { splitterAbi, splitterFactoryAbi } from '../../../../lib/pay/contracts/contracts.generated.ts'
import { splitterFactory } from '../../../../lib/pay/chain/splitter.ts'
import { actor, type ChainBench, chainBench, deployTest, send } from '../../../helpers/chain.ts'

/** The test token's error `Blocked(address)`, which the splitter's ABI lacks. */
const BLOCKED = /0x75e91ce7/

/** A gas limit for the driver's many steps, because estimating would run them several times. */
const GAS = 29_000_000n

describe('the splitter', () => {
  let bench: ChainBench
  let deploy: Awaited<ReturnType<typeof deployTest>>
  const anybody = actor('anybody')
  const treasury = '0x7472656173757279000000000000000000000001'
  const factory = splitterFactory(treasury)
  const onFactory = { address: factory.address, abi: splitterFactoryAbi } as const

  before(async () => {
    bench = await chainBench()
    await bench.fundGas(lower(anybody.address), 10n ** 20n)
    deploy = await deployTest(bench, anybody, ['TestToken', 'SplitterDriver'])
  })
  after(() => bench.close())

  let providers = 0
  /** A provider with its splitter, a token, and functions to query them. */
  async function fresh() {
    const provider = lower(actor(`provider ${providers++}`).address)
    const token = await deploy('TestToken')
    await send(bench, anybody, { ...onFactory, functionName: 'create', args: [provider] })
    const splitter = { address: factory.splitterOf(provider), abi: splitterAbi }
    const read = async (abi: Abi | readonly unknown[], address: Hex, functionName: string, args: readonly unknown[]) =>
      bench.client.readContract({ abi: abi as Abi, address, functionName, args })
    return {
      provider,
      token,
      splitter,
      mint: (amount: bigint) =>
        send(bench, anybody, { ...token, functionName: 'mint', args: [splitter.address, amount] }),
      block: (account: Hex, isBlocked: boolean) =>
        send(bench, anybody, { ...token, functionName: 'setBlocked', args: [account, isBlocked] }),
      pay: (functionName: 'distribute' | 'releaseProvider' | 'releaseTreasury') =>
        send(bench, anybody, { ...splitter, functionName, args: [token.address] }),
      balance: (account: Hex) => read(token.abi, token.address, 'balanceOf', [account]),
      owed: () => read(splitterAbi, splitter.address, 'owed', [token.address])
    }
  }

  it('has the address that the factory and our own computation give', async () => {
    const provider = lower(actor('address').address)
    const { client } = bench
    const splitter = factory.splitterOf(provider)
    assert.equal(await client.readContract({ ...onFactory, functionName: 'treasury' }), getAddress(treasury))
    assert.equal(await client.readContract({ ...onFactory, functionName: 'template' }), getAddress(factory.template))
    assert.equal(
      await client.readContract({ ...onFactory, functionName: 'splitterOf', args: [provider] }),
      getAddress(splitter)
    )
    assert.equal(await client.getCode({ address: splitter }), undefined)
    await send(bench, anybody, { ...onFactory, functionName: 'create', args: [provider] })
    assert.deepEqual(await client.readContract({ address: splitter, abi: splitterAbi, functionName: 'payees' }), [
      getAddress(provider),
      getAddress(treasury),
      500
    ])
  })

  it('is created once, and creating it again changes nothing', async () => {
    const { provider, splitter } = await fresh()
    const receipt = await send(bench, anybody, { ...onFactory, functionName: 'create', args: [provider] })
    assert.equal(receipt.logs.length, 0)
    assert.notEqual(await bench.client.getCode({ address: splitter.address }), undefined)
  })

  it('receives money before it exists, and the first payout creates it', async () => {
    const provider = lower(actor('early').address)
    const token = await deploy('TestToken')
    await send(bench, anybody, { ...token, functionName: 'mint', args: [factory.splitterOf(provider), 1_000n] })
    const args = [provider, token.address]
    await send(bench, anybody, { ...onFactory, functionName: 'distribute', args })
    const balance = (account: Hex) =>
      bench.client.readContract({ ...token, functionName: 'balanceOf', args: [account] })
    assert.deepEqual([await balance(provider), await balance(treasury)], [950n, 50n])
  })

  it('pays exactly 5%, rounded down, of 10,000 atoms that arrive one by one', async () => {
    const { splitter, token, provider, balance } = await fresh()
    const driver = await deploy('SplitterDriver', [splitter.address, token.address])
    for (let done = 0; done < 10_000; done += 500) {
      await send(bench, anybody, { ...driver, functionName: 'atoms', args: [500n], gas: GAS })
    }
    assert.deepEqual([await balance(provider), await balance(treasury)], [9_500n, 500n])
  })

  it('owes exact amounts, for random deposits and payouts in any order', async () => {
    const { splitter, token } = await fresh()
    const driver = await deploy('SplitterDriver', [splitter.address, token.address])
    for (let seed = 1n; seed <= 10n; seed++) {
      await send(bench, anybody, { ...driver, functionName: 'walk', args: [seed, 200n], gas: GAS })
    }
  })

  it('divides the largest bookable amount without overflow', async () => {
    const { mint, owed, pay, balance, provider } = await fresh()
    const all = 2n ** 128n - 1n
    await mint(all)
    assert.deepEqual(await owed(), [all - all / 20n, all / 20n])
    await pay('distribute')
    assert.deepEqual([await balance(provider), await balance(treasury)], [all - all / 20n, all / 20n])
  })

  it('pays one side without the other', async () => {
    const { mint, pay, balance, provider } = await fresh()
    await mint(99n)
    await pay('releaseProvider')
    assert.deepEqual([await balance(provider), await balance(treasury)], [95n, 0n])
    await mint(1n)
    await pay('releaseTreasury')
    assert.deepEqual([await balance(provider), await balance(treasury)], [95n, 5n])
    await assert.rejects(pay('releaseProvider'), /NothingOwed/)
    await assert.rejects(pay('releaseTreasury'), /NothingOwed/)
    assert.equal((await pay('distribute')).logs.length, 0)
  })

  for (const side of ['provider', 'treasury'] as const) {
    it(`pays the other side while the token refuses the ${side}, and the ${side} later`, async () => {
      const { mint, pay, balance, provider, block, owed } = await fresh()
      const blocked = side === 'provider' ? provider : treasury
      await mint(1_000n)
      await block(blocked, true)
      await pay('distribute')
      const now = [await balance(provider), await balance(treasury)]
      assert.deepEqual(now, side === 'provider' ? [0n, 50n] : [950n, 0n])
      assert.deepEqual(await owed(), side === 'provider' ? [950n, 0n] : [0n, 50n])
      await assert.rejects(pay(side === 'provider' ? 'releaseProvider' : 'releaseTreasury'), BLOCKED)
      await mint(1_000n)
      await pay('distribute')
      await block(blocked, false)
      await pay('distribute')
      assert.deepEqual([await balance(provider), await balance(treasury)], [1_900n, 100n])
    })
  }

  for (const attack of ['distribute', 'releaseProvider', 'releaseTreasury'] as const) {
    it(`blocks re-entry through ${attack} by a token that calls back`, async () => {
      const { mint, pay, balance, provider, token, splitter } = await fresh()
      const data = encodeFunctionData({ abi: splitterAbi, functionName: attack, args: [token.address] })
      await send(bench, anybody, { ...token, functionName: 'setAttack', args: [splitter.address, data] })
      await mint(1_000n)
      await pay('distribute')
      assert.deepEqual([await balance(provider), await balance(treasury)], [950n, 50n])
      assert.equal(await bench.client.readContract({ ...token, functionName: 'attackWorked' }), false)
    })
  }

  it('keeps separate books for each token', async () => {
    const { mint, pay, splitter, balance, provider } = await fresh()
    const other = await deploy('TestToken')
    await send(bench, anybody, { ...other, functionName: 'mint', args: [splitter.address, 40n] })
    await mint(1_000n)
    await pay('distribute')
    assert.deepEqual([await balance(provider), await balance(treasury)], [950n, 50n])
    const args = [other.address] as const
    assert.deepEqual(await bench.client.readContract({ ...splitter, functionName: 'owed', args }), [38n, 2n])
  })

  it('owes nothing more of a token whose balance shrank by itself', async () => {
    const { mint, pay, splitter, token, owed } = await fresh()
    await mint(1_000n)
    await pay('releaseProvider')
    await send(bench, anybody, { ...token, functionName: 'burn', args: [splitter.address, 50n] })
    assert.deepEqual(await owed(), [0n, 47n])
    assert.equal((await pay('distribute')).logs.length, 1)
  })

  it('cannot be used without payees', async () => {
    const args = [`0x${'00'.repeat(20)}`] as const
    for (const functionName of ['create', 'splitterOf'] as const) {
      await assert.rejects(send(bench, anybody, { ...onFactory, functionName, args }), /ZeroAddress/)
    }
    const call = { address: factory.template, abi: splitterAbi, args: [bench.parameters.usdc.address] } as const
    for (const functionName of ['distribute', 'releaseProvider', 'releaseTreasury'] as const) {
      await assert.rejects(send(bench, anybody, { ...call, functionName }), /NotAClone/)
    }
    const nobody = splitterFactory(`0x${'00'.repeat(20)}`)
    const data: Hex = `0x${Buffer.from(nobody.initCode).toString('hex')}`
    await assert.rejects(bench.client.call({ data, account: anybody.address }), /reverted/)
  })

  it('costs as much gas as the design assumes', async () => {
    const { mint, pay } = await fresh()
    const provider = lower(actor('gas').address)
    const { usdc } = bench.parameters
    await bench.mint(factory.splitterOf(provider), 1_000_000n)
    const first = await send(bench, anybody, {
      ...onFactory,
      functionName: 'distribute',
      args: [provider, usdc.address]
    })
    await bench.mint(factory.splitterOf(provider), 1_000_000n)
    const later = await send(bench, anybody, {
      address: factory.splitterOf(provider),
      abi: splitterAbi,
      functionName: 'distribute',
      args: [usdc.address]
    })
    await mint(20n)
    await pay('distribute')
    console.log(`      first distribution ${first.gasUsed} gas, later ${later.gasUsed}`)
    assert.ok(first.gasUsed < 190_000n)
    assert.ok(later.gasUsed < 80_000n)
  })
})

const lower = (address: Hex): Hex => address.toLowerCase() as Hex
