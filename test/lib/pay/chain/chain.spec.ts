import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { encodeFunctionData, type Hex } from 'viem'
import { systemClock } from '../../../../lib/base/clock.ts'
import { fromHex } from '../../../../lib/base/hex.ts'
import type { ChainParameters } from '../../../../lib/interface/network.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { usdcAbi } from '../../../../lib/pay/contracts/contracts.generated.ts'
import { deploySplitters, verifySplitters } from '../../../../lib/pay/chain/deploy-splitters.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { splitterFactory } from '../../../../lib/pay/chain/splitter.ts'
import { signTransaction } from '../../../../lib/pay/chain/transaction.ts'
import { NETWORKS } from '../../../../node/networks.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'

const signerOf = (digit: string) => keySigner(fromHex(`0x${digit.repeat(64)}`, 32))
const unavailable = (words: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, 'settlement_unavailable')
  assert.match((error as Error).message, words)
  return true
}

describe('a chain over JSON-RPC', function () {
  let bench: ChainBench
  let chain: ReturnType<typeof createChain>
  const payer = signerOf('1')
  const other = signerOf('2')

  before(async () => {
    bench = await chainBench()
    chain = createChain(bench.parameters)
    await bench.fundGas(payer.address)
  })
  after(() => bench.close())

  const transfer = (amount: bigint) => ({
    to: bench.parameters.usdc.address,
    data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [other.address, amount] })
  })
  const signed = async (amount: bigint, change: { nonce?: number; maxFee?: bigint; from?: typeof payer } = {}) => {
    const from = change.from ?? payer
    const fees = await chain.fees()
    const nonce = change.nonce ?? (await chain.nonce(from.address, 'latest'))
    const transaction = { ...transfer(amount), chainId: bench.parameters.chainId, nonce, gas: 100_000n }
    const maxFee = change.maxFee ?? fees.maxFee
    const priced = { ...transaction, fees: { maxFee, tip: fees.tip < maxFee ? fees.tip : maxFee } }
    return signTransaction(priced, from)
  }

  it('verifies chain id, contracts and token', () => chain.verify())

  const wrong: Array<[string, RegExp, (parameters: ChainParameters) => ChainParameters]> = [
    ['another chain', /is of chain 31337; this network's money is on chain 8453/, (p) => ({ ...p, chainId: 8453 })],
    [
      'another channel contract',
      /channel contract at 0x4020.* is not the one that was checked/,
      (p) => ({ ...p, settlement: NETWORKS.base.chain.settlement })
    ],
    [
      'another collector',
      /deposit collector at 0x4020.* is not the one/,
      (p) => ({ ...p, collector: NETWORKS.base.chain.collector })
    ],
    [
      'no contract',
      /There is no channel contract/,
      (p) => ({ ...p, settlement: { ...p.settlement, address: other.address } })
    ],
    [
      'a token that signs under another name',
      /signs under another name or version than "USD Coin"/,
      (p) => ({ ...p, usdc: { ...p.usdc, name: 'USD Coin' } })
    ],
    ['no token', /There is no USDC/, (p) => ({ ...p, usdc: { ...p.usdc, address: other.address } })]
  ]
  for (const [what, words, change] of wrong) {
    it(`is rejected with ${what}`, () =>
      assert.rejects(createChain(change(bench.parameters)).verify(), unavailable(words)))
  }

  it('returns its blocks', async () => {
    const head = await chain.block('latest')
    assert.ok(head !== undefined)
    assert.deepEqual(await chain.block(head.number), head)
    assert.ok(Math.abs(head.at - Date.now()) < 60_000)
    assert.equal(await chain.block(head.number + 1_000n), undefined)
    for (const tag of ['safe', 'finalized'] as const) {
      const block = await chain.block(tag)
      assert.ok(block !== undefined && block.number <= head.number)
    }
  })

  it('returns balances and nonces', async () => {
    assert.equal(await chain.balance(payer.address, 'latest'), 0n)
    await bench.mint(payer.address, 5_000_000n)
    assert.equal(await chain.balance(payer.address, 'latest'), 5_000_000n)
    assert.equal(await chain.gas(payer.address), 10n ** 18n)
    assert.equal(await chain.gas(other.address), 0n)
    assert.equal(await chain.nonce(payer.address, 'latest'), 0)
    assert.equal(await chain.authorizationUsed(payer.address, `0x${'07'.repeat(32)}`), false)
  })

  it('returns zeros for unknown channels, for any number of channels', async () => {
    const ids = Array.from({ length: 450 }, (_, i): Hex => `0x${i.toString(16).padStart(64, '0')}`)
    const { block, channels } = await chain.channels(ids, 'latest')
    assert.ok(block.number > 0n)
    assert.equal(channels.length, 450)
    for (const channel of channels) assert.deepEqual(channel, { balance: 0n, claimed: 0n, refundNonce: 0n })
    assert.deepEqual((await chain.channels([], 'finalized')).channels, [])
    assert.deepEqual(await chain.receiver(other.address, 'latest'), { claimed: 0n, settled: 0n })
  })

  it('simulates a transaction without sending it', async () => {
    const good = await chain.simulate(payer.address, transfer(1n))
    assert.ok(good.ok && good.gas > 21_000n && good.gas < 100_000n)
    const bad = await chain.simulate(payer.address, transfer(10n ** 12n))
    assert.deepEqual(bad, { ok: false, reason: 'ERC20: transfer amount exceeds balance' })
    assert.equal(await chain.balance(other.address, 'latest'), 0n)
  })

  it('accepts repeated broadcasts of the same bytes, and returns the receipt', async () => {
    const { raw, hash } = await signed(7n)
    assert.equal(await chain.receipt(hash), undefined)
    await bench.client.setAutomine(false)
    assert.equal(await chain.broadcast(raw), 'accepted')
    assert.equal(await chain.broadcast(raw), 'accepted')
    assert.equal(await chain.receipt(hash), undefined)
    await bench.client.mine({ blocks: 1 })
    await bench.client.setAutomine(true)
    const receipt = await chain.receipt(hash)
    assert.ok(receipt?.succeeded)
    assert.ok(receipt.cost > receipt.gasUsed)
    assert.equal((await chain.block(receipt.blockNumber))?.hash, receipt.blockHash)
    assert.ok(['nonce_used', 'accepted'].includes(await chain.broadcast(raw)))
    assert.equal(await chain.balance(other.address, 'latest'), 7n)
  })

  it('reports why it rejects a transaction', async () => {
    assert.equal(await chain.broadcast((await signed(8n, { nonce: 0 })).raw), 'nonce_used')
    assert.equal(await chain.broadcast((await signed(8n, { from: other })).raw), 'no_gas')
    assert.equal(
      await chain.broadcast((await signed(8n, { maxFee: 1_500n })).raw).catch(() => 'refused'),
      'fee_too_low'
    )
    await bench.client.setAutomine(false)
    const nonce = await chain.nonce(payer.address, 'latest')
    assert.equal(await chain.broadcast((await signed(9n, { nonce })).raw), 'accepted')
    assert.equal(await chain.broadcast((await signed(10n, { nonce })).raw), 'fee_too_low')
    await bench.client.mine({ blocks: 1 })
    await bench.client.setAutomine(true)
  })

  it('reads any contract', async () => {
    const { usdc } = bench.parameters
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'decimals' })
    assert.equal(BigInt((await chain.read({ to: usdc.address, data })) ?? '0x0'), 6n)
    assert.equal(await chain.read({ to: other.address, data }), undefined)
    assert.equal(await chain.read({ to: bench.parameters.settlement.address, data }), undefined)
  })

  for (const [what, answer] of [
    ['is not there', undefined],
    ['answers with nonsense', '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'],
    ['answers with no JSON', '<html>']
  ] as const) {
    it(`is unavailable if the endpoint ${what}`, async () => {
      const server = createServer((_, response) => response.end(answer))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const closed = () => new Promise((resolve) => server.close(resolve))
      if (answer === undefined) await closed()
      const broken = createChain({ ...bench.parameters, rpcUrl: `http://127.0.0.1:${port}/v2/access-key` })
      for (const ask of [
        broken.verify(),
        broken.block('latest'),
        broken.balance(payer.address, 'latest'),
        broken.channels([], 'latest'),
        broken.broadcast('0x00'),
        broken.simulate(payer.address, transfer(1n))
      ]) {
        await assert.rejects(ask, (error: Error) => {
          assert.doesNotMatch(inspect(error), /access-key/)
          return unavailable(/^The chain endpoint does not respond\. Try again later\.$/)(error)
        })
      }
      if (answer !== undefined) {
        server.closeAllConnections()
        await closed()
      }
    })
  }

  describe('deploying the splitter factory of a network', () => {
    const treasury = signerOf('3').address

    it('puts the splitter factory at its computed address, and is safe to repeat', async () => {
      await assert.rejects(verifySplitters(chain, treasury), unavailable(/souk network create/))
      const deployed = await deploySplitters({ chain, clock: systemClock, treasury, signer: payer })
      assert.equal(deployed.factory.address, splitterFactory(treasury).address)
      assert.ok(deployed.transaction?.receipt.succeeded)
      console.log(`      factory: ${deployed.transaction.receipt.gasUsed} gas`)
      assert.equal((await verifySplitters(chain, treasury)).address, deployed.factory.address)
      const again = await deploySplitters({ chain, clock: systemClock, treasury, signer: payer })
      assert.equal(again.transaction, undefined)
    })

    it('rejects another chain, a missing treasury, and an account without gas', async () => {
      const rest = { clock: systemClock, signer: payer }
      const wrongChain = createChain({ ...bench.parameters, chainId: 84532 })
      await assert.rejects(deploySplitters({ ...rest, chain: wrongChain, treasury }), unavailable(/chain 84532/))
      const zero: Hex = `0x${'00'.repeat(20)}`
      await assert.rejects(deploySplitters({ ...rest, chain, treasury: zero }), { code: 'invalid_request' })
      const poor = { ...rest, chain, treasury: other.address, signer: other }
      await assert.rejects(deploySplitters(poor), unavailable(/too little ETH|refuse/))
    })
  })
})
