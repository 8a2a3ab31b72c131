import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '../../../lib/interface/signer.ts'
import { createChain } from '../../../lib/pay/chain/chain.ts'
import { usdcAbi } from '../../../lib/pay/contracts/contracts.generated.ts'
import { verifySplitters } from '../../../lib/pay/chain/deploy-splitters.ts'
import { faucet, startDevChain } from '../../../node/demo/chain/dev-chain.ts'
import { rpc } from '../../../node/demo/chain/rpc.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { demoAlone } from '../../helpers/demo-alone.ts'
import { eventually } from '../../helpers/eventually.ts'
import { encodeFunctionData, hexToString } from 'viem'

const somebody: Address = `0x${'12'.repeat(20)}`

describe('the dev chain', () => {
  it('matches the dev network’s parameters, and mines blocks by itself', async () => {
    const dev = await startDevChain()
    try {
      const chain = createChain(dev.parameters)
      await chain.verify()
      await verifySplitters(chain, dev.parameters.treasury ?? assert.fail())
      const first = await chain.block('finalized')
      await eventually('a final block', 10_000, async () => {
        const block = await chain.block('finalized')
        return (block?.number ?? 0n) > (first?.number ?? 0n) + 1n ? block : undefined
      })
    } finally {
      await dev.close()
    }
  })

  it('mines seldom while there is nothing to mine, because blocks fill its memory and its file', async () => {
    const dev = await startDevChain()
    try {
      let [head, since] = [await rpc(dev.url, 'eth_blockNumber'), performance.now()]
      await eventually('several seconds without a block', 15_000, async () => {
        const now = await rpc(dev.url, 'eth_blockNumber')
        if (now !== head) [head, since] = [now, performance.now()]
        return performance.now() - since > 5_000 || undefined
      })
      await dev.mint(somebody, 1n)
      const chain = createChain(dev.parameters)
      await eventually('the payment is final', 10_000, async () =>
        (await chain.balance(somebody, 'finalized')) === 1n ? true : undefined
      )
    } finally {
      await dev.close()
    }
  })

  it('hands out test USDC and gas, and its token is named as test money', async () => {
    const dev = await startDevChain({ mining: 'instant' })
    try {
      const chain = createChain(dev.parameters)
      await Promise.all([dev.mint(somebody, 5n), dev.mint(somebody, 7n)])
      await faucet(dev.url).mint(somebody, 8n)
      assert.equal(await chain.balance(somebody, 'latest'), 20n)
      await dev.fundGas(somebody, 3n)
      assert.equal(await chain.gas(somebody), 3n)
      const data = encodeFunctionData({ abi: usdcAbi, functionName: 'name' })
      assert.match(hexToString((await chain.read({ to: dev.parameters.usdc.address, data })) ?? '0x'), /play USDC/)
    } finally {
      await dev.close()
    }
  })

  it('simulates another network with its chain id and token', async () => {
    const dev = await startDevChain({ parameters: NETWORKS['base-sepolia'].chain, mining: 'instant' })
    try {
      const { settlement, collector } = NETWORKS.dev.chain
      await createChain({ ...dev.parameters, settlement, collector }).verify()
      // The dev chain's channel contract is not the real one, so the verification fails.
      await assert.rejects(createChain(dev.parameters).verify(), { code: 'settlement_unavailable' })
    } finally {
      await dev.close()
    }
  })

  it('never simulates a chain with real money', async () => {
    await assert.rejects(startDevChain({ parameters: NETWORKS.base.chain }), /Chain 8453 has real money/)
  })

  it('keeps its state in a file, if given one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'souk-chain-'))
    try {
      const stateFile = join(folder, 'chain.json')
      const first = await startDevChain({ stateFile, mining: 'instant' })
      await first.mint(somebody, 42n)
      await first.close()
      const second = await startDevChain({ stateFile, mining: 'instant' })
      const chain = createChain(second.parameters)
      await chain.verify()
      assert.equal(await chain.balance(somebody, 'latest'), 42n)
      await second.mint(somebody, 1n)
      assert.equal(await chain.balance(somebody, 'latest'), 43n)
      await second.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('reports that its port is taken', async () => {
    const dev = await startDevChain({ mining: 'instant' })
    try {
      await assert.rejects(startDevChain({ port: Number(new URL(dev.url).port) }), /ended: .*address.* in use/is)
    } finally {
      await dev.close()
    }
  })

  it('runs as a process, and ends anvil when it ends', async () => {
    const alone = await demoAlone('chain')
    assert.equal(await rpc(alone.url, 'eth_chainId'), '0x7a69')
    assert.equal(await alone.end('SIGTERM'), 0)
    await assert.rejects(rpc(alone.url, 'eth_chainId'))
  })
})
