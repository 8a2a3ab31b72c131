import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { keccak256 } from 'viem/utils'
import { CREATE2_DEPLOYER, splitterFactory } from '../../lib/pay/chain/splitter.ts'
import { splitterFactoryCode } from '../../lib/pay/contracts/contracts.generated.ts'
import { NETWORKS } from '../../node/networks.ts'
import { type ChainBench, chainBench } from '../helpers/chain.ts'
import { read } from './markdown.ts'

describe('docs: the contracts', () => {
  let page: string
  let bench: ChainBench
  before(async () => {
    page = await read('docs/reference/contracts.md')
    bench = await chainBench()
  })
  after(() => bench.close())

  const names = (texts: readonly string[]) => {
    for (const text of texts) assert.ok(page.includes(text), text)
  }

  it('have the addresses and the code hashes of every built-in network', () => {
    for (const { name, chain } of Object.values(NETWORKS)) {
      const { chainId, settlement, collector, usdc, treasury = 'none yet' } = chain
      names([name, `${chainId}`, usdc.address, treasury])
      for (const { address, codeHash } of [settlement, collector]) names([address, codeHash])
    }
  })

  it('have the splitter factory, as it is on the dev chain', async () => {
    const { address, template } = splitterFactory(NETWORKS.dev.chain.treasury ?? assert.fail())
    names([CREATE2_DEPLOYER, address, template, keccak256(splitterFactoryCode)])
    for (const at of [address, template]) names([keccak256((await bench.client.getCode({ address: at })) ?? '0x')])
  })

  it('name tests and sources that exist', async () => {
    const files = [...page.matchAll(/`((?:test|lib|node|\.ci)\/[\w./-]+)`/g)].map(([, file = '']) => file)
    assert.ok(files.length > 4, `saw ${files.length}`)
    await Promise.all(files.map((file) => access(file)))
  })
})
